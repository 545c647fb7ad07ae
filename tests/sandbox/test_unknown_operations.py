"""What the sandbox does not play is refused as such, and what follows from it is not known."""

import logging

import pytest

from lake.aws.access import Access, open_lake
from lake.aws.held_permissions import PermissionJudge
from sandbox.client import REGION, ClientError
from tests.sandboxlake import sandbox_lake

pytestmark = pytest.mark.process


def test_permissions_are_not_known_where_nobody_simulates_policies(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    access = Access(REGION, endpoint_url=sandbox_lake().origin, static_credentials=("key", "secret"))
    with open_lake(access) as lake:
        judge = PermissionJudge(lake.services)
        for action in ("s3:GetObject", "s3:PutObject"):
            [told] = judge.judge(judge.principal, [action], "arn:aws:s3:::lake/*").values()
            assert told.held == "unknown"
            assert told.reason == (
                "This endpoint does not simulate policies (iam:SimulatePrincipalPolicy: NotImplemented)."
            )
        assert lake.requests.total == 2
    assert [told.reason in line for line in caplog.messages] == [True]


def test_an_operation_of_dynamodb_that_is_not_played_has_a_code() -> None:
    with pytest.raises(ClientError, match=r"NotImplemented \(501\)"):
        sandbox_lake().dynamodb("ListContributorInsights")
