"""Each form of the legacy parameters, and what moto then keeps."""

from typing import Any

import pytest

from sandbox.client import Client, ClientError
from sandbox.legacy_dynamodb import translate
from tests.sandboxlake import sandbox_lake

pytestmark = pytest.mark.process

KEY = {"id": {"S": "t"}}


def update(attribute: str, **change: Any) -> dict[str, Any]:
    return translate({"TableName": "t", "Key": KEY, "AttributeUpdates": {attribute: change}})


def condition(**expected: Any) -> tuple[str, dict[str, Any]]:
    body = translate({"TableName": "t", "Item": KEY, "Expected": {"version": expected}})
    return body["ConditionExpression"], body.get("ExpressionAttributeValues", {})


def test_a_request_with_expressions_passes_unchanged() -> None:
    body = {"TableName": "t", "UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"N": "1"}}}
    assert translate(body) == body


def test_empty_legacy_parameters_are_left_out() -> None:
    assert translate({"TableName": "t", "Expected": {}, "ConditionalOperator": "AND"}) == {"TableName": "t"}


@pytest.mark.parametrize(
    ("change", "expression"),
    [
        ({"Value": {"BOOL": True}}, "SET #legacy0 = :legacy1"),
        ({"Action": "PUT", "Value": {"N": "4"}}, "SET #legacy0 = :legacy1"),
        ({"Action": "DELETE"}, "REMOVE #legacy0"),
        ({"Action": "DELETE", "Value": {"SS": ["a"]}}, "DELETE #legacy0 :legacy1"),
        ({"Action": "ADD", "Value": {"N": "1"}}, "ADD #legacy0 :legacy1"),
        ({"Action": "ADD", "Value": {"NS": ["1"]}}, "ADD #legacy0 :legacy1"),
        (
            {"Action": "ADD", "Value": {"L": [{"N": "1"}]}},
            "SET #legacy0 = list_append(if_not_exists(#legacy0, :legacy1), :legacy2)",
        ),
    ],
)
def test_an_attribute_update_becomes_an_expression(change: dict[str, Any], expression: str) -> None:
    body = update("commits", **change)
    assert body["UpdateExpression"] == expression
    assert body["ExpressionAttributeNames"] == {"#legacy0": "commits"}
    assert "AttributeUpdates" not in body


def test_updates_of_one_kind_share_a_clause() -> None:
    changes = {"a": {"Value": {"N": "1"}}, "b": {"Action": "DELETE"}, "c": {"Value": {"N": "2"}}}
    body = translate({"TableName": "t", "Key": KEY, "AttributeUpdates": changes})
    assert body["UpdateExpression"] == "SET #legacy0 = :legacy1, #legacy3 = :legacy4 REMOVE #legacy2"


@pytest.mark.parametrize("change", [{"Action": "PUT"}, {"Action": "ADD", "Value": {"S": "x"}}, {"Action": "MERGE"}])
def test_an_update_that_dynamodb_refuses_is_not_invented(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="commits"):
        update("commits", **change)


@pytest.mark.parametrize(
    ("expected", "expression"),
    [
        ({"Exists": False}, "attribute_not_exists(#legacy0)"),
        ({"Exists": True, "Value": {"N": "1"}}, "#legacy0 = :legacy1"),
        ({"Value": {"BOOL": True}}, "#legacy0 = :legacy1"),
        ({"ComparisonOperator": "NULL"}, "attribute_not_exists(#legacy0)"),
        ({"ComparisonOperator": "NOT_NULL"}, "attribute_exists(#legacy0)"),
        ({"ComparisonOperator": "EQ", "AttributeValueList": [{"N": "1"}]}, "#legacy0 = :legacy1"),
        ({"ComparisonOperator": "NE", "Value": {"N": "1"}}, "#legacy0 <> :legacy1"),
        ({"ComparisonOperator": "LE", "AttributeValueList": [{"N": "1"}]}, "#legacy0 <= :legacy1"),
        ({"ComparisonOperator": "LT", "AttributeValueList": [{"N": "1"}]}, "#legacy0 < :legacy1"),
        ({"ComparisonOperator": "GE", "AttributeValueList": [{"N": "1"}]}, "#legacy0 >= :legacy1"),
        ({"ComparisonOperator": "GT", "AttributeValueList": [{"N": "1"}]}, "#legacy0 > :legacy1"),
        ({"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [{"S": "a"}]}, "begins_with(#legacy0, :legacy1)"),
        ({"ComparisonOperator": "CONTAINS", "AttributeValueList": [{"S": "a"}]}, "contains(#legacy0, :legacy1)"),
        (
            {"ComparisonOperator": "NOT_CONTAINS", "AttributeValueList": [{"S": "a"}]},
            "NOT contains(#legacy0, :legacy1)",
        ),
        (
            {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"N": "1"}, {"N": "3"}]},
            "#legacy0 BETWEEN :legacy1 AND :legacy2",
        ),
        (
            {"ComparisonOperator": "IN", "AttributeValueList": [{"N": "1"}, {"N": "3"}]},
            "#legacy0 IN (:legacy1, :legacy2)",
        ),
    ],
)
def test_an_expectation_becomes_a_condition(expected: dict[str, Any], expression: str) -> None:
    assert condition(**expected)[0] == expression


def test_values_keep_their_types() -> None:
    assert condition(Value={"BOOL": False})[1] == {":legacy1": {"BOOL": False}}


@pytest.mark.parametrize(("operator", "joined"), [(None, " AND "), ("AND", " AND "), ("OR", " OR ")])
def test_several_expectations_are_joined(operator: str | None, joined: str) -> None:
    body: dict[str, Any] = {"Expected": {"a": {"Exists": False}, "b": {"Value": {"N": "1"}}}}
    if operator:
        body["ConditionalOperator"] = operator
    assert translate(body)["ConditionExpression"] == f"attribute_not_exists(#legacy0){joined}#legacy1 = :legacy2"


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


def stored(client: Client, key: str) -> dict[str, Any]:
    answer = client.dynamodb("GetItem", TableName="t", Key={"id": {"S": key}}, ConsistentRead=True)
    return answer.get("Item", {})


def test_a_boolean_stays_a_boolean_in_moto(client: Client) -> None:
    key = {"id": {"S": "boolean"}}
    client.dynamodb("UpdateItem", TableName="t", Key=key, AttributeUpdates={"yes": {"Value": {"BOOL": True}}})
    assert stored(client, "boolean")["yes"] == {"BOOL": True}


def test_a_list_grows_in_moto(client: Client) -> None:
    for number in ("1", "2"):
        grown = {"commits": {"Action": "ADD", "Value": {"L": [{"N": number}]}}}
        client.dynamodb("UpdateItem", TableName="t", Key={"id": {"S": "list"}}, AttributeUpdates=grown)
    assert stored(client, "list")["commits"] == {"L": [{"N": "1"}, {"N": "2"}]}


def test_a_put_that_expects_nothing_has_one_winner(client: Client) -> None:
    put = {"TableName": "t", "Item": {"id": {"S": "put"}}, "Expected": {"id": {"Exists": False}}}
    client.dynamodb("PutItem", **put)
    with pytest.raises(ClientError, match="ConditionalCheckFailedException"):
        client.dynamodb("PutItem", **put)


def test_a_delete_with_an_unmet_expectation_deletes_nothing(client: Client) -> None:
    client.dynamodb("PutItem", TableName="t", Item={"id": {"S": "kept"}, "n": {"N": "1"}})
    with pytest.raises(ClientError, match="ConditionalCheckFailedException"):
        client.dynamodb("DeleteItem", TableName="t", Key={"id": {"S": "kept"}}, Expected={"n": {"Value": {"N": "2"}}})
    assert stored(client, "kept")["n"] == {"N": "1"}


def test_a_malformed_update_is_refused_by_the_server(client: Client) -> None:
    with pytest.raises(ClientError):
        client.dynamodb("UpdateItem", TableName="t", Key={"id": {"N": "1"}}, UpdateExpression="SET")
