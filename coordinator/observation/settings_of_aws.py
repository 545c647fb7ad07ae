"""Reading what commits depend on: settings of the commit stores and of the buckets."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from coordinator.models import Bucket, CommitStore, DeltaTable, Observed, Watch
from coordinator.observation.bucket_contents import tables_in
from coordinator.observation.failures import failure_of
from coordinator.observation.workers import Workers
from coordinator.protocols.buckets import judge_bucket
from coordinator.protocols.deadlines import read_moment
from coordinator.protocols.judgement import unread_facts
from coordinator.protocols.stores import diagnose_store
from coordinator.protocols.verdict import State
from coordinator.settings.rule_reach import view_of_rules
from dashboard.connections.models import Connection
from dashboard.connections.owners import keep_owner
from dashboard.storable import clean_json, make_storable
from lake.aws.access import Lake
from lake.aws.buckets import BucketDescription, describe_bucket
from lake.aws.dynamodb import StoreDescription
from lake.aws.errors import AwsError
from lake.aws.store_description import read_load
from lake.delta.uri import table_uri

Described = TypeVar("Described")
Place = TypeVar("Place", CommitStore, Bucket)
Run = Callable[[Callable[[], Any]], Any]
"""Has a request made, by a thread of a pass or at once."""
ReadStore = tuple[StoreDescription, dict[str, object]]
Judged = tuple[dict[str, object], State, str]

LOAD_OVER = timedelta(days=1)
"""How far back throttled requests are counted."""

MOST_DEADLINES = 100
"""Deadlines that are kept with a bucket, the soonest."""

_PARTS_OF_BUCKET = {
    "versioning": ("versioning", "mfa_delete"),
    "lifecycle": ("lifecycle_rules", "least_size_moved"),
    "archive tiers": ("tiering",),
    "replication": ("replication",),
}
"""Facts of a bucket as a refusal names them, and where they are kept."""

SETTINGS_EVERY = timedelta(minutes=5)
"""How often settings are read: they change by hand, and some of these calls are limited to a few a second."""


def observe_stores(connection: Connection, lake: Lake, now: datetime, workers: Workers) -> None:
    """Describe each commit store whose settings were not read lately; a refusal is stored with the store."""
    for store in CommitStore.objects.filter(connection=connection).select_related("connection"):
        if _is_due(store, now):
            observe_store(store, lake, now, workers.run)


def observe_buckets(
    connection: Connection, lake: Lake, now: datetime, workers: Workers, *, tables_changed: bool
) -> None:
    """Describe each bucket that holds a table or a watched prefix and was not read lately.

    The others are judged anew where `tables_changed` or a deadline has drawn nearer, so that none is called healthy for
    want of a table found since, or because nothing has changed but the time.
    """
    names = set(DeltaTable.objects.filter(connection=connection).values_list("bucket", flat=True).distinct())
    names |= {uri.bucket for watch in Watch.objects.filter(connection=connection) if (uri := table_uri(watch.uri))}
    for name in sorted(names):
        bucket, _ = Bucket.objects.get_or_create(connection=connection, name=name)
        if _is_due(bucket, now):
            keep_owner(connection, lake, name)
            observe_bucket(bucket, lake, now, workers.run)
        elif tables_changed or _has_changed_by_clock(bucket, now):
            judge_bucket_again(bucket, now)


def judge_by_clock(now: datetime) -> int:
    """Judge anew each bucket of which a deadline has drawn nearer by a grade since, without AWS; returns how many."""
    due = [bucket for bucket in Bucket.objects.select_related("connection") if _has_changed_by_clock(bucket, now)]
    for bucket in due:
        judge_bucket_again(bucket, now)
    return len(due)


def _has_changed_by_clock(bucket: Bucket, now: datetime) -> bool:
    moment = read_moment(bucket.facts.get("judge_again_at"))
    return moment is not None and moment <= now


def judge_bucket_again(bucket: Bucket, now: datetime) -> None:
    """Judge a bucket by its tables of now and its settings as last read; a reading that came meanwhile stands.

    Where the last reading failed, the bucket stays not checked, and only its findings and deadlines are brought up.
    """
    if not bucket.facts:
        return
    bucket.facts, state, summary = _judge_bucket(bucket, now, bucket.facts)
    if bucket.error_at is None:
        bucket.state, bucket.state_rank, bucket.summary = state.value, state.rank, summary
    make_storable(bucket)
    judged = {name: getattr(bucket, name) for name in ("facts", "state", "state_rank", "summary")}
    same_reading = Bucket.objects.filter(pk=bucket.pk, observed_at=bucket.observed_at, error_at=bucket.error_at)
    same_reading.update(**judged)


def _run_here(read: Callable[[], Described]) -> Described:
    return read()


def observe_store(store: CommitStore, lake: Lake, now: datetime, run: Run = _run_here) -> str:
    """Describe one store and return its sentence; a refusal is stored with it."""
    return _observe(store, now, partial(run, partial(_describe_store, store, lake, now)), _judge_store)


def observe_bucket(bucket: Bucket, lake: Lake, now: datetime, run: Run = _run_here) -> str:
    """Describe one bucket and return its sentence; a refusal is stored with it."""
    return _observe(bucket, now, partial(run, partial(describe_bucket, lake, bucket.name)), _judge_bucket)


def _is_due(row: Observed, now: datetime) -> bool:
    return row.observed_at is None or row.error_at is not None or now - row.observed_at >= SETTINGS_EVERY


def _observe(
    row: Place, now: datetime, read: Callable[[], Described], judge: Callable[[Place, datetime, Described], Judged]
) -> str:
    try:
        row.facts, state, row.summary = judge(row, now, read())
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
    return row.summary


def _describe_store(store: CommitStore, lake: Lake, now: datetime) -> ReadStore:
    """The settings, and the load as CloudWatch counted it: {} for a DynamoDB of the connection's own endpoint."""
    description = lake.dynamodb.describe(store.name)
    if store.connection.dynamodb_endpoint_url:
        return description, {}
    try:
        return description, _as_json(read_load(lake.services, store.name, now - LOAD_OVER, now))
    except AwsError as error:
        return description, {"unread": str(error)}


