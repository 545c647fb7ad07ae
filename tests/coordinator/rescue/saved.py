"""Tables of which a repair has saved something aside, and what a person does with the copies."""

import json
import shlex
from typing import Any

from coordinator.models import DeltaTable, ProvenanceRow
from coordinator.repairs.fresh import jobs_about
from coordinator.rescue import actions
from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job
from tests.builders.delta import EPOCH_MS, UUID, commit_bytes, commit_info
from tests.builders.people import actor
from tests.coordinator.repairs.console import Console

ORDERS = "sales/orders"
TELEMETRY = "ops/telemetry"


def repaired(console: Console, table: DeltaTable, repair: str) -> Job:
    """A repair with loss, carried out by an admin who typed the name."""
    plan = console.plan(table, repair)
    assert plan["can_lose"]
    job = console.run(console.repair(table, plan, by=actor(Role.ADMIN), confirm=table.name))
    assert (job.state, job.error_text) == ("succeeded", "")
    return job


def copies(console: Console, table: DeltaTable) -> list[dict[str, Any]]:
    """What a fresh listing says of the table's rescue folder."""
    job = console.run(actions.list_copies_of(actor(Role.OPERATOR), table))
    assert job.state == "succeeded"
    return list(job.result["copies"])


def only_copy(console: Console, table: DeltaTable, kind: str) -> dict[str, Any]:
    [found] = [one for one in copies(console, table) if one["kind"] == kind]
    return found


def planned(console: Console, table: DeltaTable, copy: str) -> Job:
    job = console.run(actions.plan_copy(actor(Role.OPERATOR), table, copy))
    assert (job.state, job.error_text) == ("succeeded", "")
    return job


def plan(console: Console, table: DeltaTable, copy: str) -> dict[str, Any]:
    job = planned(console, table, copy)
    assert job.result["plan"], job.result["refusal"]["reason"]
    return dict(job.result["plan"])


def refusal(console: Console, table: DeltaTable, copy: str) -> dict[str, Any]:
    job = planned(console, table, copy)
    assert job.result["plan"] is None
    return dict(job.result["refusal"])


def command(console: Console, table: DeltaTable, copy: str) -> str:
    """The command that puts an item back by hand."""
    result = planned(console, table, copy).result
    assert (result["plan"], result["refusal"]["why"]) == (None, "by-hand"), result["refusal"]["reason"]
    return str(result["command"])


def run_by_hand(console: Console, words: str) -> None:
    """What the AWS CLI sends for a put-item, with the client of the test."""
    aws, dynamodb, operation, *options = shlex.split(words)
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert (aws, dynamodb, operation) == ("aws", "dynamodb", "put-item")
    assert given.pop("--region") == console.connection.region
    assert given.pop("--endpoint-url") == console.connection.endpoint_url
    assert set(given) == {"--table-name", "--item", "--condition-expression"}
    console.lake.dynamodb.put_item(
        TableName=given["--table-name"],
        Item=json.loads(given["--item"]),
        ConditionExpression=given["--condition-expression"],
    )


def ask(table: DeltaTable, copy: str, made: dict[str, Any], by: Actor | None = None, confirm: str | None = None) -> Job:
    """Confirm a plan, without running it."""
    name = table.name if confirm is None else confirm
    planned = jobs_about(table, actions.PLAN_KIND).filter(params__copy=copy)[0]
    return actions.restore_copy(by or actor(Role.ADMIN), planned, made["digest"], confirm=name)


def restored(console: Console, table: DeltaTable, copy: str) -> Job:
    return console.run(ask(table, copy, plan(console, table, copy)))


# What repairs leave behind


def abandoned(console: Console) -> tuple[DeltaTable, dict[str, Any]]:
    """A log store's table whose commit 3 was abandoned, and the entry that it had."""
    table = console.lost(ORDERS)
    entry = console.item(ORDERS, 3)
    repaired(console, table, "abandon-commit")
    return table, entry


def removed_temp_file(console: Console) -> tuple[DeltaTable, str, bytes]:
    """A table whose temp file of version 3, that no entry named, was removed; its key and bytes."""
    console.lake.table(ORDERS, 3)
    console.lake.entry(ORDERS, 2, expireTime={"N": "1999999999"})
    key, data = f"{ORDERS}/_delta_log/.tmp/{3:020d}.json.{UUID}", commit_bytes(commit_info(), newline=True)
    console.lake.put(key, data)
    table = console.observed(ORDERS)
    repaired(console, table, "remove-orphans")
    return table, key, data


def named_temp_file(console: Console) -> tuple[DeltaTable, str, bytes]:
    """The same, and an entry that names it by now."""
    table, key, data = removed_temp_file(console)
    name = key.removeprefix(f"{ORDERS}/_delta_log/")
    console.lake.entry(ORDERS, 3, complete={"S": "false"}, tempPath={"S": name})
    console.observed(ORDERS)
    console.observed(ORDERS)
    return table, key, data


def contended(console: Console) -> tuple[DeltaTable, str, bytes]:
    """A coordinated table of whose version 2 a staged file was removed that nothing told from the winner's."""
    table = console.contended(TELEMETRY)
    rival = f"{TELEMETRY}/_delta_log/_staged_commits/{2:020d}.rival.json"
    data = console.bytes_of(rival)
    repaired(console, table, "remove-orphans")
    return table, rival, data


def unpublished_by_mistake(console: Console) -> tuple[DeltaTable, dict[str, Any]]:
    """A coordinated table whose accepted commit 3 was published from its only staged file, on an admin's word.

    The item of before is saved aside.
    """
    table = console.coordinated(TELEMETRY, published=4, waiting=0)
    [item] = console.registrations()
    item = {**item, "tableTimestamp": {"N": str(EPOCH_MS + 3)}}
    console.lake.dynamodb.put_item(TableName=console.registry, Item=item)
    console.lake.delete(f"{TELEMETRY}/_delta_log/{3:020d}.json")
    ProvenanceRow.objects.all().delete()
    console.observed(TELEMETRY)
    console.observed(TELEMETRY)
    repaired(console, table, "publish-accepted-staged-file")
    return table, item
