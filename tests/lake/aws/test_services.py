"""STS, IAM and CloudWatch: who asks, what they may, how much a table was used."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError
from moto.core.botocore_stubber import MockRawResponse

from lake.aws import services
from lake.aws.errors import AwsError
from lake.aws.identity import Identity, caller, simulate
from lake.aws.store_description import read_load
from tests.lake.aws.conftest import KEYS, quick
from tests.lake.aws.stub import Reply

DECISIONS = """<SimulatePrincipalPolicyResponse><SimulatePrincipalPolicyResult><IsTruncated>false</IsTruncated>
<EvaluationResults><member><EvalActionName>s3:PutObject</EvalActionName><EvalDecision>allowed</EvalDecision></member>
<member><EvalActionName>dynamodb:UpdateTable</EvalActionName><EvalDecision>implicitDeny</EvalDecision></member>
</EvaluationResults></SimulatePrincipalPolicyResult></SimulatePrincipalPolicyResponse>"""


def test_the_caller_is_known_by_account_and_arn(lake):
    found = caller(lake.services)

    assert found.account == "123456789012"
    assert found.arn.startswith("arn:aws:")


@pytest.mark.parametrize(
    ("arn", "principal"),
    [
        ("arn:aws:sts::111122223333:assumed-role/levee/levee", "arn:aws:iam::111122223333:role/levee"),
        ("arn:aws-cn:sts::111122223333:assumed-role/levee/i-1", "arn:aws-cn:iam::111122223333:role/levee"),
        ("arn:aws:iam::111122223333:user/anna", "arn:aws:iam::111122223333:user/anna"),
    ],
)
def test_a_session_stands_for_its_role(arn, principal):
    assert Identity("111122223333", arn).principal == principal


def test_what_the_machine_has_configured_leads_nobody_elsewhere(stub, stub_lake, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    stub.play(Reply(200, DECISIONS.encode()))

    assert simulate(stub_lake.services, "arn:aws:iam::1:user/a", ["s3:PutObject"], "arn:x")
    assert (
        services._client("sts", "eu-west-1", "", "k", "s", None).meta.endpoint_url
        == "https://sts.eu-west-1.amazonaws.com"
    )


def test_a_proxy_that_is_down_is_no_wrong_configuration(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setattr(services, "_CONFIG", services._CONFIG.merge(Config(retries={"max_attempts": 0})))
    services._client.cache_clear()

    with quick("") as lake, pytest.raises(AwsError) as raised:
        caller(lake.services)

    assert raised.value.code == "ConnectionFailed"


def test_iams_decisions_come_by_action(stub, stub_lake):
    stub.play(Reply(200, DECISIONS.encode()))

    found = simulate(stub_lake.services, "arn:aws:iam::1:user/a", ["s3:PutObject", "dynamodb:UpdateTable"], "arn:x")

    assert found == {"s3:PutObject": "allowed", "dynamodb:UpdateTable": "implicitDeny"}
    assert b"ActionNames.member.2=dynamodb%3AUpdateTable" in stub.heard[0].body


def test_a_denied_question_names_its_permission(stub, stub_lake):
    stub.play(Reply(403, b"<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>"))

    with pytest.raises(AwsError, match="the permission iam:SimulatePrincipalPolicy is missing"):
        simulate(stub_lake.services, "arn:aws:iam::1:user/a", ["s3:PutObject"], "arn:x")


@pytest.mark.parametrize("body", [b"{}", b"<a><EvaluationResults/></a>"])
def test_an_answer_that_cannot_be_read_is_malformed(stub, stub_lake, body):
    stub.play(Reply(200, body))

    with pytest.raises(AwsError) as caught:
        simulate(stub_lake.services, "arn:aws:iam::1:user/a", ["s3:PutObject"], "arn:x")
    assert caught.value.code == "MalformedAnswer"


def test_throttles_and_peaks_are_counted(lake, endpoint, log_store):
    cloudwatch = boto3.client("cloudwatch", endpoint_url=endpoint, **KEYS)
    at = datetime.now(UTC) - timedelta(hours=1)

    def put(metric: str, *values: float) -> None:
        dimensions = [{"Name": "TableName", "Value": log_store}]
        for value in values:
            point = {"MetricName": metric, "Dimensions": dimensions, "Timestamp": at, "Value": value}
            cloudwatch.put_metric_data(Namespace="AWS/DynamoDB", MetricData=[point])

    put("WriteThrottleEvents", 7, 5)
    put("ConsumedWriteCapacityUnits", 600, 900)

    load = read_load(lake.services, log_store, at - timedelta(hours=2), at + timedelta(hours=2))

    assert (load.read_throttles, load.write_throttles) == (0, 12)
    assert (load.peak_reads, load.peak_writes) == (0.0, 5.0)


@pytest.mark.parametrize(
    ("endpoint", "host"),
    [("", "111122223333.s3-control.us-west-2.amazonaws.com"), ("http://127.0.0.1:9", "127.0.0.1:9")],
)
def test_the_accounts_number_stands_before_the_host_of_aws_alone(endpoint, host):
    sent = []
    client = services._client("s3control", "us-west-2", endpoint, "key", "secret", None)

    def answer(request, **_):
        sent.append(urlsplit(request.url).netloc)
        return AWSResponse(request.url, 404, {}, MockRawResponse(b""))

    client.meta.events.register("before-send", answer)
    with suppress(ClientError):
        client.list_jobs(AccountId="111122223333")
    assert sent == [host]
