"""An item is put back by the exact command that is printed, and none is printed where something speaks against it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from changes.gate import PlanNeeded
from coordinator.models import CommitStore, DeltaTable
from coordinator.repairs.table_under_repair import TableUnderRepair
from coordinator.rescue import jobs
from dashboard.accounts.roles import Role
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from tests.builders.delta import EPOCH_MS, commit_bytes, commit_info, registration_item
from tests.builders.people import actor
from tests.coordinator.repairs.console import Console
from tests.coordinator.rescue import saved
from tests.coordinator.rescue.test_regions import ROLE, rewritten

pytestmark = pytest.mark.django_db
LOG = f"{saved.ORDERS}/_delta_log"
LATER = "_levee_rescue/20991120T094207Z"
Item = dict[str, Any]


@pytest.fixture(autouse=True)
def young_count_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    saved.let_young_count_as_old(monkeypatch)


def an_entry(console: Console) -> tuple[DeltaTable, str, Item]:
    table, item = saved.abandoned(console)
    return table, saved.only_copy(console, table, "entry")["id"], item


def a_registration(console: Console) -> tuple[DeltaTable, str, Item]:
    table, item = saved.unpublished_by_mistake(console)
    saved.lose_registration(console)
    return table, saved.only_copy(console, table, "registration")["id"], item


def held(console: Console, kind: str) -> list[Item]:
    """The item as the store has it now."""
    if kind == "registration":
        return saved.registrations(console)
    item = console.item(saved.ORDERS, 3)
    return [item] if item else []


MAKERS: dict[str, Callable[[Console], tuple[DeltaTable, str, Item]]] = {
    "entry": an_entry,
    "registration": a_registration,
}


def reason(console: Console, table: DeltaTable, copy: str) -> str:
    refused = saved.refusal(console, table, copy)
    assert refused["why"] == ""
    return str(refused["reason"])


def kept(console: Console, table: str, folder: str, item: Item, store: str = "") -> str:
    """A copy that somebody wrote; returns its id."""
    name = "registration-x" if "tableId" in item else "x"
    key = f"{table}/{LATER}-{folder}-3/{name}.item.json"
    document = {"levee_rescue": 1, "dynamodb_table": store or console.lake.log_store, "item": item}
    console.lake.put(key, json.dumps(document).encode())
    return f"s3a://{console.lake.bucket}/{key}"


@pytest.mark.parametrize("kind", MAKERS)
def test_the_command_puts_the_item_back_with_every_attribute_and_only_where_nothing_is(
    console: Console, kind: str
) -> None:
    table, copy, item = MAKERS[kind](console)
    command = saved.command(console, table, copy)
    assert held(console, kind) == []

    saved.run_by_hand(console, command)

    assert held(console, kind) == [item]
    with pytest.raises(ClientError, match="ConditionalCheckFailed"):
        saved.run_by_hand(console, command)
    assert saved.refusal(console, table, copy)["why"] == "nothing-to-do"


def test_no_name_in_an_item_breaks_out_of_the_command(console: Console) -> None:
    table, _, item = an_entry(console)
    hostile = {**item, "note": {"S": "it's $(rm -rf) `x` \"é\\"}}

    saved.run_by_hand(console, saved.command(console, table, kept(console, saved.ORDERS, "abandon-commit", hostile)))

    assert console.item(saved.ORDERS, 3) == hostile


def test_an_item_that_no_shell_hands_over_has_no_command(console: Console) -> None:
    table, _, item = an_entry(console)
    large = {**item, "note": {"S": "x" * 130_000}}

    copy = kept(console, saved.ORDERS, "abandon-commit", large)

    assert "too large for a command line" in reason(console, table, copy)


def test_levee_itself_puts_no_item_back(console: Console) -> None:
    table, copy, _ = an_entry(console)
    saved.command(console, table, copy)

    with pytest.raises(PlanNeeded):
        saved.ask(table, copy, {"digest": ""}, by=actor(Role.ADMIN))


def test_what_the_command_changes_and_what_was_not_looked_at_is_said(console: Console) -> None:
    table, copy, item = an_entry(console)
    temp = item["tempPath"]["S"]

    without = saved.refusal(console, table, copy)["reason"]
    console.lake.put(f"{LOG}/{temp}", commit_bytes(commit_info()))
    with_file = saved.refusal(console, table, copy)["reason"]

    assert without.startswith("Stop the writers of this table first. Version 3 is taken again")
    assert f"fails from then on until {temp} is brought back" in without
    assert f"publishes {temp} as that version" in with_file
    assert with_file.endswith(f"Whether {temp} is the commit that was accepted was not looked at.")


def test_a_registration_says_which_commits_are_forgotten(console: Console) -> None:
    table, copy, _ = a_registration(console)

    said = saved.refusal(console, table, copy)["reason"]

    assert "Writers continue with version 4; every commit from it on that the lost registration had accepted" in said


@pytest.mark.parametrize("kind", MAKERS)
def test_another_item_under_its_key_is_left_alone(console: Console, kind: str) -> None:
    table, copy, item = MAKERS[kind](console)
    store = console.lake.log_store if kind == "entry" else f"commits-{console.lake.bucket}"
    rival = {**item, **({"tempPath": {"S": "r"}} if kind == "entry" else {"tableVersion": {"N": "9"}})}
    console.lake.dynamodb.put_item(TableName=store, Item=rival)
    console.observe()
    console.observe()

    assert "nothing is ever overwritten" in reason(console, table, copy)


@pytest.mark.parametrize(
    ("kind", "why"), [("entry", "why_nothing"), ("entry", "why_not_alone"), ("registration", "why_nothing")]
)
def test_what_forbids_every_repair_of_the_table_forbids_this_too(
    console: Console, monkeypatch: pytest.MonkeyPatch, kind: str, why: str
) -> None:
    table, copy, _ = MAKERS[kind](console)
    monkeypatch.setattr(TableUnderRepair, why, lambda self: "It was not read whole.")

    assert reason(console, table, copy) == "It was not read whole."


# Entries


def commit_is_there(console: Console) -> None:
    console.lake.commit(saved.ORDERS, 3, commit_bytes(commit_info()))


def checksum_is_there(console: Console) -> None:
    console.lake.put(f"{LOG}/{3:020d}.crc", b"{}")


def commit_was_seen(console: Console) -> None:
    commit_is_there(console)
    console.observed(saved.ORDERS)
    console.lake.delete(f"{LOG}/{3:020d}.json")
    console.observed(saved.ORDERS)


@pytest.mark.parametrize("went_on", [commit_is_there, checksum_is_there, commit_was_seen])
def test_an_entry_is_refused_where_the_log_went_on_without_it(
    console: Console, went_on: Callable[[Console], None]
) -> None:
    table, copy, _ = an_entry(console)
    went_on(console)

    assert "The log went on without this entry" in reason(console, table, copy)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"complete": {"S": "true"}, "expireTime": {"N": "1"}}, "The entry is complete"),
        ({"fileName": {"S": f"{5:020d}.json"}, "tempPath": {"S": f".tmp/{5:020d}.json.a"}}, "does not end at 4"),
    ],
)
def test_an_entry_that_readers_would_take_otherwise_is_refused(console: Console, changed: Item, why: str) -> None:
    table, _, item = an_entry(console)

    assert why in reason(console, table, kept(console, saved.ORDERS, "abandon-commit", {**item, **changed}))


def test_an_entry_is_refused_where_a_coordinator_gives_the_versions_away(console: Console) -> None:
    table, copy, _ = an_entry(console)
    store = console.lake.coordinator()
    CommitStore.objects.create(connection=console.connection, name=store, kind="commit_coordinator")
    item = registration_item(2, path={"S": console.lake.uri(saved.ORDERS)})
    console.lake.dynamodb.put_item(TableName=store, Item=item)
    console.observed(saved.ORDERS)
    console.observed(saved.ORDERS)

    assert reason(console, table, copy) == "A commit coordinator gives the versions of this table away now."


def test_a_copy_of_an_earlier_release_goes_where_the_tables_other_entries_are(console: Console) -> None:
    table, _, item = an_entry(console)
    key = f"{saved.ORDERS}/{LATER}-abandon-commit-3/x.item.json"
    console.lake.put(key, json.dumps(item).encode())

    saved.run_by_hand(console, saved.command(console, table, f"s3a://{console.lake.bucket}/{key}"))

    assert console.item(saved.ORDERS, 3) == item


# Where it belongs


def test_an_item_goes_to_no_dynamodb_table_that_is_no_store_of_the_connection(console: Console) -> None:
    table, _, item = an_entry(console)
    copy = kept(console, saved.ORDERS, "abandon-commit", item, "payroll")

    assert saved.refusal(console, table, copy)["reason"] == "payroll is no such store of this connection."


@pytest.mark.parametrize("kind", MAKERS)
def test_an_item_goes_to_no_store_of_the_same_name_in_another_region(console: Console, kind: str) -> None:
    table, copy, _ = MAKERS[kind](console)
    rewritten(console, copy, region="eu-west-1")

    assert "in eu-west-1, and this connection reads" in reason(console, table, copy)


def test_an_item_goes_to_no_store_of_another_account(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    table, copy, _ = an_entry(console)
    rewritten(console, copy, account="111122223333")
    without_the_role = lake_access(console.connection)
    monkeypatch.setattr(jobs, "lake_access", lambda connection: without_the_role)
    Connection.objects.update(role_arn=ROLE)

    assert "in account 111122223333" in reason(console, table, copy)


def test_an_item_that_does_not_say_its_region_or_its_table_says_so(console: Console) -> None:
    table, copy, _ = an_entry(console)
    rewritten(console, copy, region="", metadata_id="")

    said = saved.refusal(console, table, copy)["reason"]

    assert "The copy does not say its region." in said
    assert "Beware: the copy may be of a table that was here before, since it holds no metaData.id." in said


@pytest.mark.parametrize("kind", MAKERS)
def test_an_item_of_a_table_that_was_here_before_is_refused(console: Console, kind: str) -> None:
    table, copy, _ = MAKERS[kind](console)
    rewritten(console, copy, metadata_id="another")

    assert "The copy is of the table with metaData.id 'another'" in reason(console, table, copy)


# Registrations


@pytest.mark.parametrize("name", [f"{4:020d}.json", f"{4:020d}.crc"])
def test_a_registration_is_refused_where_the_log_went_on_without_it(console: Console, name: str) -> None:
    table, copy, _ = a_registration(console)
    console.lake.put(
        f"{saved.TELEMETRY}/_delta_log/{name}", commit_bytes(commit_info(in_commit_timestamp=EPOCH_MS + 4))
    )

    assert "knows no version after 3" in reason(console, table, copy)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"tableId": {"S": "another"}}, "does not name registration another"),
        ({"schemaVersion": {"N": "2"}}, "schemaVersion is 2"),
    ],
)
def test_a_registration_that_would_not_fit_is_refused(console: Console, changed: Item, why: str) -> None:
    table, _, item = a_registration(console)
    store = f"commits-{console.lake.bucket}"
    copy = kept(console, saved.TELEMETRY, "raise-coordinator-version", {**item, **changed}, store)

    assert why in reason(console, table, copy)


def test_a_registration_of_another_path_is_no_copy_of_the_table(console: Console) -> None:
    table, _, item = a_registration(console)
    other = {**item, "path": {"S": f"s3a://{console.lake.bucket}/ops/other"}}
    copy = kept(console, saved.TELEMETRY, "raise-coordinator-version", other, f"commits-{console.lake.bucket}")

    assert saved.refusal(console, table, copy)["reason"] == "Its item is the registration of another table."
