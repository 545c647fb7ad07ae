"""Reading what commits depend on: settings of the commit stores and of the buckets."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from coordinator.models import Bucket, CommitStore, DeltaTable, Observed, Watch
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

Described = TypeVar("Described")
Judged = tuple[dict[str, Any], State, str]

SETTINGS_EVERY = timedelta(minutes=5)
"""How often settings are read: they change by hand, and some of these calls are limited to a few a second."""


def observe_stores(connection: Connection, lake: Lake, now: datetime, workers: Workers) -> None:
    """Describe each commit store whose settings were not read lately; a refusal is stored with the store."""
    for store in CommitStore.objects.filter(connection=connection):
        if _is_due(store, now):
            _observe(
                store,
                now,
                partial(workers.run, partial(lake.dynamodb.describe, store.name)),
                partial(_judge_store, store),
            )


def observe_buckets(connection: Connection, lake: Lake, now: datetime, workers: Workers) -> None:
    """Describe each bucket that holds a table or a watched prefix and was not read lately."""
    names = set(DeltaTable.objects.filter(connection=connection).values_list("bucket", flat=True).distinct())
    names |= {uri.bucket for watch in Watch.objects.filter(connection=connection) if (uri := table_uri(watch.uri))}
    for name in sorted(names):
        bucket, _ = Bucket.objects.get_or_create(connection=connection, name=name)
        if _is_due(bucket, now):
            _observe(
                bucket,
                now,
                partial(workers.run, partial(describe_bucket, lake, bucket.name)),
                partial(_judge_bucket, bucket),
            )


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


def _judge_store(store: CommitStore, description: StoreDescription) -> Judged:
    state, summary, findings = diagnose_store(store.kind, description)
    return {**_as_json(description), "findings": [_as_json(finding) for finding in findings]}, state, summary


def _judge_bucket(bucket: Bucket, description: BucketDescription) -> Judged:
    tables = DeltaTable.objects.filter(connection=bucket.connection, bucket=bucket.name, gone_at=None)
    placed = tuple(
        TableInBucket(prefix, oldest)
        for prefix, oldest in tables.values_list("prefix", "oldest_unpublished_at").order_by("prefix")
    )
    state, summary, findings = diagnose_bucket(description, placed)
    return {**_as_json(description), "findings": [_as_json(finding) for finding in findings]}, state, summary


def _as_json(record: object) -> dict[str, Any]:
    as_json: dict[str, Any] = clean_json(record)
    return as_json
