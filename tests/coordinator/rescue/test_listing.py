"""What is listed of a rescue folder: copies newest first, and what is none with the reason."""

import json
from typing import Any

import pytest

from coordinator.rescue import actions, listing
from coordinator.rescue.copies import rescue_prefix
from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job
from lake.aws.errors import AwsError
from tests.builders.delta import UUID, incomplete_item
from tests.builders.people import actor
from tests.coordinator.repairs.console import Console
from tests.coordinator.rescue import saved

pytestmark = pytest.mark.django_db
FOREIGN = {
    "notes.txt": b"mine",
    "20261120T094207Z-abandon-commit-3/broken.item.json": b"{",
    "20261120T094207Z-abandon-commit-3/x.item.json": json.dumps(incomplete_item(3, "s3a://other/table")).encode(),
    "20261120T094207Z-abandon-commit-3/registration-x.item.json": b'{"tableId": {"S": "x"}}',
    f"20261120T094207Z-abandon-commit-3/_delta_log/{3:020d}.json": b"{}",
    f"20261120T094207Z-abandon-commit-3/_delta_log/../../../other/_delta_log/.tmp/{3:020d}.json.x": b"{}",
    "<script>alert(1)</script>/x.item.json": b"{}",
}


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
    assert console.state() == before


def test_a_copy_of_another_table_is_refused(console: Console) -> None:
    table, _ = saved.abandoned(console)
    elsewhere = f"s3a://{console.lake.bucket}/sales/other/_levee_rescue/20261120T094207Z-abandon-commit-3/x.item.json"
    assert saved.refusal(console, table, elsewhere)["reason"] == "It is a copy of another table."


def test_a_copy_that_has_gone_is_refused(console: Console) -> None:
    table, _ = saved.abandoned(console)
    copy = saved.only_copy(console, table, "entry")["id"]
    console.lake.delete(copy.removeprefix(f"s3a://{console.lake.bucket}/"))
    assert saved.refusal(console, table, copy)["reason"] == "The copy is not there any more."


def test_foreign_objects_hide_no_copy_and_the_newest_are_shown(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, _ = saved.abandoned(console)
    monkeypatch.setattr(listing, "MOST_COPIES", 2)
    monkeypatch.setattr(listing, "MOST_UNREADABLE", 1)
    for day in (1, 2, 3):
        key = f"{rescue_prefix(table.place)}2020110{day}T000000Z-remove-orphans/_delta_log/.tmp/{3:020d}.json.{UUID}"
        console.lake.put(key, b"x")
    for number in range(4):
        console.lake.put(f"{rescue_prefix(table.place)}0-{number}", b"x")

    job = console.run(actions.list_copies_of(actor(Role.OPERATOR), table))

    found = job.result["copies"]
    assert [one["kind"] for one in found] == ["entry", "temp-file", None]
    assert found[1]["saved_at"] == "2020-11-03T00:00:00Z"
    assert job.result["left_out"] == 5


@pytest.mark.slow
def test_an_endless_folder_is_said_to_be(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = saved.abandoned(console)
    monkeypatch.setattr(listing, "MOST_LOOKED_AT", 1)
    console.lake.put(f"{rescue_prefix(table.place)}z", b"x")

    job = console.run(actions.list_copies_of(actor(Role.OPERATOR), table))

    assert (job.result["more"], len(job.result["copies"])) == (True, 1)


@pytest.mark.slow
def test_a_bucket_that_refuses_is_named_and_ends_nothing(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = saved.abandoned(console)
    other = console.lost("sales/other")
    console.lake.put(f"{saved.ORDERS}/_levee_rescue/x", b"")
    real: Any = listing.list_copies

    def refusing(lake: Any, place: Any) -> Any:
        if place.key == "sales/other":
            raise AwsError("AccessDenied", "no", "R", "s3:ListObjectsV2")
        return real(lake, place)

    monkeypatch.setattr("coordinator.rescue.jobs.list_copies", refusing)
    asked = actions.list_all_copies(actor(Role.OPERATOR), table.connection, [table, other])
    job: Job = console.run(asked)

    assert (job.state, [one["table"] for one in job.result["not_listed"]]) == ("succeeded", [other.uri])
    assert {one["table"] for one in job.result["copies"]} == {table.uri}
