"""What repairs saved aside is listed, comes back byte for byte or by its command, and overwrites nothing."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from changes import carrying_out
from changes.gate import NameNotTyped
from coordinator.models import DeltaTable
from coordinator.repairs.reading import account_of
from coordinator.repairs.rescue import table_note
from coordinator.rescue import actions, jobs
from coordinator.rescue.copies import rescue_prefix
from dashboard.accounts.gate import NotAllowed
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from lake.aws.errors import AwsError
from tests.builders.delta import UUID, incomplete_item
from tests.builders.people import actor, person
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.world import Meddled
from tests.coordinator.rescue import saved

pytestmark = pytest.mark.django_db
FOREIGN = {
    "notes.txt": b"mine",
    "20261120T094207Z-abandon-commit-3/broken.item.json": b"{",
    "20261120T094207Z-abandon-commit-3/bare.item.json": json.dumps(incomplete_item(3, "s3a://other/table")).encode(),
    "20261120T094207Z-abandon-commit-3/deep.item.json": b'{"levee_rescue": 1, "item": '
    + b"[" * 900
    + b"]" * 900
    + b"}",
    f"20261120T094207Z-abandon-commit-3/_delta_log/{3:020d}.json": b"{}",
    f"20261120T094207Z-abandon-commit-3/_delta_log/../../../other/_delta_log/.tmp/{3:020d}.json.x": b"{}",
    "<script>alert(1)</script>/x.item.json": b"{}",
}


def key_of(console: Console, copy: str) -> str:
    return copy.removeprefix(f"s3a://{console.lake.bucket}/")


# Listing


def test_what_is_no_copy_is_listed_with_its_reason_and_cannot_be_put_back(console: Console) -> None:
    table, _ = saved.abandoned(console)
    for name, data in FOREIGN.items():
        console.lake.put(f"{saved.ORDERS}/_levee_rescue/{name}", data)
    before = console.state()

    found = saved.copies(console, table)

    unreadable = [one for one in found if one["unreadable"]]
    assert (len(found), len(unreadable)) == (len(FOREIGN) + 1, len(FOREIGN))
    assert all(one["kind"] is None and one["unreadable"].endswith(".") for one in unreadable)
    for one in unreadable:
        assert saved.refusal(console, table, one["id"])["reason"].endswith(".")
    elsewhere = f"s3a://{console.lake.bucket}/sales/other/_levee_rescue/20261120T094207Z-abandon-commit-3/x.item.json"
    assert saved.refusal(console, table, elsewhere)["reason"] == "It is a copy of another table."
    assert console.state() == before


def test_foreign_objects_hide_no_copy_and_the_newest_are_shown(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, _ = saved.abandoned(console)
    monkeypatch.setattr(jobs, "MOST_SHOWN", 3)
    for day in (1, 2):
        key = f"{rescue_prefix(table.place)}2020110{day}T000000Z-remove-orphans/_delta_log/.tmp/{3:020d}.json.{UUID}"
        console.lake.put(key, b"x")
    for number in range(4):
        console.lake.put(f"{rescue_prefix(table.place)}0-{number}", b"x")

    job = console.run(actions.list_copies_of(actor(Role.OPERATOR), table))

    found = job.result["copies"]
    assert [one["kind"] for one in found] == ["entry", "temp-file", "temp-file"]
    assert found[1]["saved_at"] == "2020-11-02T00:00:00Z"
    assert (job.result["left_out"], job.result["more"]) == (4, False)
    monkeypatch.setattr(jobs, "MOST_LOOKED_AT", 2)
    job = console.run(actions.list_copies_of(actor(Role.OPERATOR), table))
    assert (job.result["left_out"], job.result["more"]) == (0, True)


def test_a_bucket_that_refuses_is_named_and_ends_nothing(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = saved.abandoned(console)
    other = console.lost("sales/other")
    real: Any = jobs.list_copies

    def refusing(lake: Any, place: Any) -> Any:
        if place.key == "sales/other":
            raise AwsError("AccessDenied", "no", "R", "s3:ListObjectsV2")
        return real(lake, place)

    monkeypatch.setattr(jobs, "list_copies", refusing)
    job = console.run(actions.list_all_copies(actor(Role.OPERATOR), table.connection, [table, other]))

    assert (job.state, [one["table"] for one in job.result["not_listed"]]) == ("succeeded", [other.uri])
    assert {one["table"] for one in job.result["copies"]} == {table.uri}


# Files


@pytest.mark.parametrize(("scene", "kind"), [(saved.named_temp_file, "temp-file"), (saved.contended, "staged-file")])
def test_a_removed_file_comes_back_byte_for_byte_and_its_copy_stays(console: Console, scene: Any, kind: str) -> None:
    table, key, data = scene(console)
    copy = saved.only_copy(console, table, kind)
    assert copy["goes_to"] == f"s3a://{console.lake.bucket}/{key}"
    assert key not in console.objects()

    job = saved.restored(console, table, copy["id"])

    assert (job.state, job.error_text) == ("succeeded", "")
    assert console.bytes_of(key) == data
    table.refresh_from_db()
    assert table.summary in job.message
    done = AuditEntry.objects.get(job_id=job.pk, outcome="done")
    assert (done.before["copy"], done.target_id) == (copy["id"], str(table.pk))
    assert done.after["calls"][-1]["outcome"] == "done"
    assert done.aws_request_ids
    assert saved.only_copy(console, table, kind) == copy
    assert saved.refusal(console, table, copy["id"])["why"] == "nothing-to-do"


def test_what_can_lose_something_needs_an_admin_and_the_tables_name_and_the_worker_asks_again(console: Console) -> None:
    table, _, _ = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    made = saved.plan(console, table, copy)

    with pytest.raises(NotAllowed):
        saved.ask(table, copy, made, by=actor(Role.OPERATOR))
    with pytest.raises(NameNotTyped):
        saved.ask(table, copy, made, confirm="sales")
    job = saved.ask(table, copy, made)
    person(Role.ADMIN).groups.clear()
    before = console.state()
    job = console.run(job)

    assert (job.state, job.error_code) == ("failed", "NotAllowed")
    assert console.state() == before


Rival = Callable[[Console, str, str], Any]
RIVALS: dict[str, tuple[bool, Rival]] = {
    "writes the key after the plan": (False, lambda console, key, copy: console.lake.put(key, b"a rival's")),
    "writes the key amid the calls": (True, lambda console, key, copy: console.lake.put(key, b"a rival's")),
    "replaces the copy after the plan": (False, lambda console, key, copy: console.lake.put(copy, b"a rival's")),
    "replaces the copy amid the calls": (True, lambda console, key, copy: console.lake.put(copy, b"a rival's")),
    "deletes the copy after the plan": (False, lambda console, key, copy: console.lake.delete(copy)),
}


@pytest.mark.parametrize(("amid", "rival"), RIVALS.values(), ids=RIVALS.keys())
def test_a_rival_overtakes_the_restore_and_keeps_its_bytes(
    console: Console, monkeypatch: pytest.MonkeyPatch, amid: bool, rival: Rival
) -> None:
    table, key, _ = saved.removed_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    job = saved.ask(table, copy, saved.plan(console, table, copy))
    if amid:
        real = carrying_out.execute

        def meddled(calls: Any, sending: Any) -> Any:
            port: Any = Meddled(sending.lake).at(0, lambda: rival(console, key, key_of(console, copy)))
            return real(calls, type(sending)(port, check_cancelled=sending.check_cancelled))

        monkeypatch.setattr(carrying_out, "execute", meddled)
    else:
        rival(console, key, key_of(console, copy))

    job = console.run(job)

    assert job.state == "overtaken", job.error_text
    assert job.message.startswith("Stopped before any change: ")
    assert key not in console.objects() or console.bytes_of(key) == b"a rival's"


def test_the_note_beside_a_file_names_its_table(console: Console) -> None:
    table, _, _ = saved.removed_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    note = table_note(key_of(console, copy))
    assert json.loads(console.bytes_of(note)) == {"levee_rescue": 1, "metadata_id": UUID}

    for data in (b"", b"[]", b"{}"):
        console.lake.put(note, data)
        assert "table.json cannot be used: " in saved.refusal(console, table, copy)["reason"]
    console.lake.put(note, b'{"levee_rescue": 1, "metadata_id": 7}')
    assert "The copy is of the table with metaData.id '7'" in saved.refusal(console, table, copy)["reason"]
    console.lake.delete(note)
    assert "holds no metaData.id" in saved.plan(console, table, copy)["danger"]


# Items


def an_entry(console: Console) -> tuple[DeltaTable, str, dict[str, Any]]:
    table, item = saved.abandoned(console)
    return table, saved.only_copy(console, table, "entry")["id"], item


def a_registration(console: Console) -> tuple[DeltaTable, str, dict[str, Any]]:
    table, item = saved.unpublished_by_mistake(console)
    console.lose_registration()
    return table, saved.only_copy(console, table, "registration")["id"], item


@pytest.mark.parametrize("scene", [an_entry, a_registration])
def test_the_command_puts_the_item_back_with_every_attribute_and_only_where_nothing_is(
    console: Console, scene: Any
) -> None:
    table, copy, item = scene(console)
    words = saved.command(console, table, copy)

    saved.run_by_hand(console, words)

    held = console.registrations() if scene is a_registration else [console.item(saved.ORDERS, 3)]
    assert held == [item]
    with pytest.raises(ClientError, match="ConditionalCheckFailed"):
        saved.run_by_hand(console, words)
    assert saved.refusal(console, table, copy)["why"] == "nothing-to-do"
    console.lake.delete(key_of(console, copy))
    assert saved.refusal(console, table, copy)["reason"] == "The copy is not there any more."


def test_no_name_in_an_item_breaks_out_of_the_command(console: Console) -> None:
    table, copy, item = an_entry(console)
    document = json.loads(console.bytes_of(key_of(console, copy)))
    assert (document["region"], "account" in document) == (console.connection.region, False)

    def rewritten(**changed: Any) -> None:
        console.lake.put(key_of(console, copy), json.dumps({**document, **changed}).encode())

    rewritten(dynamodb_table="payroll")
    assert saved.refusal(console, table, copy)["reason"] == "payroll is no such store of this connection."
    hostile = {**item, "note": {"S": "it's $(rm -rf) `x` \"é\\"}}
    rewritten(item=hostile)
    saved.run_by_hand(console, saved.command(console, table, copy))

    assert console.item(saved.ORDERS, 3) == hostile


def test_the_account_of_a_connection_is_that_of_its_role() -> None:
    assert (account_of("arn:aws:iam::444455556666:role/levee"), account_of("")) == ("444455556666", "")
