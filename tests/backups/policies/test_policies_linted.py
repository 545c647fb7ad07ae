"""The policies of a plan are policies to linters of IAM, and its Terraform text is Terraform to a parser."""

import json

import pytest

from backups.policies.documents import as_terraform, policy_documents
from tests.backups.policies.plans import names
from tests.policy_lint import policy_errors

KEY = "arn:aws:kms:eu-west-1:222222222222:key/1"
PLANS = (names(source_key=KEY, destination_key=KEY), names(), names(uses_batch=False))


@pytest.mark.slow
def test_linters_find_nothing_wrong_with_any_policy_of_a_plan():
    found = [(one.kind, one.document) for plan in PLANS for one in policy_documents(plan)]

    assert {kind for kind, _ in found} == {"trust", "role", "identity", "bucket", "key"}
    assert policy_errors(found) == []


@pytest.mark.parametrize("policy", policy_documents(PLANS[0]), ids=lambda one: one.code)
def test_a_parser_of_terraform_finds_one_resource_with_the_policy(policy):
    import hcl2

    ((kind, body),) = hcl2.loads(as_terraform(policy))["resource"][0].items()

    assert json.loads(kind).startswith("aws_")
    assert any("jsonencode(" in str(value) for one in body.values() for value in one.values())
