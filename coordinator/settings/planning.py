"""From a change to its plan: read what it rests on, then plan. The same for a page and the worker that applies it."""

from collections.abc import Callable
from datetime import datetime

from changes.plan import ChangePlan, Refusal
from coordinator.models import CommitStore, DeltaTable, TtlMigration
from coordinator.settings.lifecycle_plans import BucketFacts, plan_lifecycle
from coordinator.settings.requests import (
    ChangeRequest,
    CleanWriterTest,
    NotPlanned,
    OfBucket,
    SetTempRule,
    Sweep,
)
from coordinator.settings.store_calls import describe
from coordinator.settings.store_facts import StoreFacts
from coordinator.settings.store_plans import plan_store
from coordinator.settings.sweep_plans import plan_sweep
from coordinator.settings.views_of import capacity_advice, tables_before_ttl
from coordinator.writer_tests.cleaning import plan_clean
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.buckets import describe_bucket
from lake.aws.errors import AwsError
from lake.aws.identity import caller
from lake.aws.lifecycle import is_owned_by, read_lifecycle

MOST_COMMITS = 5_000
"""Newest commits of a table among which the longest is looked for."""


def plan_now(
    connection: Connection,
    lake: Lake,
    change: ChangeRequest,
    now: datetime,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ChangePlan | Refusal:
    """Read and plan; nothing is changed. Raises AwsError where the store or bucket cannot be read at all."""
    try:
        return _plan(connection, lake, change, now, progress)
    except NotPlanned as refused:
        return Refusal(change.ACT, change.subject, str(refused), refused.why)


def _plan(
    connection: Connection, lake: Lake, change: ChangeRequest, now: datetime, progress: Callable[[int, int], None]
) -> ChangePlan:
    if isinstance(change, Sweep):
        return plan_sweep(change, connection, lake, now, progress)
    if isinstance(change, CleanWriterTest):
        return plan_clean(change, connection, lake, now)
    if isinstance(change, OfBucket):
        prefix = change.prefix if isinstance(change, SetTempRule) else ""
        facts = read_bucket(connection, lake, change.bucket, prefix)
        return plan_lifecycle(change, facts, now)
    return plan_store(change, read_store(connection, lake, change.name, now))


def read_store(connection: Connection, lake: Lake, store_name: str, now: datetime) -> StoreFacts:
    """One DynamoDB table and what is known of the entries in it. Raises AwsError where it cannot be described."""
    store = CommitStore.objects.filter(connection=connection, name=store_name).first()
    found = describe(lake, store_name)
    if store is None:
        return StoreFacts(store_name, connection.region, found, account=account_of(lake))
    return StoreFacts(
        name=store_name,
        region=connection.region,
        description=found,
        kind=store.kind,
        account=account_of(lake) if found is None else "",
        is_migrating=TtlMigration.objects.filter(store=store, finished_at=None).exists(),
        before_ttl=tuple(table.name for table in tables_before_ttl(store)),
        advice=capacity_advice(store, now),
    )


def read_bucket(connection: Connection, lake: Lake, bucket: str, prefix: str = "") -> BucketFacts:
    """One bucket, its rules byte for byte, and what is known of its tables; `prefix` is the table that is asked about.

    Raises AwsError where the bucket is missing or unreachable.
    """
    account = account_of(lake)
    described = describe_bucket(lake, bucket)
    lifecycle, unreadable = None, ""
    try:
        lifecycle = read_lifecycle(lake, bucket)
    except AwsError as error:
        unreadable = str(error)
    tables = DeltaTable.objects.filter(connection=connection, bucket=bucket, gone_at=None)
    return BucketFacts(
        bucket=bucket,
        region=described.region,
        lifecycle=lifecycle,
        unreadable=unreadable,
        account=account,
        owned=is_owned_by(lake, bucket, account) if account else None,
        versioning=described.versioning,
        mfa_delete=described.mfa_delete,
        tables=dict(tables.values_list("prefix", "oldest_unpublished_at")),
        longest_commits={table.prefix: _longest_commit(table) for table in tables.filter(prefix=prefix)},
    )


def account_of(lake: Lake) -> str:
    """The account of the connection's identity, "" where STS does not say."""
    try:
        return caller(lake.services).account
    except AwsError:
        return ""


def _longest_commit(table: DeltaTable) -> float:
    """Seconds from a commit's temp file to its published file, the longest of those that are known."""
    written = table.entries.exclude(written_at=None).filter(published=True).order_by("-version")[:MOST_COMMITS]
    begun = dict(written.values_list("version", "written_at"))
    ended = table.commits.filter(version__in=list(begun)).exclude(modified_at=None)
    pairs = ((begun[version], at) for version, at in ended.values_list("version", "modified_at"))
    return max(((at - since).total_seconds() for since, at in pairs if since and at), default=0.0)
