"""What `levee apply` takes, refuses and stores."""

import re

import pytest

from dashboard.declaration.declaring import difference, store
from dashboard.declaration.differences import read_declaration
from dashboard.declaration.reading import DeclarationError

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("constraints")]


def document(**sections):
    return {"connections": {"prod": {"region": "us-west-2"}}, **sections}


WATCH = {"connection": "prod", "uri": "s3a://lake/warehouse"}
STORE = {"connection": "prod", "name": "delta_log", "kind": "log_store"}


def test_a_difference_names_what_was_and_what_will_be():
    store(read_declaration(document()))
    moved = read_declaration({"connections": {"prod": {"region": "eu-west-1"}}})

    assert str(difference(moved).changes[0]) == "change connection prod: region 'us-west-2' becomes 'eu-west-1'"


def test_an_uri_in_any_spelling_is_one_watch():
    store(read_declaration(document(watch=[WATCH])))
    again = read_declaration(document(watch=[WATCH | {"uri": "s3://lake/warehouse/"}]))

    assert difference(again).changes == ()


def of_prod(**values):
    return {"connections": {"prod": {"region": "us-west-2"} | values}}


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        ({"connections": {"prod": {"regoin": "us-west-2"}}}, "connections.prod has an unknown key 'regoin'"),
        ({"connections": {"prod": {}}}, "connections.prod.region is missing"),
        ({"connections": {"a b": {"region": "us-west-2"}}}, "connections.a b: a name is"),
        ({"connections": []}, "connections is no table"),
        (of_prod(region="mars"), "connections.prod.region: 'mars' is not a region"),
        (of_prod(region=7), "connections.prod.region is a whole number: write a text"),
        (of_prod(region=f"us-{'a' * 300}-2"), "connections.prod.region: 'us-aaa"),
        (of_prod(read_only=1), "connections.prod.read_only is a whole number: write true or false"),
        (of_prod(external_id="a\0b"), "connections.prod.external_id holds a NUL character"),
        (of_prod(external_id="a" * 300), "connections.prod.external_id has 300 characters: write at most 256"),
        (of_prod(role_arn=f"arn:aws-{'a' * 300}:iam::1:role/x"), "connections.prod.role_arn has 322 characters"),
        ({"watch": {}}, "watch is a table: write [[watch]]"),
        ({"watch": [{"connection": "prod"}]}, "watch[0].uri is missing"),
        ({"watch": [WATCH | {"uri": "hdfs://lake/x"}]}, "watch[0].uri: 'hdfs://lake/x' has the scheme"),
        ({"watch": [WATCH | {"connection": "nowhere"}]}, "watch[0].connection names 'nowhere', which is not declared"),
        ({"watch": [WATCH | {"uri": "s3a://lake/" + "k" * 1_020}]}, "watch[0].uri: it has 1,032 characters: write at"),
        ({"watch": [WATCH | {"uri": f"s3a://{'b' * 64}/x"}]}, "watch[0].uri: a bucket's name has at most 63"),
        ({"watch": [WATCH | {"uri": "s3a://lake/a\0b"}]}, "watch[0].uri holds a NUL character"),
        ({"watch": [WATCH, WATCH | {"uri": "s3://lake/warehouse/"}]}, "watch[1] declares the same prefix as watch[0]."),
        ({"stores": [STORE | {"kind": "zookeeper"}]}, "stores[0].kind: 'zookeeper' is not one of log_store"),
        ({"stores": [STORE | {"name": "x"}]}, "stores[0].name: 'x' is not a DynamoDB table name"),
        ({"stores": [STORE, STORE | {"ttl": True}]}, "stores[1] has an unknown key 'ttl'"),
        ({"stores": [STORE, STORE]}, "stores[1] declares the same commit store as stores[0]."),
    ],
)
def test_a_mistake_is_refused_with_its_exact_place(sections, sentence):
    with pytest.raises(DeclarationError, match="^" + re.escape(sentence)):
        read_declaration(document() | sections)


def test_an_endpoint_is_taken_where_the_deployment_lists_it(settings):
    declared = of_prod(endpoint_url="http://127.0.0.1:5000")
    with pytest.raises(DeclarationError, match="LEVEE_ALLOWED_ENDPOINTS"):
        read_declaration(declared)

    settings.ALLOWED_ENDPOINTS = ["http://127.0.0.1:5000"]
    assert read_declaration(declared)["connections"][0].values["endpoint_url"] == "http://127.0.0.1:5000"
