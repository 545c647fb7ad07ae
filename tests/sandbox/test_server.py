from datetime import UTC, datetime

import pytest
import urllib3

from sandbox.client import Client, authorization
from tests.sandboxlake import sandbox_lake

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def client() -> Client:
    client = sandbox_lake()
    client.create_bucket("lake")
    return client


def test_an_object_can_be_dated_back(client: Client) -> None:
    moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
    client.put("lake", "old file", b"", modified_at=moment.timestamp())
    signed = {"Authorization": authorization("us-west-2", "s3")}
    answer = urllib3.request("HEAD", f"{client.origin}/lake/old%20file", headers=signed)
    assert answer.headers["Last-Modified"] == "Sun, 01 Mar 2026 12:00:00 GMT"


def test_a_request_signed_for_the_sdks_fallback_region_reaches_the_same_tables(client: Client) -> None:
    Client(client.origin, region="us-east-1").dynamodb(
        "CreateTable",
        TableName="from_java",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
    )
    assert "from_java" in client.dynamodb("ListTables")["TableNames"]
