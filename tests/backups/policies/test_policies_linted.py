"""The policies of a plan are policies to linters of IAM."""

import pytest

from backups.policies.documents import policy_documents
from tests.backups.policies.plans import names
from tests.policy_lint import policy_errors

KEY = "arn:aws:kms:eu-west-1:222222222222:key/1"
PLANS = (names(source_key=KEY, destination_key=KEY), names(), names(uses_batch=False))


@pytest.mark.slow
def test_linters_find_nothing_wrong_with_any_policy_of_a_plan():
    found = [(one.kind, one.document) for plan in PLANS for one in policy_documents(plan)]

    assert {kind for kind, _ in found} == {"trust", "role", "identity", "bucket", "key"}
    assert policy_errors(found) == []
