"""When a copy is not put back, or only on an admin's word: what could let anybody see another state of the table."""

import json
import time
from typing import Any

import pytest

from coordinator.models import CommitStore, DeltaTable
from coordinator.repairs.table_under_repair import TableUnderRepair
from tests.builders.delta import EPOCH_MS, commit_bytes, commit_info, registration_item
from tests.coordinator.repairs.console import Console
from tests.coordinator.rescue import saved

pytestmark = pytest.mark.django_db
LOG = f"{saved.ORDERS}/_delta_log"
OTHERS = f"{saved.ORDERS}/_levee_rescue/20261120T094207Z-abandon-commit-3"
LATER = OTHERS.replace("2026", "2099")


@pytest.fixture(autouse=True)
def young_count_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    saved.let_young_count_as_old(monkeypatch)


def reason(console: Console, table: DeltaTable, kind: str = "entry") -> str:
    copy = saved.only_copy(console, table, kind)
    return str(saved.refusal(console, table, copy["id"])["reason"])


# Entries


@pytest.mark.slow
def test_an_entry_is_put_back_by_an_admin_alone_since_it_takes_its_version_again(console: Console) -> None:
    table, entry = saved.abandoned(console)
    plan = saved.plan(console, table, saved.only_copy(console, table, "entry")["id"])

    temp = entry["tempPath"]["S"]
    assert plan["can_lose"]
    assert plan["danger"] == f"every read and write of the table, which fail from then on until {temp} is brought back"


@pytest.mark.slow
def test_an_entry_whose_file_is_back_says_that_it_will_be_published(console: Console) -> None:
    table, entry = saved.abandoned(console)
    console.lake.put(f"{LOG}/{entry['tempPath']['S']}", commit_bytes(commit_info()))

    plan = saved.plan(console, table, saved.only_copy(console, table, "entry")["id"])

    assert "whoever reads or writes next publishes" in plan["danger"]


def test_an_entry_whose_file_is_no_whole_commit_is_refused(console: Console) -> None:
    table, entry = saved.abandoned(console)
    console.lake.put(f"{LOG}/{entry['tempPath']['S']}", b'{"add":{"path"')

    assert "is no whole commit" in reason(console, table)


def test_an_entry_is_refused_where_the_log_went_on_without_it(console: Console) -> None:
    table, _ = saved.abandoned(console)
    console.lake.commit(saved.ORDERS, 3, commit_bytes(commit_info()))

    assert "The log went on without this entry" in reason(console, table)


def test_an_entry_is_refused_where_a_checkpoint_alone_shows_that_the_log_went_on(console: Console) -> None:
    table, _ = saved.abandoned(console)
    console.lake.put(f"{LOG}/{3:020d}.crc", b"{}")

    assert "The log went on without this entry" in reason(console, table)


def test_an_entry_is_refused_where_its_version_was_seen_and_lost_since(console: Console) -> None:
    table, _ = saved.abandoned(console)
    console.lake.commit(saved.ORDERS, 3, commit_bytes(commit_info()))
    console.observed(saved.ORDERS)
    console.lake.delete(f"{LOG}/{3:020d}.json")
    console.observed(saved.ORDERS)

    assert "The log went on without this entry" in reason(console, table)


def test_an_entry_is_refused_where_the_log_has_lost_what_was_below_it(console: Console) -> None:
    table, _ = saved.abandoned(console)
    console.lake.delete(f"{LOG}/{2:020d}.json")
    console.observed(saved.ORDERS)
    console.observed(saved.ORDERS)

    assert reason(console, table)
    assert console.item(saved.ORDERS, 3) == {}


def test_an_entry_that_another_writer_put_since_is_never_overwritten(console: Console) -> None:
    table, entry = saved.abandoned(console)
    rival = {**entry, "tempPath": {"S": f".tmp/{3:020d}.json.rival"}}
    console.lake.dynamodb.put_item(TableName=console.lake.log_store, Item=rival)

    assert "nothing is ever overwritten" in reason(console, table)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"complete": {"S": "true"}, "expireTime": {"N": "1"}}, "The entry is complete"),
        ({"fileName": {"S": f"{5:020d}.json"}, "tempPath": {"S": f".tmp/{5:020d}.json.a"}}, "does not end at 4"),
    ],
)
def test_an_entry_that_readers_would_take_otherwise_is_refused(
    console: Console, changed: dict[str, Any], why: str
) -> None:
    table, entry = saved.abandoned(console)
    document = {"levee_rescue": 1, "dynamodb_table": console.lake.log_store, "item": {**entry, **changed}}
    console.lake.put(f"{OTHERS}/x.item.json", json.dumps(document).encode())
    copy = f"s3a://{console.lake.bucket}/{OTHERS}/x.item.json"

    assert why in saved.refusal(console, table, copy)["reason"]


