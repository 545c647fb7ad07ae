"""What an abandoned commit, or a registration made anew, gives up, and what counts all the same."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from changes.calls import Stop
from coordinator.models import DeltaTable, TableFinding
from coordinator.repairs.item_calls import Abandon, DeleteEntry, Register
from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job
from tests.builders.delta import EPOCH_MS, UUID, commit_bytes, commit_info, incomplete_item
from tests.builders.people import actor
from tests.coordinator.repairs.console import Console

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("JSON")]
ROOT_OF_LOST = "sales/lost"


def abandoned(console: Console, table: DeltaTable, plan: dict[str, Any]) -> Job:
    return console.run(console.repair(table, plan, by=actor(Role.ADMIN), confirm=table.name))


def put(console: Console, item: dict[str, Any]) -> None:
    console.lake.dynamodb.put_item(TableName=console.lake.log_store, Item=item)
    console.observe()


def state_of(console: Console, table: DeltaTable) -> str:
    """By another look."""
    console.observe()
    table.refresh_from_db()
    return str(table.state)


def test_an_abandoned_commit_is_not_found_lost_until_its_entry_is_there_again(console: Console) -> None:
    table, entry = console.lost(), console.item(ROOT_OF_LOST, 3)

    job = abandoned(console, table, console.plan(table, "abandon-commit"))

    assert (job.state, job.error_text) == ("succeeded", "")
    assert state_of(console, table) == "healthy"
    put(console, entry)
    console.lake.drop_entries(ROOT_OF_LOST, 3)
    assert state_of(console, table) == "unsafe"


def test_a_look_that_read_the_entry_before_it_was_given_up_brings_nothing_back(console: Console, monkeypatch) -> None:
    table, send = console.lost(), Abandon.send
    plan = console.plan(table, "abandon-commit")
    entry = console.item(ROOT_OF_LOST, 3)

    def amid_a_look(self, sending):
        console.lake.dynamodb.put_item(TableName=console.lake.log_store, Item=entry)
        begun = datetime.now(UTC)
        answer = send(self, sending)
        with monkeypatch.context() as patched:
            stopped = SimpleNamespace(now=lambda _: begun)
            patched.setattr("coordinator.observation.reading.datetime", stopped)
            console.observe(in_full=True)
        console.lake.drop_entries(ROOT_OF_LOST, 3)
        return answer

    monkeypatch.setattr(Abandon, "send", amid_a_look)
    job = abandoned(console, table, plan)

    assert (job.state, job.error_text) == ("succeeded", "")
    assert state_of(console, table) == "healthy"


def test_a_commit_whose_deletion_was_denied_is_not_given_up(console: Console, monkeypatch) -> None:
    table = console.lost()
    temp, plan = console.temp_key(ROOT_OF_LOST, 3), console.plan(table, "abandon-commit")

    def denied(self, sending):
        raise Stop("AccessDenied")

    with monkeypatch.context() as patched:
        patched.setattr(DeleteEntry, "send", denied)
        abandoned(console, table, plan)
    console.lake.delete(temp)
    console.lake.drop_entries(ROOT_OF_LOST, 3)

    assert state_of(console, table) == "unsafe"


def test_only_the_file_of_the_plan_is_given_up(console: Console, monkeypatch) -> None:
    table, send = console.lost(), Abandon.send
    plan, other = console.plan(table, "abandon-commit"), f".tmp/{3:020d}.json.{'b' * 8}"
    item = incomplete_item(3, console.lake.uri(ROOT_OF_LOST), tempPath={"S": other})

    def after_another_writer(self, sending):
        console.lake.put(f"{ROOT_OF_LOST}/_delta_log/{other}", commit_bytes(commit_info("OTHER")))
        put(console, item)
        return send(self, sending)

    monkeypatch.setattr(Abandon, "send", after_another_writer)
    abandoned(console, table, plan)
    console.lake.drop_entries(ROOT_OF_LOST, 3)

    assert state_of(console, table) == "unsafe"


def test_a_commit_of_the_version_that_is_accepted_later_counts(console: Console) -> None:
    table = console.lost()
    plan = console.plan(table, "abandon-commit")
    abandoned(console, table, plan)
    later = incomplete_item(3, console.lake.uri(table.prefix), tempPath={"S": f".tmp/{3:020d}.json.{'b' * 8}"})
    put(console, later)
    console.lake.drop_entries(ROOT_OF_LOST, 3)
    console.observe()

    assert TableFinding.objects.filter(table=table, resolved_at=None).values_list("code", flat=True)[0] == "vanished"


def test_registering_again_that_is_refused_gives_nothing_up(console: Console, monkeypatch) -> None:
    table = console.coordinated()
    [item] = console.registrations()
    console.lose_registration()
    for version in (2, 3):
        console.lake.delete(f"{table.prefix}/_delta_log/_staged_commits/{version:020d}.{UUID}.json")
    console.observe()
    plan = console.plan(table, "re-register")

    def refused(self, sending):
        raise Stop("AccessDenied")

    with monkeypatch.context() as patched:
        patched.setattr(Register, "send", refused)
        abandoned(console, table, plan)
    back = {**item, "tableVersion": {"N": "1"}, "tableTimestamp": {"N": str(EPOCH_MS + 1)}, "commits": {"L": []}}
    console.lake.dynamodb.put_item(TableName=console.registry, Item=back)

    assert state_of(console, table) == "unsafe"
