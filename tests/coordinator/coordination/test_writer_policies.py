"""The least policies of writers and readers, as pages and `levee commits policy` give them."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from coordinator.models import CommitStore, DeltaTable
from dashboard.accounts.roles import Role
from dashboard.commands import Failed
from tests.builders.delta import coordinator_properties
from tests.builders.lake import make_bucket, make_store, make_table
from tests.builders.people import signed_in
from tests.iam.evaluating import Asked, actions_of, allows
from tests.json_types import printed, said

pytestmark = pytest.mark.django_db

ACCOUNT = "111122223333"
KEY = f"arn:aws:kms:eu-west-1:{ACCOUNT}:key/lake"
OWN = {"aws:ResourceAccount": ACCOUNT, "aws:PrincipalAccount": ACCOUNT}


def policy(*words: str) -> Any:
    return printed("commits", "policy", *words)


def encrypted(**fields: Any) -> DeltaTable:
    """A table of a log store, whose bucket and store have keys of their own."""
    table = make_table(store=store_in_account(), **fields)
    make_bucket(connection=table.connection, facts={"region": "eu-west-1", "encryption_key": KEY})
    return table


def store_in_account(name: str = "delta_log", **fields: Any) -> CommitStore:
    facts = {"arn": f"arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/{name}", "encryption": KEY.replace("lake", "store")}
    return make_store(name, facts=facts, **fields)


def used(key: str, action: str, service: str) -> Asked:
    return Asked(f"kms:{action}", KEY.replace("lake", key), {"kms:ViaService": f"{service}.eu-west-1.amazonaws.com"})


def test_a_table_is_named_with_its_objects_and_its_own_entries() -> None:
    table = encrypted()

    document = policy(table.uri)

    told = json.dumps(document["policy"])
    assert (document["mechanism"], document["role"], document["engine"]) == ("log_store", "writer", "spark")
    assert "arn:aws:s3:::lake/sales/orders/*" in told
    assert f"arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/delta_log" in told
    assert '"dynamodb:LeadingKeys": "s3a://lake/sales/orders"' in told


def test_keys_may_be_used_by_way_of_the_service_that_encrypts_alone() -> None:
    table = encrypted()
    writer, reader = (policy(table.uri, "--role", role)["policy"] for role in ("writer", "reader"))

    both = (used("lake", "Decrypt", "s3"), used("store", "Decrypt", "dynamodb"))
    assert all(allows(one, each) for one in (writer, reader) for each in both)
    assert allows(writer, used("lake", "GenerateDataKey", "s3"))
    assert not allows(reader, used("lake", "GenerateDataKey", "s3"))
    assert not allows(writer, used("lake", "Decrypt", "dynamodb"))
    assert not allows(writer, Asked("kms:Decrypt", KEY))


def test_an_encryption_that_was_not_read_is_said() -> None:
    table = make_table(store=make_store())
    make_bucket(connection=table.connection, facts={"region": "eu-west-1"})
    assert any("was not read" in note for note in policy(table.uri)["notes"])

    DeltaTable.objects.get().connection.buckets.update(facts={"region": "eu-west-1", "encryption_key": ""})
    assert not any("encryption" in note for note in policy(table.uri)["notes"])


def test_a_coordinated_table_is_reached_by_the_id_of_its_registration() -> None:
    store = store_in_account("commits", kind="commit_coordinator")
    properties = coordinator_properties("commits", "https://dynamodb.eu-west-1.amazonaws.com", "the-id")
    table = make_table(store=store, mechanism="coordinated_commits", properties=properties)

    document = policy(table.uri)["policy"]

    item = f"arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/commits"
    mine, other = ({**OWN, "dynamodb:LeadingKeys": (one,)} for one in ("the-id", "another"))
    assert allows(document, Asked("dynamodb:UpdateItem", item, mine))
    assert not allows(document, Asked("dynamodb:UpdateItem", item, other))
    assert "dynamodb:PutItem" not in actions_of(document)


def test_a_store_is_for_the_folder_that_holds_all_its_tables() -> None:
    store = store_in_account()
    for name in ("orders", "returns/late"):
        make_table(f"s3a://lake/sales/{name}", store=store, connection=store.connection)

    told = json.dumps(policy("--store", "delta_log")["policy"])
    assert "arn:aws:s3:::lake/sales/*" in told
    assert '"dynamodb:LeadingKeys": "s3a://lake/sales/*"' in told

    assert "arn:aws:s3:::other/here/*" in json.dumps(policy("s3a://other/here", "--store", "delta_log")["policy"])


def test_tables_of_a_store_that_its_policy_does_not_reach_are_named() -> None:
    store = store_in_account()
    for uri in ("s3a://lake/sales/orders", "s3a://other/returns", "s3://lake/sales/refunds"):
        make_table(uri, store=store, connection=store.connection)

    notes = " ".join(policy("--store", "delta_log")["notes"])

    assert "not reached: s3://lake/sales/refunds, s3a://other/returns." in notes


def test_a_store_without_tables_gives_words_to_replace_and_says_so() -> None:
    make_store()
    document = policy("--store", "delta_log")
    assert "arn:aws:s3:::BUCKET/PREFIX/*" in json.dumps(document["policy"])
    assert any("put bucket and prefix in" in note for note in document["notes"])


def test_delta_rs_has_no_policy_for_writing_coordinated_tables() -> None:
    table = make_table(mechanism="coordinated_commits")

    with pytest.raises(Failed, match="delta-rs cannot write coordinated tables"):
        policy(table.uri, "--engine", "delta-rs")

    reader = policy(table.uri, "--engine", "delta-rs", "--role", "reader")
    assert not any(one.startswith("dynamodb:") for one in actions_of(reader["policy"]))


@pytest.mark.parametrize("name", ["orders", "or'ders", "ümlaut", "${aws:username}", "a*b?", 'q"uote'])
def test_text_and_json_say_the_same_whatever_a_table_is_called(name: str) -> None:
    table = encrypted(uri=f"s3a://lake/sales/{name}")
    document = policy(table.uri)

    assert json.loads(said("commits", "policy", table.uri)) == document["policy"]
    assert re.fullmatch(r"[\w+=,.@-]{1,128}", document["name"], re.ASCII)


@pytest.mark.parametrize("mechanism", ["single_driver", "log_store", "coordinated_commits"])
def test_the_pages_of_writers_show_every_policy(mechanism: str) -> None:
    client: Client = signed_in(Role.VIEWER)
    table = encrypted()

    for address in (f"/tables/{table.pk}/writers/", f"/stores/{table.store_id}/writers/"):
        html = client.get(f"{address}?mechanism={mechanism}").content.decode()
        for who in ("A writer with Spark", "A reader with Spark", "A writer with delta-rs", "A reader with delta-rs"):
            assert who in html
        assert "levee commits policy" in html