def test_an_entry_of_a_table_that_was_at_the_path_before_is_refused(console: Console) -> None:
    table, _ = saved.abandoned(console)
    in_a_minute = int(time.time() * 1_000) + 60_000
    console.lake.put(f"{LOG}/{2:020d}.json", commit_bytes(commit_info(timestamp=in_a_minute)))

    assert "the copy is of a table that was here before" in reason(console, table)


def test_an_entry_goes_to_no_other_dynamodb_table_than_a_log_store_of_the_connection(console: Console) -> None:
    table, entry = saved.abandoned(console)
    document = {"levee_rescue": 1, "dynamodb_table": "payroll", "item": entry}
    console.lake.put(f"{OTHERS}/x.item.json", json.dumps(document).encode())

    refused = saved.refusal(console, table, f"s3a://{console.lake.bucket}/{OTHERS}/x.item.json")

    assert refused["reason"] == "payroll is not a log store of this connection."


def test_a_copy_of_an_earlier_release_goes_where_the_tables_other_entries_are(console: Console) -> None:
    table, entry = saved.abandoned(console)
    console.lake.put(f"{LATER}/{entry['tempPath']['S'][5:]}.item.json", json.dumps(entry).encode())
    copy = f"s3a://{console.lake.bucket}/{LATER}/{entry['tempPath']['S'][5:]}.item.json"

    job = saved.restored(console, table, copy)

    assert (job.state, job.error_text) == ("succeeded", "")
    assert console.item(saved.ORDERS, 3) == entry


# Files


def test_a_file_that_no_item_names_is_put_back_by_an_operator(console: Console) -> None:
    table, _, _ = saved.removed_temp_file(console)

    assert not saved.plan(console, table, saved.only_copy(console, table, "temp-file")["id"])["can_lose"]


def test_a_file_that_an_entry_names_by_now_needs_an_admin(console: Console) -> None:
    table, key, _ = saved.removed_temp_file(console)
    console.lake.entry(saved.ORDERS, 3, complete={"S": "false"}, tempPath={"S": key.removeprefix(f"{LOG}/")})
    console.observed(saved.ORDERS)
    console.observed(saved.ORDERS)

    plan = saved.plan(console, table, saved.only_copy(console, table, "temp-file")["id"])

    assert plan["can_lose"]
    assert plan["danger"].startswith("what readers see of version 3: the entry ")


def test_a_named_file_that_is_no_whole_commit_is_refused(console: Console) -> None:
    table, key, _ = saved.removed_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    console.lake.entry(saved.ORDERS, 3, complete={"S": "false"}, tempPath={"S": key.removeprefix(f"{LOG}/")})
    console.lake.put(copy.removeprefix(f"s3a://{console.lake.bucket}/"), b"other bytes")
    console.observed(saved.ORDERS)
    console.observed(saved.ORDERS)

    assert "is no whole commit" in saved.refusal(console, table, copy)["reason"]


def test_a_file_that_a_registration_lists_needs_an_admin_and_the_size_that_was_accepted(console: Console) -> None:
    table, key, data = saved.contended(console)
    copy = saved.only_copy(console, table, "staged-file")["id"]

    _list(console, key, len(data))
    assert saved.plan(console, table, copy)["can_lose"]
    _list(console, key, len(data) + 1)
    assert "The coordinator accepted" in saved.refusal(console, table, copy)["reason"]


def _list(console: Console, key: str, size: int) -> None:
    [item] = saved.registrations(console)
    element = registration_item(2, (2,))["commits"]["L"][0]["M"]
    element |= {"fsName": {"S": key.rpartition("/")[2]}, "fsLength": {"N": str(size)}}
    listed = {**item, "commits": {"L": [{"M": element}]}}
    console.lake.dynamodb.put_item(TableName=f"commits-{console.lake.bucket}", Item=listed)
    console.observed(saved.TELEMETRY)
    console.observed(saved.TELEMETRY)


