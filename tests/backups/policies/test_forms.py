"""A policy as JSON and CLI: each carries the same document, hostile names included."""

import json
import re
import shlex
import subprocess

import pytest

from backups.policies.documents import policy_documents
from lake.backup.objects import BucketPrefix
from tests.backups.policies.plans import names

KEY = "arn:aws:kms:eu-west-1:222222222222:key/1"
HOSTILE = names(
    source=BucketPrefix("lake", 'it\'s "a" $(touch x) ${path}/%{if}/ü\\/'), source_key=KEY, destination_key=KEY
)
ALL = policy_documents(HOSTILE)
SAME = pytest.mark.parametrize("policy", ALL, ids=[one.code for one in ALL])


@SAME
def test_json_is_the_document(policy):
    assert json.loads(policy.json) == policy.document


@SAME
def test_a_shell_takes_the_commands_as_they_are_meant(policy):
    lines = policy.cli.replace("\\\n", " ").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    commands = [shlex.split(line) for line in lines if line not in comments]
    assert all(words[0] == "aws" for words in commands)
    if policy.kind in ("bucket", "key"):  # what is there stays
        assert commands[-1][-1] == "file://policy.json"
        added = "".join(line.removeprefix("#") for line in comments[2:])
        assert json.loads(f"[{added}]") == policy.document["Statement"]
    else:
        assert json.loads(commands[-1][-1]) == policy.document


@SAME
def test_a_real_shell_runs_nothing_of_a_name(policy, tmp_path):
    script = re.sub("^aws ", "printf '%s\\\\n' ", policy.cli, flags=re.MULTILINE)
    subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, check=True)
    assert {one.name for one in tmp_path.iterdir()} <= {"policy.json"}
