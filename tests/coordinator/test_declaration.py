"""What `levee apply` takes, refuses and stores."""

import re

import pytest

from coordinator.models import CommitStore, Watch
from dashboard.connections.models import Connection
from dashboard.declaration.declaring import store
from dashboard.declaration.differences import difference, read_declaration
from dashboard.declaration.reading import DeclarationError

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("constraints")]


def document(**sections):
    return {"connections": {"prod": {"region": "us-west-2"}}, **sections}


WATCH = {"connection": "prod", "uri": "s3a://lake/warehouse"}
STORE = {"connection": "prod", "name": "delta_log", "kind": "log_store"}


def test_declaring_stores_connections_watches_and_stores():
    store(read_declaration(document(watch=[WATCH], stores=[STORE])))

    assert Connection.objects.get().region == "us-west-2"
    assert Watch.objects.get().uri == "s3a://lake/warehouse/"
    assert CommitStore.objects.get().kind == "log_store"


def test_declaring_twice_changes_nothing_the_second_time():
    declaration = read_declaration(document(watch=[WATCH], stores=[STORE]))
    store(declaration)

    assert difference(declaration).changes == ()
    assert store(declaration).changes == ()


def test_a_connection_can_be_declared_read_only():
    store(read_declaration({"connections": {"prod": {"region": "us-west-2", "read_only": True}}}))

    assert Connection.objects.get().read_only


@pytest.mark.parametrize("value", ["yes", 1, 0, []])
def test_read_only_is_true_or_false(value):
    with pytest.raises(DeclarationError, match="write true or false"):
        read_declaration({"connections": {"prod": {"region": "us-west-2", "read_only": value}}})


def test_a_difference_names_what_was_and_what_will_be():
    store(read_declaration(document()))
    moved = read_declaration({"connections": {"prod": {"region": "eu-west-1"}}})

    assert str(difference(moved).changes[0]) == "change connection prod: region 'us-west-2' becomes 'eu-west-1'"


def test_an_uri_in_any_spelling_is_one_watch():
    store(read_declaration(document(watch=[WATCH])))
    again = read_declaration(document(watch=[WATCH | {"uri": "s3://lake/warehouse/"}]))

    assert difference(again).changes == ()


def test_what_the_file_does_not_name_stays():
    store(read_declaration(document(watch=[WATCH], stores=[STORE])))
    store(read_declaration({}))

    assert (Connection.objects.count(), Watch.objects.count(), CommitStore.objects.count()) == (1, 1, 1)


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        ({"connections": {"prod": {"regoin": "us-west-2"}}}, "connections.prod has an unknown key 'regoin'"),
        ({"connections": {"prod": {}}}, "connections.prod.region is missing"),
        ({"connections": {"prod": {"region": "mars"}}}, "connections.prod.region: 'mars' is not a region"),
        ({"connections": {"prod": {"region": 7}}}, "connections.prod.region is a whole number: write a text"),
        ({"connections": {"a b": {"region": "us-west-2"}}}, "connections.a b: a name is"),
        ({"connections": []}, "connections is no table"),
        ({"watch": {}}, "watch is a table: write [[watch]]"),
        ({"watch": [{"connection": "prod"}]}, "watch[0].uri is missing"),
        ({"watch": [WATCH | {"uri": "hdfs://lake/x"}]}, "watch[0].uri: 'hdfs://lake/x' has the scheme"),
        ({"watch": [WATCH | {"connection": "nowhere"}]}, "watch[0].connection names 'nowhere', which is not declared"),
        ({"stores": [STORE | {"kind": "zookeeper"}]}, "stores[0].kind: 'zookeeper' is not one of log_store"),
        ({"stores": [STORE | {"name": "x"}]}, "stores[0].name: 'x' is not a DynamoDB table name"),
        ({"stores": [STORE, STORE | {"ttl": True}]}, "stores[1] has an unknown key 'ttl'"),
    ],
)
def test_a_mistake_is_refused_with_its_exact_place(sections, sentence):
    with pytest.raises(DeclarationError, match="^" + re.escape(sentence)):
        read_declaration(document() | sections)


def test_an_endpoint_that_the_deployment_does_not_list_is_refused():
    connection = {"region": "us-west-2", "endpoint_url": "http://169.254.169.254"}

    with pytest.raises(DeclarationError, match="LEVEE_ALLOWED_ENDPOINTS"):
        read_declaration({"connections": {"prod": connection}})


def test_a_listed_endpoint_is_taken(settings):
    settings.ALLOWED_ENDPOINTS = ["http://127.0.0.1:5000"]
    connection = {"region": "us-west-2", "endpoint_url": "http://127.0.0.1:5000"}

    assert (
        read_declaration({"connections": {"prod": connection}})["connections"][0].values["endpoint_url"]
        == connection["endpoint_url"]
    )


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        ({"external_id": "a\0b"}, "connections.prod.external_id holds a NUL character"),
        ({"external_id": "a" * 300}, "connections.prod.external_id has 300 characters: write at most 256"),
        ({"region": f"us-{'a' * 300}-2"}, "connections.prod.region: 'us-aaa"),
        ({"role_arn": f"arn:aws-{'a' * 300}:iam::123456789012:role/x"}, "connections.prod.role_arn has 333 characters"),
    ],
)
def test_a_connection_that_no_row_can_hold_is_refused(sections, sentence):
    with pytest.raises(DeclarationError, match="^" + re.escape(sentence)):
        read_declaration({"connections": {"prod": {"region": "us-west-2"} | sections}})


@pytest.mark.parametrize(
    ("uri", "sentence"),
    [
        ("s3a://lake/" + "k" * 1_020, "watch[0].uri: it has 1,032 characters: write at most 1,024."),
        ("s3a://" + "b" * 64 + "/x", "watch[0].uri: a bucket's name has at most 63 characters."),
        ("s3a://lake/a\0b", "watch[0].uri holds a NUL character"),
    ],
)
def test_a_prefix_that_no_row_can_hold_is_refused(uri, sentence):
    with pytest.raises(DeclarationError, match="^" + re.escape(sentence)):
        read_declaration(document(watch=[WATCH | {"uri": uri}]))


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        (
            {"watch": [WATCH, WATCH | {"uri": "s3://lake/warehouse/"}]},
            "watch[1] declares the same prefix as watch[0].",
        ),
        (
            {"stores": [STORE, STORE | {"kind": "commit_coordinator"}]},
            "stores[1] declares the same commit store as stores[0].",
        ),
    ],
)
def test_one_thing_declared_twice_is_refused(sections, sentence):
    with pytest.raises(DeclarationError, match="^" + re.escape(sentence)):
        read_declaration(document(**sections))
