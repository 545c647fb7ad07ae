"""Short keyword builders for rows of the lake. Everything not named gets an ordinary, healthy value."""

from datetime import UTC, datetime, timedelta
from typing import Any

from coordinator.models import Bucket, Commit, CommitStore, DeltaTable, Entry, ObservationPass, TableFinding
from coordinator.protocols.verdict import Severity, State
from dashboard.connections.models import Connection
from lake.delta.facts import Mechanism

NOW = datetime(2026, 11, 20, 9, 42, 7, tzinfo=UTC)


LOG_STORE = Mechanism.LOG_STORE


def make_connection(name: str = "prod", **fields: Any) -> Connection:
    values = {"region": "eu-west-1"} | fields
    return Connection.objects.get_or_create(name=name, defaults=values)[0]


def make_store(name: str = "delta_log", **fields: Any) -> CommitStore:
    connection = fields.pop("connection", None) or make_connection()
    values = {"kind": CommitStore.Kind.LOG_STORE, "observed_at": NOW, "facts": store_facts(name=name)}
    return CommitStore.objects.create(connection=connection, name=name, **_judged(values | fields))


def make_bucket(name: str = "lake", **fields: Any) -> Bucket:
    connection = fields.pop("connection", None) or make_connection()
    values = {"observed_at": NOW, "facts": bucket_facts(name=name)}
    return Bucket.objects.create(connection=connection, name=name, **_judged(values | fields))


def _domain(uri: str, fields: dict[str, Any]) -> dict[str, str]:
    """The lock domain of a table of a log store, as it is stored."""
    return {"store": getattr(fields.get("store"), "name", "delta_log"), "path": uri}


def make_table(uri: str = "s3a://lake/sales/orders", **fields: Any) -> DeltaTable:
    connection = fields.pop("connection", None) or make_connection()
    bucket, _, prefix = uri.removeprefix("s3a://").partition("/")
    values = {
        "bucket": bucket,
        "prefix": prefix,
        "name": ".".join(prefix.split("/")[-2:]),
        "mechanism": Mechanism.LOG_STORE,
        "lock_domains": [_domain(uri, fields)] if fields.get("mechanism", LOG_STORE) == LOG_STORE else [],
        "published_version": 41,
        "accepted_version": 41,
        "oldest_version": 0,
        "last_commit_at": NOW - timedelta(minutes=17),
        "observed_at": NOW,
    }
    return DeltaTable.objects.create(connection=connection, uri=uri, **_judged(values | fields))


def make_commit(table: DeltaTable, version: int = 41, **fields: Any) -> Commit:
    values = {"published": True, "size": 3871, "modified_at": NOW, "operation": "WRITE", "engine": "Apache-Spark/4.0.1"}
    return Commit.objects.create(table=table, version=version, **values | fields)


def make_entry(table: DeltaTable, version: int = 41, **fields: Any) -> Entry:
    store = fields.pop("store", None) or table.store or _any_store(table)
    values = {
        "lock_domain": table.uri,
        "code": "C5",
        "published": True,
        "complete": True,
        "file": f".tmp/{version:020d}.json.7f3c9b52",
        "file_present": True,
        "file_size": 3871,
        "expire_time": int((NOW + timedelta(days=1)).timestamp()),
        "written_at": NOW,
        "observed_at": NOW,
    }
    return Entry.objects.create(table=table, store=store, version=version, **values | fields)


def make_pending(table: DeltaTable, version: int = 42, **fields: Any) -> Entry:
    """An entry as a writer leaves it that stopped after DynamoDB accepted its commit (C2)."""
    return make_entry(
        table, version, **{"code": "C2", "published": False, "complete": False, "expire_time": None} | fields
    )


def make_finding(table: DeltaTable, code: str = "C2", version: int | None = 42, **fields: Any) -> TableFinding:
    state = State(fields.pop("state", State.PENDING))
    values = {
        "severity": Severity.WARNING,
        "summary": f"Commit {version} is accepted but not published.",
        "opened_at": NOW,
        "seen_at": NOW,
    }
    return TableFinding.objects.create(
        table=table,
        code=code,
        version=version,
        key=f"{code}@{version}",
        state=state,
        state_rank=state.rank,
        **values | fields,
    )


def make_pass(connection: Connection | None = None, **fields: Any) -> ObservationPass:
    values = {"started_at": NOW - timedelta(seconds=3), "finished_at": NOW}
    return ObservationPass.objects.create(connection=connection or make_connection(), **values | fields)


def store_facts(**fields: Any) -> dict[str, Any]:
    """A StoreDescription as JSON: on demand, TTL on expireTime, guarded."""
    facts = {
        "name": "delta_log",
        "arn": "arn:aws:dynamodb:eu-west-1:111122223333:table/delta_log",
        "status": "ACTIVE",
        "key_schema": [["tablePath", "HASH", "S"], ["fileName", "RANGE", "S"]],
        "billing": "on_demand",
        "read_capacity": None,
        "write_capacity": None,
        "item_count": 241_306,
        "size_bytes": 118_000_000,
        "created_at": "2024-03-01T08:00:00+00:00",
        "deletion_protection": True,
        "ttl_status": "ENABLED",
        "ttl_attribute": "expireTime",
        "point_in_time_recovery": True,
        "unknown": [],
    }
    return facts | fields


def bucket_facts(**fields: Any) -> dict[str, Any]:
    """A BucketDescription as JSON: versioned, without lifecycle rules."""
    facts = {
        "name": "lake",
        "region": "eu-west-1",
        "versioning": "Enabled",
        "mfa_delete": False,
        "lifecycle_rules": [],
        "replication": False,
        "unknown": [],
    }
    return facts | fields


def _judged(values: dict[str, Any]) -> dict[str, Any]:
    """The state with its rank beside it, healthy unless named."""
    state = State(values.get("state", State.HEALTHY))
    return values | {"state": state, "state_rank": state.rank}


def _any_store(table: DeltaTable) -> CommitStore:
    existing = CommitStore.objects.filter(connection=table.connection).first()
    return existing or make_store(connection=table.connection)
