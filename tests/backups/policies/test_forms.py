"""A policy as JSON and CLI: each carries the same document, hostile names included."""

import json
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
    commands = [shlex.split(line) for line in policy.cli.replace("\\\n", " ").splitlines()]
    assert all(words[0] == "aws" for words in commands)
    assert json.loads(commands[-1][-1]) == policy.document


def test_a_real_shell_runs_nothing_of_a_name():
    [policy] = [one for one in ALL if one.code == "source-bucket"]
    script = policy.cli.replace("aws s3api get-bucket-policy", ":").replace("aws s3api", "printf '%s\\n'")
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert json.loads(said.splitlines()[-1]) == policy.document
