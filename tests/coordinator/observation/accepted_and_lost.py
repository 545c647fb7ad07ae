"""One table for passes to read: where its files lie, what becomes of them, and what is found."""

import time
from typing import Any

from coordinator.models import DeltaTable, TableFinding
from tests.builders.delta import UUID, coordinator_commit

ORDERS = "sales/orders"


def log(name: str) -> str:
    return f"{ORDERS}/_delta_log/{name}"


def file(version: int) -> str:
    return log(f"{version:020d}.json")


def staged(version: int) -> str:
    return log(f"_staged_commits/{version:020d}.{UUID}.json")


def temp(version: int) -> str:
    return log(f".tmp/{version:020d}.json.{UUID}")


def in_a_day() -> dict[str, str]:
    return {"N": str(int(time.time()) + 86_400)}


def coordinated(written: Any, connection: Any, commits: int = 6) -> tuple[str, dict[str, Any]]:
    """A coordinated table of versions 0 to `commits` - 1: its store, and its item as it stands."""
    store = written.coordinator()
    connection.stores.create(name=store, kind="commit_coordinator")
    written.coordinated(ORDERS, store, commits=commits)
    return store, written.dynamodb.scan(TableName=store)["Items"][0]


def accept(written: Any, store: str, item: dict[str, Any], version: int, body: bytes, *, last: bool = False) -> None:
    """The coordinator accepts one more commit; the `last` one takes the table from it."""
    written.put(staged(version), body)
    listed = coordinator_commit(version, fsLength={"N": str(len(body))})
    changed = {"tableVersion": {"N": str(version)}, "commits": {"L": [listed]}, "acceptingCommits": {"BOOL": not last}}
    written.dynamodb.put_item(TableName=store, Item={**item, **changed})


def open_codes() -> set[str]:
    return set(TableFinding.objects.filter(resolved_at=None).values_list("code", flat=True))


def criticals() -> list[tuple[str, int | None]]:
    return list(TableFinding.objects.filter(resolved_at=None, severity="critical").values_list("code", "version"))


def the_table() -> DeltaTable:
    return DeltaTable.objects.get()


def state() -> str:
    return the_table().state
