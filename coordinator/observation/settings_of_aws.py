"""Reading what commits depend on: settings of the commit stores and of the buckets."""

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from coordinator.models import Bucket, CommitStore, DeltaTable, Observed, Watch
from coordinator.protocols.buckets import diagnose_bucket
from coordinator.protocols.stores import diagnose_store
from coordinator.protocols.verdict import State
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.buckets import describe_bucket
from lake.aws.errors import AwsError
from lake.delta.uri import TableUri

SETTINGS_EVERY = timedelta(minutes=5)
"""How often settings are read: they change by hand, and some of these calls are limited to a few a second."""


def observe_stores(connection: Connection, lake: Lake, now: datetime) -> None:
    """Describe each commit store whose settings were not read lately; a refusal is stored with the store."""
    for store in CommitStore.objects.filter(connection=connection):
        if _is_due(store, now):
            _observe(store, now, lambda store=store: _read_store(store, lake))  # type: ignore[misc]


def observe_buckets(connection: Connection, lake: Lake, now: datetime) -> None:
    """Describe each bucket that holds a table or a watched prefix and was not read lately."""
    names = set(DeltaTable.objects.filter(connection=connection).values_list("bucket", flat=True).distinct())
    names |= {TableUri.parse(watch.uri).bucket for watch in Watch.objects.filter(connection=connection)}
    for name in sorted(names):
        bucket, _ = Bucket.objects.get_or_create(connection=connection, name=name)
        if _is_due(bucket, now):
            _observe(bucket, now, lambda bucket=bucket: _read_bucket(bucket, lake))  # type: ignore[misc]


def _is_due(row: Observed, now: datetime) -> bool:
    return row.observed_at is None or row.error_at is not None or now - row.observed_at >= SETTINGS_EVERY


def _observe(row: Observed, now: datetime, read: Callable[[], tuple[dict[str, Any], State, str]]) -> None:
    try:
        row.facts, state, row.summary = read()  # type: ignore[attr-defined]
    except AwsError as error:
        state, row.summary = State.NOT_CHECKED, f"The last check failed: {error}"
        row.error_at, row.error_code, row.error_text = now, error.code, str(error)
    else:
        row.observed_at, row.error_at, row.error_code, row.error_text = now, None, "", ""
    row.state, row.state_rank = state.value, state.rank
    row.save(
        update_fields=[field.name for field in Observed._meta.fields] + (["facts"] if row.error_at is None else [])
    )


def _read_store(store: CommitStore, lake: Lake) -> tuple[dict[str, Any], State, str]:
    description = lake.dynamodb.describe(store.name)
    state, summary, findings = diagnose_store(store.kind, description)
    return {**_as_json(description), "findings": [_as_json(finding) for finding in findings]}, state, summary


def _read_bucket(bucket: Bucket, lake: Lake) -> tuple[dict[str, Any], State, str]:
    description = describe_bucket(lake, bucket.name)
    prefixes = tuple(
        DeltaTable.objects.filter(connection=bucket.connection, bucket=bucket.name, gone_at=None)
        .values_list("prefix", flat=True)
        .order_by("prefix")
    )
    state, summary, findings = diagnose_bucket(description, prefixes)
    return {**_as_json(description), "findings": [_as_json(finding) for finding in findings]}, state, summary


def _as_json(record: Any) -> dict[str, Any]:
    as_json: dict[str, Any] = json.loads(json.dumps(asdict(record), default=str))
    return as_json
