"""Lakes whose accepted commits are lost, or look as if they were, for passes to read."""

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


def in_a_day() -> dict[str, str]:
    return {"N": str(int(time.time()) + 86_400)}


def drop(written: Any, *versions: int) -> None:
    """What TTL does to entries, or somebody by hand."""
    for version in versions:
        key = {"tablePath": {"S": written.uri(ORDERS)}, "fileName": {"S": f"{version:020d}.json"}}
        written.dynamodb.delete_item(TableName=written.log_store, Key=key)


def wipe(written: Any) -> None:
    """Drop the table by hand: every object of it goes, and its items stay."""
    for found in written.s3.list_objects_v2(Bucket=written.bucket, Prefix=f"{ORDERS}/").get("Contents", []):
        written.delete(found["Key"])


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


def expire_after(written: Any, prefix: str, days: int = 5) -> None:
    rule = {"ID": "r", "Status": "Enabled", "Filter": {"Prefix": prefix}, "Expiration": {"Days": days}}
    written.s3.put_bucket_lifecycle_configuration(Bucket=written.bucket, LifecycleConfiguration={"Rules": [rule]})


def criticals() -> list[tuple[str, int | None]]:
    return list(TableFinding.objects.filter(resolved_at=None, severity="critical").values_list("code", "version"))


def state() -> str:
    return DeltaTable.objects.get(prefix=ORDERS).state
