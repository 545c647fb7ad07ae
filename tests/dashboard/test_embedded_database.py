"""A command in a LEVEE_HOME where nothing has ever run."""

import json
import subprocess
import sys

import pytest

from tests.choosing import slowly
from tests.waiting import scaled

pytestmark = pytest.mark.process


@pytest.mark.parametrize("at_once", [1, slowly(2)])
def test_the_first_commands_make_the_tables_that_they_need(tmp_path, at_once):
    words = [sys.executable, "manage.py", "tables", "--json"]
    given = {"LEVEE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    pipe = subprocess.PIPE
    running = [subprocess.Popen(words, env=given, stdout=pipe, stderr=pipe, text=True) for _ in range(at_once)]

    for process in running:
        printed, complaint = process.communicate(timeout=scaled(60))
        assert (process.returncode, json.loads(printed), complaint) == (0, [], "")
