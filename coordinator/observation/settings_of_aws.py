"""Reading what commits depend on: settings of the commit stores and of the buckets."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from django.db.models import OuterRef, Subquery

from coordinator.models import Bucket, Commit, CommitStore, DeltaTable, Observed, Watch
from coordinator.observation.failures import failure_of
from coordinator.observation.storable import clean_json, make_storable
from coordinator.observation.surveys import table_uri
from coordinator.observation.workers import Workers
from coordinator.protocols.buckets import TableInBucket, diagnose_bucket
from coordinator.protocols.stores import diagnose_store
from coordinator.protocols.verdict import State
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.buckets import BucketDescription, describe_bucket
from lake.aws.dynamodb import StoreDescription
from lake.aws.errors import AwsError
from lake.aws.load import read_load

Described = TypeVar("Described")
ReadStore = tuple[StoreDescription, dict[str, Any]]
Judged = tuple[dict[str, Any], State, str]

LOAD_OVER = timedelta(days=1)
"""How far back throttled requests are counted."""

SETTINGS_EVERY = timedelta(minutes=5)
"""How often settings are read: they change by hand, and some of these calls are limited to a few a second."""


def observe_stores(connection: Connection, lake: Lake, now: datetime, workers: Workers) -> None:
    """Describe each commit store whose settings were not read lately; a refusal is stored with the store."""
    for store in CommitStore.objects.filter(connection=connection):
        if _is_due(store, now):
            _observe(
                store,
                now,
                partial(workers.run, _reader(connection, store, lake, now)),
                partial(_judge_store, store, now),
            )


def observe_buckets(
    connection: Connection, lake: Lake, now: datetime, workers: Workers, *, tables_changed: bool
) -> None:
    """Describe each bucket that holds a table or a watched prefix and was not read lately.

    The others are judged anew where `tables_changed`, so that none is called healthy for want of a table found since.
    """
    names = set(DeltaTable.objects.filter(connection=connection).values_list("bucket", flat=True).distinct())
    names |= {uri.bucket for watch in Watch.objects.filter(connection=connection) if (uri := table_uri(watch.uri))}
    for name in sorted(names):
        bucket, _ = Bucket.objects.get_or_create(connection=connection, name=name)
        if _is_due(bucket, now):
            _observe(
                bucket,
                now,
                partial(workers.run, partial(describe_bucket, lake, bucket.name)),
                partial(_judge_bucket, bucket, now),
            )
        elif tables_changed:
            judge_bucket_again(bucket, now)


def judge_bucket_again(bucket: Bucket, now: datetime) -> None:
    """Judge a bucket by its tables of now and its settings as last read; a reading that came meanwhile stands."""
    if not bucket.facts:
        return
    bucket.facts, state, bucket.summary = _judge_bucket(bucket, now, bucket.facts)
    bucket.state, bucket.state_rank = state.value, state.rank
    make_storable(bucket)
    judged = {name: getattr(bucket, name) for name in ("facts", "state", "state_rank", "summary")}
    same_reading = Bucket.objects.filter(pk=bucket.pk, observed_at=bucket.observed_at, error_at=None)
    same_reading.update(**judged)


def observe_store_now(store: CommitStore, lake: Lake, now: datetime) -> str:
    """Describe one store, whenever it was last read, and return its sentence; a refusal is stored with it."""
    _observe(store, now, _reader(store.connection, store, lake, now), partial(_judge_store, store, now))
    return store.summary


def observe_bucket_now(bucket: Bucket, lake: Lake, now: datetime) -> str:
    """Describe one bucket, whenever it was last read, and return its sentence; a refusal is stored with it."""
    _observe(bucket, now, partial(describe_bucket, lake, bucket.name), partial(_judge_bucket, bucket, now))
    return bucket.summary


def _is_due(row: Observed, now: datetime) -> bool:
    return row.observed_at is None or row.error_at is not None or now - row.observed_at >= SETTINGS_EVERY


def _observe(row: Observed, now: datetime, read: Callable[[], Described], judge: Callable[[Described], Judged]) -> None:
    try:
        row.facts, state, row.summary = judge(read())  # type: ignore[attr-defined]
    except Exception as error:  # noqa: BLE001 - the trouble of one store or bucket must not end the pass
        failure = failure_of(error, f"Reading the settings of {row}")
        state, row.summary = State.NOT_CHECKED, f"The last check failed: {failure}"
        row.error_at, row.error_code, row.error_text = now, failure.code, failure.text
    else:
        row.observed_at, row.error_at, row.error_code, row.error_text = now, None, "", ""
    row.state, row.state_rank = state.value, state.rank
    make_storable(row)
    names = [field.attname for field in Observed._meta.fields] + (["facts"] if row.error_at is None else [])
    # Not save(): the row may have been removed meanwhile.
    type(row)._default_manager.filter(pk=row.pk).update(**{name: getattr(row, name) for name in names})


def _reader(connection: Connection, store: CommitStore, lake: Lake, now: datetime) -> Callable[[], ReadStore]:
    """A DynamoDB of the connection's own endpoint has no CloudWatch that counts for it."""
    return partial(_describe_store, store.name, lake, now, counted=not connection.dynamodb_endpoint_url)


def _describe_store(name: str, lake: Lake, now: datetime, *, counted: bool) -> ReadStore:
    """The settings, and the load as CloudWatch counted it: {} where it may not be read, or counts nothing."""
    description = lake.dynamodb.describe(name)
    if not counted:
        return description, {}
    try:
        return description, _as_json(read_load(lake.services, name, now - LOAD_OVER, now))
    except AwsError as error:
        return description, {"unread": str(error)}


def _judge_store(store: CommitStore, now: datetime, read: ReadStore) -> Judged:
    description, load = read
    state, summary, findings = diagnose_store(store.kind, description)
    facts = {**_as_json(description), "findings": [_as_json(finding) for finding in findings], "load": load}
    return facts | _ttl_since(store.facts, facts, now), state, summary


def _ttl_since(before: object, facts: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Since when TTL has been as it is. DynamoDB does not say; exact is only a change that Levee saw happen."""
    known = before if isinstance(before, Mapping) else {}
    same = all(known.get(name) == facts.get(name) for name in ("ttl_status", "ttl_attribute"))
    if known.get("ttl_since") and same:
        return {name: known.get(name) for name in ("ttl_since", "ttl_since_is_exact")}
    return {"ttl_since": now.isoformat(), "ttl_since_is_exact": "ttl_status" in known}


def _judge_bucket(bucket: Bucket, now: datetime, description: BucketDescription | Mapping[str, Any]) -> Judged:
    state, summary, findings = diagnose_bucket(
        description, tables_in(bucket), now=now, stores_region=bucket.connection.region
    )
    return {**_as_json(description), "findings": [_as_json(finding) for finding in findings]}, state, summary


def tables_in(bucket: Bucket) -> tuple[TableInBucket, ...]:
    """The tables of a bucket with the oldest of their commits, unpublished and published."""
    tables = DeltaTable.objects.filter(connection=bucket.connection_id, bucket=bucket.name, gone_at=None)
    oldest = Commit.objects.filter(table=OuterRef("pk")).exclude(modified_at=None).order_by("modified_at")
    rows = tables.annotate(oldest_log=Subquery(oldest.values("modified_at")[:1])).order_by("prefix")
    return tuple(
        TableInBucket(prefix, unpublished, oldest_log)
        for prefix, unpublished, oldest_log in rows.values_list("prefix", "oldest_unpublished_at", "oldest_log")
    )


def _as_json(record: object) -> dict[str, Any]:
    as_json: dict[str, Any] = clean_json(record)
    return as_json