def test_other_bytes_under_the_key_of_a_file_are_never_overwritten(console: Console) -> None:
    table, key, _ = saved.removed_temp_file(console)
    console.lake.put(key, b"a writer's")

    assert "nothing is ever overwritten" in reason(console, table, "temp-file")
    assert console.bytes_of(key) == b"a writer's"


# Registrations


def test_a_registration_that_is_there_and_went_on_is_never_overwritten(console: Console) -> None:
    table, item = saved.unpublished_by_mistake(console)
    newer = {**item, "tableVersion": {"N": "9"}}
    console.lake.dynamodb.put_item(TableName=f"commits-{console.lake.bucket}", Item=newer)
    console.observed(saved.TELEMETRY)
    console.observed(saved.TELEMETRY)

    assert "nothing is ever overwritten" in reason(console, table, "registration")
    assert saved.registrations(console) == [newer]


def test_a_registration_is_put_back_by_an_admin_alone(console: Console) -> None:
    table, _ = saved.unpublished_by_mistake(console)
    saved.lose_registration(console)

    plan = saved.plan(console, table, saved.only_copy(console, table, "registration")["id"])

    assert plan["danger"].startswith("every commit from 4 on that the lost registration had accepted")


def test_a_registration_is_refused_where_the_log_went_on_without_it(console: Console) -> None:
    table, _ = saved.unpublished_by_mistake(console)
    saved.lose_registration(console)
    console.lake.commit(saved.TELEMETRY, 4, commit_bytes(commit_info(in_commit_timestamp=EPOCH_MS + 4)))

    assert "knows no version after 3" in reason(console, table, "registration")


def test_a_registration_is_refused_where_it_accepted_another_commit_than_the_published_one(console: Console) -> None:
    table, _ = saved.unpublished_by_mistake(console)
    saved.lose_registration(console)
    console.lake.put(
        f"{saved.TELEMETRY}/_delta_log/{3:020d}.json", commit_bytes(commit_info(in_commit_timestamp=EPOCH_MS + 77))
    )

    assert "is not the commit that the registration accepted" in reason(console, table, "registration")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"tableVersion": {"N": "5"}}, "version 4, which is neither published nor in its list"),
        ({"tableId": {"S": "another"}}, "does not name registration another"),
        ({"schemaVersion": {"N": "2"}}, "schemaVersion is 2"),
    ],
)
def test_a_registration_that_would_not_fit_is_refused(console: Console, changed: dict[str, Any], why: str) -> None:
    table, item = saved.unpublished_by_mistake(console)
    saved.lose_registration(console)
    folder = f"{saved.TELEMETRY}/_levee_rescue/20991120T094207Z-publish-accepted-staged-file-3"
    document = {"levee_rescue": 1, "dynamodb_table": f"commits-{console.lake.bucket}", "item": {**item, **changed}}
    console.lake.put(f"{folder}/registration-x.item.json", json.dumps(document).encode())

    copy = f"s3a://{console.lake.bucket}/{folder}/registration-x.item.json"
    assert why in saved.refusal(console, table, copy)["reason"]


def test_an_entry_is_refused_where_a_coordinator_gives_the_versions_away(console: Console) -> None:
    table, _ = saved.abandoned(console)
    store = console.lake.coordinator()
    CommitStore.objects.create(connection=console.connection, name=store, kind="commit_coordinator")
    item = registration_item(2, path={"S": console.lake.uri(saved.ORDERS)})
    console.lake.dynamodb.put_item(TableName=store, Item=item)
    console.observed(saved.ORDERS)
    console.observed(saved.ORDERS)

    assert reason(console, table) == "A commit coordinator gives the versions of this table away now."


def test_a_registration_is_refused_where_a_checksum_alone_shows_that_the_log_went_on(console: Console) -> None:
    table, _ = saved.unpublished_by_mistake(console)
    saved.lose_registration(console)
    console.lake.put(f"{saved.TELEMETRY}/_delta_log/{4:020d}.crc", b"{}")

    assert "knows no version after 3" in reason(console, table, "registration")