def _judge_store(store: CommitStore, now: datetime, read: ReadStore) -> Judged:
    description, load = read
    described = _as_json(description)
    state, summary, findings = diagnose_store(store.kind, described)
    facts = {**described, "findings": [_as_json(finding) for finding in findings], "load": load}
    return facts | _ttl_since(store.facts, facts, now), state, summary


def _ttl_since(known: Mapping[str, Any], facts: Mapping[str, Any], now: datetime) -> dict[str, object]:
    """Since when TTL has been as it is. DynamoDB does not say; exact is only a change that Levee saw happen."""
    same = all(known.get(name) == facts.get(name) for name in ("ttl_status", "ttl_attribute"))
    if known.get("ttl_since") and same:
        return {name: known.get(name) for name in ("ttl_since", "ttl_since_is_exact")}
    return {"ttl_since": now.isoformat(), "ttl_since_is_exact": "ttl_status" in known}


def _judge_bucket(bucket: Bucket, now: datetime, description: BucketDescription | Mapping[str, Any]) -> Judged:
    facts = _with_facts_read_before(_as_json(description), bucket.facts)
    tables = tables_in(bucket)
    verdict = judge_bucket(facts, tables, now=now, stores_region=bucket.connection.region)
    rules: Any = facts.get("lifecycle_rules") or ()
    state, summary, findings = verdict.assessment
    judged = {
        "findings": [_as_json(finding) for finding in findings],
        "deadlines": [_as_json(deadline) for deadline in verdict.deadlines[:MOST_DEADLINES]],
        "deadlines_in_all": len(verdict.deadlines),
        "judge_again_at": verdict.judge_again_at.isoformat() if verdict.judge_again_at else None,
        "lifecycle": _as_json(view_of_rules(rules, tables, now, str(facts.get("least_size_moved") or ""))),
    }
    return {**facts, **judged}, state, summary


def _with_facts_read_before(facts: dict[str, object], known: Mapping[str, Any]) -> dict[str, object]:
    """The facts, and in place of one that was refused what was read of it before: a refusal makes no hazard go away."""
    names = [name for refused in unread_facts(facts) for name in _PARTS_OF_BUCKET.get(refused, ())]
    return {**facts, **{name: known[name] for name in names if name in known}}


def _as_json(record: object) -> dict[str, object]:
    as_json: dict[str, object] = clean_json(record)
    return as_json
