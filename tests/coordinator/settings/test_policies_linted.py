"""The policies that Levee shows for its features are policies to linters of IAM, too."""

from dataclasses import replace

import pytest

from coordinator.settings.iam_features import feature_policies
from tests.coordinator.settings.test_permissions import NAMES
from tests.policy_lint import policy_errors


@pytest.mark.slow
def test_linters_find_nothing_wrong_with_the_policy_of_any_feature():
    several = [NAMES, replace(NAMES, account="*"), replace(NAMES, region="eu-central-1", prefixes=())]

    assert policy_errors(("identity", one.document) for names in several for one in feature_policies(names)) == []


STATEMENT = {
    "Effect": "Allow",
    "Action": ["dynamodb:GetItem"],
    "Resource": ["arn:aws:dynamodb:eu-west-1:111122223333:table/t"],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"Action": ["dynamodb:GetItems"]}, "W3037: 'getitems' is not one of"),
        ({"Resource": ["arn:aws:s3:::lake/*"]}, "I3510: action 'dynamodb:GetItem' requires a resource of"),
        ({"Effect": "Permit"}, "'Permit' is not one of"),
        ({"Resources": ["*"]}, "Additional properties are not allowed"),
        ({"Condition": {"StringEquals": {"s3:prefix": "a"}}}, "dynamodb:GetItem does not know it"),
        ({"Condition": {"StringEquals": {"aws:SourceAcount": "a"}}}, "dynamodb:GetItem does not know it"),
    ],
)
def test_they_would_find_what_is_wrong(change, error):
    document = {"Version": "2012-10-17", "Statement": [{**STATEMENT, **change}]}
    found = policy_errors([("identity", document)])

    assert any(error in one for one in found), found
