"""What an abandoned commit, or a registration made anew, gives up, and what counts all the same."""

from datetime import UTC, datetime
from typing import Any

import pytest

from changes.calls import Stop
from coordinator.models import TableFinding
from coordinator.repairs.item_calls import Abandon, DeleteEntry, Register
from dashboard.accounts.roles import Role
from tests.builders.delta import EPOCH_MS, UUID, commit_bytes, commit_info, incomplete_item
from tests.builders.people import actor
from tests.coordinator.repairs.console import Console

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("JSON")]
ROOT_OF_LOST = "sales/lost"


def test_an_abandoned_commit_is_not_found_lost_afterwards(console: Console) -> None:
    table = console.lost()
    plan = console.plan(table, "abandon-commit")

    job = console.run(console.repair(table, plan, by=actor(Role.ADMIN), confirm=table.name))
    console.observe()

    assert (job.state, job.error_text) == ("succeeded", "")
    table.refresh_from_db()
    assert table.state == "healthy", table.summary


def test_a_look_that_read_the_entry_before_it_was_given_up_brings_nothing_back(console: Console, monkeypatch) -> None:
    table, send = console.lost(), Abandon.send
    plan = console.plan(table, "abandon-commit")
    entry = console.item(ROOT_OF_LOST, 3)

    def amid_a_look(self, sending):
        console.lake.dynamodb.put_item(TableName=console.lake.log_store, Item=entry)
        begun = datetime.now(UTC)
        answer = send(self, sending)
        with monkeypatch.context() as patched:
            patched.setattr("coordinator.observation.reading.datetime", stopped_at(begun))
            console.observe(in_full=True)
        key = {name: entry[name] for name in ("tablePath", "fileName")}
        console.lake.dynamodb.delete_item(TableName=console.lake.log_store, Key=key)
        return answer

    monkeypatch.setattr(Abandon, "send", amid_a_look)
    job = console.run(console.repair(table, plan, by=actor(Role.ADMIN), confirm=table.name))
    console.observe()

    assert (job.state, job.error_text) == ("succeeded", "")
    table.refresh_from_db()
    assert table.state == "healthy", table.summary


def stopped_at(moment: datetime) -> Any:
    """A `datetime` whose now is this moment."""

    class Stopped(datetime):
        @classmethod
        def now(cls, tz=None):
            return moment

    return Stopped


def test_a_commit_whose_deletion_was_denied_is_not_given_up(console: Console, monkeypatch) -> None:
    table = console.lost()
    temp, plan = console.temp_key(ROOT_OF_LOST, 3), console.plan(table, "abandon-commit")

    def denied(self, sending):
        raise Stop("AccessDenied")

    with monkeypatch.context() as patched:
        patched.setattr(DeleteEntry, "send", denied)
        console.run(console.repair(table, plan, by=actor(Role.ADMIN), confirm=table.name))
    entry = console.item(ROOT_OF_LOST, 3)
    console.lake.delete(temp)
    key = {name: entry[name] for name in ("tablePath", "fileName")}
    console.lake.dynamodb.delete_item(TableName=console.lake.log_store, Key=key)
    console.observe()

    table.refresh_from_db()
    assert table.state == "unsafe", table.summary


def test_an_entry_that_is_there_again_counts_again(console: Console) -> None:
    table = console.lost()
    entry = console.item(ROOT_OF_LOST, 3)
    plan = console.plan(table, "abandon-commit")
    console.run(console.repair(table, plan, by=actor(Role.ADMIN), confirm=table.name))
    console.lake.dynamodb.put_item(TableName=console.lake.log_store, Item=entry)
    console.observe()
    key = {name: entry[name] for name in ("tablePath", "fileName")}
    console.lake.dynamodb.delete_item(TableName=console.lake.log_store, Key=key)
    console.observe()

    table.refresh_from_db()
    assert table.state == "unsafe", table.summary


def test_only_the_file_of_the_plan_is_given_up(console: Console, monkeypatch) -> None:
    table, send = console.lost(), Abandon.send
    plan, other = console.plan(table, "abandon-commit"), f".tmp/{3:020d}.json.{'b' * 8}"
    item = incomplete_item(3, console.lake.uri(ROOT_OF_LOST), tempPath={"S": other})

    def after_another_writer(self, sending):
        console.lake.put(f"{ROOT_OF_LOST}/_delta_log/{other}", commit_bytes(commit_info("OTHER")))
        console.lake.dynamodb.put_item(TableName=console.lake.log_store, Item=item)
        console.observe()
        return send(self, sending)

    monkeypatch.setattr(Abandon, "send", after_another_writer)
    console.run(console.repair(table, plan, by=actor(Role.ADMIN), confirm=table.name))
    key = {name: item[name] for name in ("tablePath", "fileName")}
    console.lake.dynamodb.delete_item(TableName=console.lake.log_store, Key=key)
    console.observe()

    table.refresh_from_db()
    assert table.state == "unsafe", table.summary


def test_a_commit_of_the_version_that_is_accepted_later_counts(console: Console) -> None:
    table = console.lost()
    plan = console.plan(table, "abandon-commit")
    console.run(console.repair(table, plan, by=actor(Role.ADMIN), confirm=table.name))
    later = incomplete_item(3, console.lake.uri(table.prefix), tempPath={"S": f".tmp/{3:020d}.json.{'b' * 8}"})
    console.lake.dynamodb.put_item(TableName=console.lake.log_store, Item=later)
    console.observe()
    key = {name: later[name] for name in ("tablePath", "fileName")}
    console.lake.dynamodb.delete_item(TableName=console.lake.log_store, Key=key)
    console.observe()

    assert TableFinding.objects.filter(table=table, resolved_at=None).values_list("code", flat=True)[0] == "vanished"


def test_registering_again_that_is_refused_gives_nothing_up(console: Console, monkeypatch) -> None:
    table = console.coordinated()
    store = f"commits-{console.lake.bucket}"
    item = console.lake.dynamodb.scan(TableName=store)["Items"][0]
    console.lake.dynamodb.delete_item(TableName=store, Key={"tableId": item["tableId"]})
    for version in (2, 3):
        console.lake.delete(f"{table.prefix}/_delta_log/_staged_commits/{version:020d}.{UUID}.json")
    console.observe()
    plan = console.plan(table, "re-register")

    def refused(self, sending):
        raise Stop("AccessDenied")

    with monkeypatch.context() as patched:
        patched.setattr(Register, "send", refused)
        console.run(console.repair(table, plan, by=actor(Role.ADMIN), confirm=table.name))
    back = {**item, "tableVersion": {"N": "1"}, "tableTimestamp": {"N": str(EPOCH_MS + 1)}, "commits": {"L": []}}
    console.lake.dynamodb.put_item(TableName=store, Item=back)
    console.observe()

    table.refresh_from_db()
    assert table.state == "unsafe", table.summary
