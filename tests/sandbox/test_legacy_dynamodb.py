"""What Delta's classes send, legacy parameters and another region, and what moto then keeps."""

from typing import Any

import pytest

from sandbox.client import Client, ClientError
from sandbox.legacy_dynamodb import translate
from tests.sandboxlake import sandbox_lake

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def client() -> Client:
    client = sandbox_lake()
    client.dynamodb(
        "CreateTable",
        TableName="t",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
    )
    return client


def stored(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.dynamodb("GetItem", TableName="t", Key={"id": {"S": "t"}}, ConsistentRead=True)
    return found["Item"]


def test_values_keep_their_types_lists_grow_and_conditions_hold(client: Client) -> None:
    put = {"TableName": "t", "Item": {"id": {"S": "t"}, "n": {"N": "1"}}, "Expected": {"id": {"Exists": False}}}
    client.dynamodb("PutItem", **put)
    with pytest.raises(ClientError, match="ConditionalCheckFailedException"):
        client.dynamodb("PutItem", **put)
    for number in ("1", "2"):
        updates = {"yes": {"Value": {"BOOL": True}}, "l": {"Action": "ADD", "Value": {"L": [{"N": number}]}}}
        client.dynamodb(
            "UpdateItem",
            TableName="t",
            Key={"id": {"S": "t"}},
            AttributeUpdates=updates,
            Expected={"n": {"Value": {"N": "1"}}, "none": {"Exists": False}},
        )
    assert stored(client) == {**put["Item"], "yes": {"BOOL": True}, "l": {"L": [{"N": "1"}, {"N": "2"}]}}
    with pytest.raises(ClientError, match="ConditionalCheckFailedException"):
        client.dynamodb("DeleteItem", TableName="t", Key={"id": {"S": "t"}}, Expected={"n": {"Value": {"N": "2"}}})
    assert stored(client)["n"] == {"N": "1"}


def test_a_request_signed_for_the_sdks_fallback_region_reaches_the_same_tables(client: Client) -> None:
    fallback = Client(client.origin, region="us-east-1")
    assert fallback.dynamodb("DescribeTable", TableName="t")["Table"]["TableName"] == "t"


def test_a_request_with_expressions_passes_unchanged() -> None:
    body = {"TableName": "t", "UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"N": "1"}}}
    assert translate(dict(body)) == body


@pytest.mark.parametrize(
    "body",
    [
        {"AttributeUpdates": {"a": {"Action": "DELETE"}}},
        {"Expected": {"a": {"ComparisonOperator": "GT", "Value": {"N": "1"}}}},
    ],
)
def test_what_is_not_played_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is known for"):
        translate(body)
