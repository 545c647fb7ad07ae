"""A command in a LEVEE_HOME where nothing has ever run."""

import json
import subprocess
import sys

import pytest

from tests.waiting import scaled

pytestmark = pytest.mark.process


def levee(home, *words):
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        env={"LEVEE_HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=scaled(60),
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_first_command_makes_the_tables_it_needs(tmp_path):
    code, printed, complaint = levee(tmp_path, "tables", "--json")

    assert (code, json.loads(printed), complaint) == (0, [], "")


@pytest.mark.slow
def test_two_first_commands_at_once_both_succeed(tmp_path):
    running = [
        subprocess.Popen(
            [sys.executable, "manage.py", "tables"],
            env={"LEVEE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]

    assert [(process.communicate(timeout=scaled(60))[1], process.returncode) for process in running] == [
        (b"", 0),
        (b"", 0),
    ]