def test_a_registration_goes_to_no_other_dynamodb_table_than_the_one_of_the_properties(console: Console) -> None:
    table, item = saved.unpublished_by_mistake(console)
    saved.lose_registration(console)
    copy = _kept(console, item, table="payroll")

    assert "do not name the DynamoDB table" in saved.refusal(console, table, copy)["reason"]


def test_a_registration_of_another_path_is_no_copy_of_the_table(console: Console) -> None:
    table, item = saved.unpublished_by_mistake(console)
    saved.lose_registration(console)
    copy = _kept(console, {**item, "path": {"S": f"s3a://{console.lake.bucket}/ops/other"}})

    assert saved.refusal(console, table, copy)["reason"] == "Its item is the registration of another table."


def _kept(console: Console, item: dict[str, Any], table: str = "") -> str:
    """A copy of a registration that somebody wrote; returns its id."""
    key = f"{saved.TELEMETRY}/_levee_rescue/20991120T094207Z-raise-coordinator-version-3/registration-x.item.json"
    store = table or f"commits-{console.lake.bucket}"
    console.lake.put(key, json.dumps({"levee_rescue": 1, "dynamodb_table": store, "item": item}).encode())
    return f"s3a://{console.lake.bucket}/{key}"


# What holds for each kind


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("entry", "why_nothing"),
        ("entry", "why_not_alone"),
        ("temp-file", "why_nothing"),
        ("temp-file", "why_not_alone"),
        ("registration", "why_nothing"),
    ],
)
def test_what_forbids_every_repair_of_the_table_forbids_this_too(
    console: Console, monkeypatch: pytest.MonkeyPatch, kind: str, why: str
) -> None:
    make = {"entry": saved.abandoned, "temp-file": saved.removed_temp_file}.get(kind, saved.unpublished_by_mistake)
    table = make(console)[0]
    if kind == "registration":
        saved.lose_registration(console)
    monkeypatch.setattr(TableUnderRepair, why, lambda self: "It was not read whole.")

    assert reason(console, table, kind) == "It was not read whole."


def test_a_file_that_an_entry_of_an_unknown_store_may_name_needs_an_admin(console: Console) -> None:
    table, _, _ = saved.removed_temp_file(console)
    console.lake.dynamodb.delete_item(
        TableName=console.lake.log_store,
        Key={"tablePath": {"S": console.lake.uri(saved.ORDERS)}, "fileName": {"S": f"{2:020d}.json"}},
    )
    DeltaTable.objects.filter(pk=table.pk).update(lock_domains=[])

    plan = saved.plan(console, table, saved.only_copy(console, table, "temp-file")["id"])

    assert "an entry of a log store that is not known here" in plan["danger"]


def test_a_staged_file_that_a_registration_out_of_reach_may_list_is_refused(console: Console) -> None:
    table, _, _ = saved.contended(console)
    CommitStore.objects.filter(name=f"commits-{console.lake.bucket}").delete()

    assert "registrations could not be read" in reason(console, table, "staged-file")


def test_a_named_file_whose_time_contradicts_its_neighbours_is_refused(console: Console) -> None:
    table, key, data = saved.contended(console)
    copy = saved.only_copy(console, table, "staged-file")["id"]
    later = data.replace(str(EPOCH_MS + 2).encode(), str(EPOCH_MS + 9).encode())
    console.lake.put(copy.removeprefix(f"s3a://{console.lake.bucket}/"), later)
    _list(console, key, len(later))

    assert "in-commit timestamp" in saved.refusal(console, table, copy)["reason"]


def test_an_entry_whose_file_has_another_size_than_was_seen_is_refused(console: Console) -> None:
    console.lake.table(saved.ORDERS, 3, log_store=True)
    console.lake.pending(saved.ORDERS, 3)
    table = console.observed(saved.ORDERS)
    entry = console.item(saved.ORDERS, 3)
    console.lake.delete(f"{LOG}/{entry['tempPath']['S']}")
    console.observed(saved.ORDERS)
    console.observed(saved.ORDERS)
    saved.repaired(console, table, "abandon-commit")
    console.lake.put(f"{LOG}/{entry['tempPath']['S']}", commit_bytes(commit_info("A_LONGER_OPERATION")))

    assert "when it was accepted" in reason(console, table)
