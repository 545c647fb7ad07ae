"""A policy as JSON, Terraform and CLI: each carries the same document, hostile names included."""

import json
import re
import shlex
import subprocess

import pytest

from backups.policies.documents import as_cli, as_json, as_terraform, merge_note, policy_documents
from lake.backup.objects import BucketPrefix
from tests.backups.policies.plans import NAMES, names

KEY = "arn:aws:kms:eu-west-1:222222222222:key/1"
HOSTILE = names(
    source=BucketPrefix("lake", 'it\'s "a" $(touch x) ${path}/%{if}/ü\\/'), source_key=KEY, destination_key=KEY
)
ALL = policy_documents(HOSTILE)
SAME = pytest.mark.parametrize("policy", ALL, ids=[one.code for one in ALL])


@SAME
def test_json_is_the_document(policy):
    assert json.loads(as_json(policy)) == policy.document


@SAME
def test_a_shell_takes_the_commands_as_they_are_meant(policy):
    commands = [shlex.split(line) for line in as_cli(policy).replace("\\\n", " ").splitlines()]
    assert all(words[0] == "aws" for words in commands)
    assert json.loads(commands[-1][-1]) == policy.document


def test_a_real_shell_runs_nothing_of_a_name():
    [policy] = [one for one in ALL if one.code == "source-bucket"]
    script = as_cli(policy).replace("aws s3api get-bucket-policy", ":").replace("aws s3api", "printf '%s\\n'")
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert json.loads(said.splitlines()[-1]) == policy.document


@SAME
def test_terraform_holds_the_document_and_begins_no_template(policy):
    text = as_terraform(policy)
    assert re.findall(r"(?<!\$)\$\{|(?<!%)%\{", text) == []
    body = text.partition("jsonencode(")[2].rpartition(")")[0]
    assert json.loads(_as_json(body)) == policy.document


def _as_json(hcl: str) -> str:
    """HCL as we write it, back in JSON: commas between members, colons after keys."""
    lines = [re.sub(r'^(\s*"(?:[^"\\]|\\.)*") = ', r"\1: ", line) for line in hcl.splitlines()]
    text = "\n".join(line if line.rstrip().endswith(("{", "[", ",")) else f"{line}," for line in lines)
    text = re.sub(r",(\s*[}\]])", r"\1", text).rstrip(",\n")
    return text.replace("$${", "${").replace("%%{", "%{")


@pytest.mark.parametrize(
    ("code", "resource"),
    [
        ("batch-trust", "aws_iam_role"),
        ("batch-role", "aws_iam_role_policy"),
        ("levee-vault", "aws_iam_policy"),
        ("source-bucket", "aws_s3_bucket_policy"),
        ("source-key", "aws_kms_key_policy"),
    ],
)
def test_each_kind_has_its_resource(code, resource):
    [policy] = [one for one in ALL if one.code == code]
    assert as_terraform(policy).startswith(f'resource "{resource}" "')


def test_what_would_replace_a_policy_says_so():
    notes = {one.code: merge_note(one) for one in policy_documents(names(source_key=KEY))}
    assert "add these statements" in notes["source-bucket"]
    assert "add this statement" in notes["source-key"]
    assert notes["batch-role"] == ""


def test_a_dated_bucket_says_that_each_date_needs_it():
    [policy] = [
        one for one in policy_documents(names(destination=BucketPrefix("v-{date}"))) if one.code == "destination-bucket"
    ]
    assert "each date" in merge_note(policy)
    assert merge_note(policy_documents(NAMES)[0]) == ""
