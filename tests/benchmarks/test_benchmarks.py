"""The benchmarks run at a tiny size and their contestants agree; those whose answers differ end them."""

import os
import subprocess
import sys

import pytest
from django.conf import settings

from benchmarks.harness import compete
from tests.jars_home import JARS_HOME
from tests.jvms import JVMS
from tests.waiting import scaled

TINY = {"ROUNDS": "1", "ROWS": "3000", "OBJECTS": "30", "TABLES": "3"}


def test_contestants_whose_results_differ_end_the_contest():
    with pytest.raises(AssertionError, match="the results differ"):
        compete({"one": lambda: 1, "other": lambda: 2})


def printed(name, home):
    """What a benchmark says, its inventories below `home`."""
    tiny = {f"LEVEE_BENCH_{setting}": number for setting, number in (TINY | {"DATA": str(home)}).items()}
    words = [sys.executable, "-m", "benchmarks", name]
    done = subprocess.run(
        words,
        cwd=settings.BASE_DIR,
        env={**os.environ, **tiny, "LEVEE_HOME": str(JARS_HOME)},
        capture_output=True,
        text=True,
        timeout=scaled(120),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.process
def test_the_benchmark_of_observation_runs_and_its_contestants_agree(tmp_path):
    assert "target at most" in printed("observation", tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("name", ["backup_copy", "backup_reconcile", "backup_plan"])
def test_a_benchmark_of_backups_runs_and_its_contestants_agree(name, tmp_path):
    with JVMS.room():
        assert "target at most" in printed(name, tmp_path)
