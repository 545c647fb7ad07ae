"""What the lake loses by waiting: entries that expire over files that are not there, and what S3 takes on its own."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.urls import reverse

from coordinator.models import Bucket, CommitStore, DeltaTable, Entry, ObservationPass, TableFinding, TtlMigration
from coordinator.observation.settings_of_aws import MOST_DEADLINES
from coordinator.protocols.deadlines import AtRisk
from coordinator.protocols.judgement import unread_facts
from coordinator.protocols.stores import TTL_ATTRIBUTE
from coordinator.protocols.verdict import State
from coordinator.protocols.wording import counted, thousands, verb
from coordinator.queries.deadlines import DeadlineRow, deadlines_of
from dashboard.connections.models import Connection
from dashboard.deadlines.judging import MOST, register_source
from dashboard.deadlines.models import Due, DueKind

_STOPS: Mapping[AtRisk, str] = {
    AtRisk.UNPUBLISHED: "Publish the commit, or disable the rule.",
    AtRisk.LAST_COPY: "Copy the file to another prefix, or disable the rule.",
    AtRisk.LOST: "Bring the lost file back, or disable the rule.",
    AtRisk.LOG: "Narrow the rule, or disable it.",
    AtRisk.DATA: "Narrow the rule, or disable it.",
}


def expiring_entries(now: datetime) -> Iterator[Due]:
    """Of each table the entry of a version that is not published which TTL may take first."""
    # Of a table in less trouble every entry is published, or has no time to expire.
    tables = DeltaTable.objects.filter(gone_at=None, state_rank__lte=State.NOT_CHECKED.rank)
    # Entries of a log that is empty only stand in the way of a new table.
    tables = tables.exclude(
        pk__in=TableFinding.objects.filter(code="leftover-entries", resolved_at=None).values("table")
    )
    yield from _unchecked(tables)
    entries = Entry.objects.filter(table__in=tables, published=False, expire_time__isnull=False)
    moving = set(TtlMigration.objects.filter(finished_at=None).values_list("store", flat=True))
    by_table: defaultdict[int, list[Entry]] = defaultdict(list)
    for entry in entries.select_related("table", "store").order_by("expire_time", "version").iterator(chunk_size=1_000):
        if entry.expires_at and (entry.store_id in moving or _may_expire(entry.store)):
            by_table[entry.table_id].append(entry)
    soonest = list(by_table)[: MOST + 1]  # One more than is kept, so that the rest is told of
    for number in soonest:
        yield _of_entries(by_table[number], now)


def _unchecked(tables: "QuerySet[DeltaTable]") -> Iterator[Due]:
    """A row for each connection that was not looked at, or of which not every table was."""
    looks = ObservationPass.objects.filter(finished_at__isnull=False, error_code="")
    for one in Connection.objects.exclude(pk__in=looks.values("connection")):
        yield _not_known(one, "connection", f"{one.name} was not looked at yet", reverse("connection", args=[one.pk]))
    is_open = Q(state_rank=State.NOT_CHECKED.rank) | Q(entries__code="unknown", entries__expire_time__isnull=False)
    numbers = tables.filter(is_open).order_by().values("connection").annotate(count=Count("pk", distinct=True))
    counts = dict(numbers.values_list("connection", "count"))
    for one in Connection.objects.filter(pk__in=counts):
        path = reverse("tables", query={"state": "not_checked", "connection": one.name})
        yield _not_known(one, "tables", f"entries of {counted(counts[one.pk], 'table')} not checked", path)


def _not_known(connection: Connection, key: str, what: str, act_path: str) -> Due:
    return Due(
        key=f"{key}:{connection.pk}",
        kind=DueKind.UNKNOWN,
        state=State.NOT_CHECKED,
        happens=f"Unknown: {what}",
        lost="Whether an entry expires over a file that is not there is not known.",
        stops="See why they are not checked.",
        act_path=act_path,
        subject=connection.name,
        path=reverse("connection", args=[connection.pk]),
        connection=connection,
    )


def _may_expire(store: CommitStore) -> bool:
    """False only where TTL is known to be off, or to go by another attribute."""
    return store.facts.get("ttl_status") != "DISABLED" and store.ttl_attribute in ("", TTL_ATTRIBUTE)


def _of_entries(entries: Sequence[Entry], now: datetime) -> Due:
    first, table = entries[0], entries[0].table
    at, version = first.expires_at, thousands(first.version)
    expires = "may go at any moment" if at and at <= now else "expires"
    lost = f"DynamoDB then no longer says which file was accepted as version {version}."
    if table.published_version is None or first.version > table.published_version:
        lost = f"The next commit takes version {version} with other rows; those of this one are lost without an error."
    if more := len({entry.version for entry in entries}) - 1:
        lost += f" {counted(more, 'more entry', 'more entries')} of the table {verb(more, 'follows', 'follow')}."
    if not first.store.ttl_attribute:
        lost += " If TTL is on: how it stands was not read."
    return _due(
        "table",
        table,
        "entry",
        kind=DueKind.ENTRY,
        at=at,
        state=table.state,
        happens=f"Entry {version} {expires}, and …{first.version}.json is not there",
        lost=lost,
        stops=f"What the table's page says to do about version {version}.",
        act_path=reverse("table-commit", args=[table.pk, first.version]),
    )


def _due(page: str, thing: DeltaTable | Bucket | CommitStore, key: str, **told: Any) -> Due:
    """A deadline of something that has a page."""
    path = reverse(page, args=[thing.pk])
    where = {"subject": thing.name, "path": path, "connection_id": thing.connection_id}
    return Due(key=f"{page}:{thing.pk}:{key}", **where | told)


def taken_by_s3(now: datetime) -> Iterator[Due]:
    """What lifecycle rules and archive tiers take of each bucket, as last judged."""
    for bucket in Bucket.objects.order_by("pk"):
        if why := _unread(bucket):
            yield _unknown(bucket, "unread", f"lifecycle of {bucket.name} was not read", why)
        found = deadlines_of(bucket, MOST_DEADLINES)
        tables = DeltaTable.objects.filter(connection=bucket.connection_id, bucket=bucket.name)
        known = {
            one.prefix: one
            for one in tables.filter(prefix__in={row.table for row in found.rows}).only("prefix", "name")
        }
        alike: defaultdict[str, list[DeadlineRow]] = defaultdict(list)
        for row in found.rows:
            alike[f"{row.rule} {row.does} {row.what} {row.table} {row.version}"].append(row)
        for named, rows in alike.items():
            yield _taken(bucket, named, rows, known.get(rows[0].table))
        if found.more:
            what = f"the {thousands(found.more)} later deadlines of {bucket.name}"
            yield _unknown(bucket, "more", what, f"See the rules: the {MOST_DEADLINES} soonest are kept.")


def _unread(bucket: Bucket) -> str:
    """Why what S3 takes of a bucket is not known, "" where it is."""
    if bucket.error_at:
        return bucket.error_text or "See why it was not read."
    if bucket.observed_at is None:
        return "Nothing needed: the next look reads it."
    refused = unread_facts(bucket.facts)
    return refused.get("lifecycle") or refused.get("archive tiers") or ""


def _taken(bucket: Bucket, named: str, rows: Sequence[DeadlineRow], table: DeltaTable | None) -> Due:
    """`rows` are those of one rule and one commit, which may have a file for each try of its writer."""
    row, more = rows[0], len(rows) - 1
    lost = f"{row.does.capitalize()} {row.subject[:1].lower()}{row.subject[1:]}"
    lost += f", if {row.condition}." if row.condition else "."
    return _due(
        "bucket",
        bucket,
        hashlib.sha256(named.encode()).hexdigest()[:24],
        kind=DueKind.FILE,
        at=row.at,
        state="info" if row.is_far else row.state.value,
        happens=f"S3 may act by {row.rule} in {bucket.name}",
        lost=f"{lost} {counted(more, 'more file')} {verb(more, 'follows', 'follow')}." if more else lost,
        stops=_STOPS[row.what],
        act_path=reverse("bucket", args=[bucket.pk], fragment="rules"),
        **({"subject": table.name, "path": reverse("table", args=[table.pk])} if table and row.tables == 1 else {}),
    )


def _unknown(bucket: Bucket, key: str, what: str, stops: str) -> Due:
    return _due(
        "bucket",
        bucket,
        key,
        kind=DueKind.UNKNOWN,
        state=State.NOT_CHECKED,
        happens=f"Unknown: {what}",
        lost="What S3 deletes or archives there is not known.",
        stops=stops,
        act_path=reverse("bucket", args=[bucket.pk], fragment="rules"),
    )


register_source("entries", "entries that expire", expiring_entries)
register_source("buckets", "lifecycle rules and archive tiers", taken_by_s3)
