"""The list of tables: filters, counts by state, one page of rows, and the whole query for exports.

A table that is gone is listed only where it is asked for (`state=gone`), and counted nowhere else.
"""

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Concat, Left, Substr
from django.db.models.lookups import In

from coordinator.charts import Sparkline, hour_of, sparkline
from coordinator.contract import TableLine
from coordinator.coordination.offers import coordination_offers
from coordinator.documents import table_lines
from coordinator.kept import found_by_index
from coordinator.models import Bucket, Commit, CommitStore, DeltaTable, ObservationPass, TableFinding
from coordinator.protocols.verdict import State
from coordinator.protocols.wording import counted
from coordinator.queries.next_step import NextStep, next_step
from coordinator.queries.table_counts import sum_of_tables, tables_by
from coordinator.queries.table_page import seen_table
from dashboard.connections import protection
from dashboard.connections.models import Connection
from dashboard.connections.protection import (
    IN_NO_PROOF,
    NO_PLAN,
    PlanSource,
    Restorable,
    TablesOutside,
    Visible,
    backups,
)
from dashboard.web import paging
from dashboard.web.paging import Column, Page, Sort, keyset_page, ordered
from lake.delta.uri import SCHEMES, places_meant

GONE = "gone"
UNPUBLISHED = "unpublished"
UNKNOWN_PLAN = "unknown plan"
"""Of the filter by backup plan: takes no table."""
OUTSIDE = (NO_PLAN, IN_NO_PROOF)
EXPORT_CHUNK = 1_000
MOST_FOUND = 1_000
"""Tables that a search counts; of more it is said that there are more."""
MOST_LISTED = 200
"""Tables named on the page of a change of many, of each kind; the rest is counted."""

_ID = Column("id")
SORTS = (
    Sort("state", (Column("state_rank"), Column("name"), _ID)),
    Sort("name", (Column("name"), _ID)),
    Sort("version", (Column("published_version", nullable=True), _ID)),
    Sort("last", (Column("last_commit_at", nullable=True), _ID)),
    Sort("waiting", (Column("oldest_unpublished_at", nullable=True), _ID)),
)
SORT_WORDS = {
    "state": "worst first",
    "-state": "healthy first",
    "name": "by name",
    "-name": "by name, backwards",
    "version": "lowest version first",
    "-version": "highest version first",
    "last": "longest without a commit first",
    "-last": "newest commit first",
    "waiting": "longest unpublished first",
    "-waiting": "newest unpublished first",
}
_TALLIED = ("state_rank", "is_gone", "is_waiting")
_UNLISTED = ("properties", "partition_columns", "registrations", "registered", "problems", "missed", "log_sizes")
"""JSON fields that no list shows."""


@dataclass(frozen=True, slots=True)
class TableFilter:
    """What the list shows. Empty fields do not narrow; `q` is a part of a name, path or table id."""

    state: str = ""
    q: str = ""
    mechanism: str = ""
    bucket: str = ""
    connection: str = ""
    store: int | None = None
    plan: str = ""
    """Name of a backup plan, or one of OUTSIDE."""
    only: tuple[int, ...] = ()
    """Tables that somebody has picked, by their primary keys; empty: all."""
    found: tuple[int, ...] | None = None
    """What `q` and `plan` find, as `searched` looked it up; None: it was not, or finds more than MOST_FOUND."""

    @property
    def narrows(self) -> bool:
        return self != TableFilter()

    @property
    def beyond_command(self) -> bool:
        """Whether `levee tables` has no option for all of it."""
        narrower = self.mechanism or self.bucket or self.store or self.plan or self.only
        return bool(narrower or self.state in {GONE, UNPUBLISHED})


@dataclass(frozen=True, slots=True)
class ManySelection:
    """Which tables of a filter a change of many will touch, each with the reason, and which others not, and why."""

    touched: list[tuple[DeltaTable, str]]
    skipped: list[tuple[DeltaTable, str]]
    too_many: bool = False

    @property
    def tables(self) -> list[DeltaTable]:
        return [table for table, _ in self.touched]

    @property
    def connections(self) -> list[str]:
        return sorted({table.connection.name for table in self.tables})

    @property
    def confirm(self) -> str:
        """How many they are, as a person types it."""
        return counted(len(self.touched), "table")

    @property
    def connection(self) -> Connection | None:
        """The connection of all of them, None where they are of several."""
        return self.tables[0].connection if len(self.connections) == 1 else None

    @property
    def seen(self) -> str:
        """Names the selection: the change happens only while it is the one that was shown."""
        named = ",".join(str(table.pk) for table in sorted(self.tables, key=lambda table: table.pk))
        return hashlib.sha256(named.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of the list. `sparkline` is None where the table's log was never read.

    `step` is the first thing to do about the table's worst finding, None where nothing is wrong. `can` are the acts on
    many tables that would touch it, by name.
    """

    table: DeltaTable
    sparkline: Sparkline | None
    step: NextStep | None
    can: tuple[str, ...]


def filter_fields(chosen: TableFilter) -> list[tuple[str, str]]:
    """The filter as the fields of a form or an address."""
    fields = ("state", "q", "mechanism", "bucket", "connection", "store", "plan")
    picked = [("table", str(table)) for table in chosen.only]
    return [*((name, str(value)) for name in fields if (value := getattr(chosen, name))), *picked]


def filtered(chosen: TableFilter) -> "QuerySet[DeltaTable]":
    """Every table that `chosen` lets through, in no order."""
    tables = DeltaTable.objects.filter(gone_at__isnull=chosen.state != GONE)
    if chosen.state == UNPUBLISHED:
        tables = tables.filter(unpublished_count__gt=0)
    elif chosen.state and chosen.state != GONE:
        tables = tables.filter(state_rank=State(chosen.state).rank)
    return _picked(tables.filter(**_exact(chosen)), chosen)


def _exact(chosen: TableFilter) -> dict[str, Any]:
    """What has to be equal, of DeltaTable and TableCount alike. The connection is looked up, not joined: for the order
    of a list a database then reads the index that begins with it."""
    connection = Connection.objects.filter(name=chosen.connection).values("pk")[:1]
    exact = {
        "mechanism": chosen.mechanism,
        "bucket": chosen.bucket,
        "connection": chosen.connection and connection,
        "store": chosen.store,
    }
    return {field: value for field, value in exact.items() if value}


def _picked(tables: "QuerySet[DeltaTable]", chosen: TableFilter) -> "QuerySet[DeltaTable]":
    """Those that somebody has picked or that the search finds."""
    if chosen.only:
        tables = tables.filter(pk__in=chosen.only)
    if chosen.found is not None:
        return tables.filter(pk__in=chosen.found)
    if chosen.plan:
        tables = tables.filter(_of_plan(chosen))
    return tables.filter(_matches(chosen.q)) if chosen.q else tables


def _of_plan(chosen: TableFilter) -> Q:
    """Of one connection, plans that read or write through it are asked alone which tables are in no proof."""
    if chosen.plan != IN_NO_PROOF:
        taken = _taken(backups().sources("" if chosen.plan == NO_PLAN else chosen.plan, None))
        return ~taken if chosen.plan == NO_PLAN else taken
    scope = Connection.objects.filter(name=chosen.connection).values_list("pk", flat=True)
    visible = frozenset(scope) if chosen.connection else None
    return _taken(backups().sources("", visible)) & ~_proven(visible)


def _proven(visible: Visible) -> Q:
    """Tables that the newest proof of a plan has found, at the S3 that it backed up."""
    found = Q(pk__in=[])
    for s3, connections in _by_s3().items():
        points = backups().proven(s3, visible)
        at_root = Q(Exists(points.filter(table=Concat(Value("s3a://"), OuterRef("bucket")))), prefix="")
        found |= Q(Q(Exists(points.filter(table=OuterRef("uri")))) | at_root, connection__in=connections)
    return found


def _taken(sources: Sequence[PlanSource]) -> Q:
    """Tables that plans take: one comparison for each S3 and length of a path, however many plans there are."""
    paths: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for source in sources:
        paths[source.s3, len(source.path)].append(source.path)
    place, connections = Concat("bucket", Value("/"), "prefix", Value("/")), _by_s3()
    taken = Q(pk__in=[])
    for (s3, length), alike in paths.items():
        taken |= Q(In(Left(place, length), alike), connection__in=connections[s3])
    return taken


def _by_s3() -> dict[str, list[int]]:
    """The connections that see the buckets of each S3."""
    connections: defaultdict[str, list[int]] = defaultdict(list)
    for connection in Connection.objects.all():
        connections[connection.s3].append(connection.pk)
    return connections


def outside(connection: str) -> TablesOutside | None:
    """How many tables of a connection, "" for all, are in no backup; None for more than are looked at one by one."""
    if sum_of_tables() > paging.MOST_LOOKED_THROUGH:
        return None
    s3_of = {pk: s3 for s3, connections in _by_s3().items() for pk in connections}

    def number(plan: str) -> int:
        rows = filtered(TableFilter(connection=connection, plan=plan)).values_list("connection_id", "uri")
        return len({(s3_of[seen_by], uri) for seen_by, uri in rows[: paging.MOST_LOOKED_THROUGH]})

    return TablesOutside(*map(number, OUTSIDE))


def searched(chosen: TableFilter) -> TableFilter:
    """The filter with what its `q` and `plan` find, where that is few: what is in few tables is found by the index,
    what is in many soon turns up in the order of the list."""
    if not chosen.q and not chosen.plan:
        return chosen
    by_index = found_by_index({chosen.q, *_spellings(chosen.q)}) if chosen.q else None
    tables = _picked(DeltaTable.objects.filter(**_exact(chosen)), chosen).order_by()
    if by_index is not None:
        tables = tables.filter(pk__in=by_index)
    found = tables.values_list("pk", flat=True)[: MOST_FOUND + 1]
    return chosen if len(found) > MOST_FOUND else replace(chosen, found=tuple(found))


def is_too_short(q: str) -> bool:
    """Whether looking for it would read each of many tables: the indexes keep three characters at a time."""
    return 0 < len(q) < 3 and sum_of_tables() > paging.MOST_LOOKED_THROUGH


def table_page(chosen: TableFilter, sort: Sort, after: str, size: int) -> "Page[DeltaTable]":
    """One page in one query, without the JSON fields that no list shows."""
    return keyset_page(filtered(chosen).select_related("store", "connection").defer(*_UNLISTED), sort, after, size)


def tally(chosen: TableFilter) -> dict[str, int] | None:
    """Counts by state of what the other filters let through, with `all`, `unpublished` and `gone`.

    None where a search finds more than MOST_FOUND: it would have to look at each.
    """
    if (chosen.q or chosen.plan) and chosen.found is None:
        return None
    counts = dict.fromkeys(["all", *(state.value for state in State), UNPUBLISHED, GONE], 0)
    for rank, is_gone, is_waiting, number in _counted(chosen):
        if is_gone:
            counts[GONE] += number
            continue
        counts["all"] += number
        counts[list(State)[rank].value] += number
        counts[UNPUBLISHED] += number if is_waiting else 0
    return counts


def _counted(chosen: TableFilter) -> Iterator[tuple[int, bool, bool, int]]:
    """Rank of the state, whether gone, whether something waits, and how many such tables there are."""
    if chosen.found is None and not chosen.only:
        yield from ((*key, number) for key, number in tables_by(*_TALLIED, **_exact(chosen)).items())
        return
    picked = _picked(DeltaTable.objects.filter(**_exact(chosen)), chosen)
    for rank, gone_at, waiting in picked.values_list("state_rank", "gone_at", "unpublished_count"):
        yield rank, gone_at is not None, waiting > 0, 1


def worst_state(chosen: TableFilter) -> State:
    """Of what the filters but that by state let through; healthy where they let nothing through."""
    rank = filtered(replace(chosen, state="")).order_by("state_rank", "name", "id").values_list("state_rank", flat=True)
    return next((list(State)[number] for number in rank[:1]), State.HEALTHY)


def table_rows(tables: Sequence[DeltaTable], now: datetime) -> list[TableRow]:
    """Rows with their commits of the last day, and what to do about each: two queries in all."""
    ids = [table.pk for table in tables]
    hourly, weighing = commits_per_hour(ids, now), weighing_findings(ids)
    return [
        TableRow(
            table=table,
            sparkline=table_sparkline(table, hourly.get(table.pk, {}), now),
            step=_first_step(table, weighing[table.pk]),
            can=_acts_on_many(table, weighing[table.pk]),
        )
        for table in tables
    ]


def restorable_of(tables: Sequence[DeltaTable], visible: Visible, now: datetime) -> list[Restorable]:
    """What of each table can be restored, in their order; `visible` are the connections of which may be told."""
    return backups().restorable_of([seen_table(table) for table in tables], visible, now)


def table_sparkline(table: DeltaTable, counts: Mapping[datetime, int], now: datetime) -> Sparkline | None:
    if table.observed_at is None:
        return None
    return sparkline(counts, now=now, held_since=table.oldest_unpublished_at if table.unpublished_count else None)


def commits_per_hour(table_ids: Sequence[int], now: datetime) -> dict[int, dict[datetime, int]]:
    """Published commits of the last 24 hours by table and hour.

    Grouped on the first thirteen characters of the timestamp, which both databases write alike in UTC: truncating
    through the ORM would call back into Python for each of perhaps 100,000 rows on SQLite.
    """
    since = hour_of(now) - timedelta(hours=23)
    hour = Substr(Cast("modified_at", TextField()), 1, 13)
    commits = Commit.objects.filter(table_id__in=table_ids, modified_at__gte=since)
    counts: defaultdict[int, dict[datetime, int]] = defaultdict(dict)
    for table_id, text, number in commits.values_list("table_id", hour).annotate(number=Count("id")).order_by():
        counts[table_id][datetime.fromisoformat(f"{text}:00:00+00:00")] = number
    return counts


def export_rows(chosen: TableFilter, sort: Sort) -> Iterator[TableLine]:
    """The same query as the list, whole; only the numbers of the tables are held, 8 bytes each.

    Each table that the filter let through at the first look is there once. What is told of it was read up to the end
    of the export, so that a pass meanwhile may have given it a state beyond the filter, or another place within its
    1,000 rows. A table that is found later is missing, as is one whose connection is removed.
    """
    numbers = array("q", ordered(filtered(chosen), sort).values_list("pk", flat=True).iterator())
    for start in range(0, len(numbers), EXPORT_CHUNK):
        part = DeltaTable.objects.filter(pk__in=numbers[start : start + EXPORT_CHUNK])
        yield from table_lines(ordered(part, sort))


def readings(connection: str = "") -> tuple[Sequence[Connection], datetime | None]:
    """Each connection with when its newest reading ended, as `read_at`, and what stopped that, as `error_text`.

    A page is as old as the oldest of them, which stands beside.
    """
    finished = ObservationPass.objects.filter(connection=OuterRef("pk"), finished_at__isnull=False)
    newest = finished.order_by("-started_at")
    connections = Connection.objects.annotate(
        read_at=Subquery(newest.values("finished_at")[:1]), error_text=Subquery(newest.values("error_text")[:1])
    )
    found = list(connections.filter(name=connection) if connection else connections)
    return found, min((one.read_at for one in found if one.read_at), default=None)


def names_of_buckets(connection: str = "") -> list[str]:
    """Of a connection or of all; a bucket of two connections is named twice."""
    found = Bucket.objects.filter(connection__name=connection) if connection else Bucket.objects.all()
    return list(found.order_by("name").values_list("name", flat=True))


def number_of_stores(connection: str = "") -> int:
    return CommitStore.objects.filter(**{"connection__name": connection} if connection else {}).count()


def _spellings(q: str) -> list[str]:
    """What is looked for in names and paths: s3:// and s3n:// are read as s3a://, a URI as its writers may have spelled
    it."""
    scheme, separator, rest = q.partition("://")
    paths = {f"s3a://{rest.rstrip('/')}" if separator and scheme in SCHEMES else q}
    with suppress(ValueError):
        paths |= {place.s3a for place in places_meant(q)}
    return sorted(paths)


def _matches(q: str) -> Q:
    """A part of the name or path, or the beginning of Delta's table id."""
    meant = Q(name__icontains=q) | Q(delta_id__istartswith=q)
    for path in _spellings(q):
        meant |= Q(uri__icontains=path)
    return meant


def weighing_findings(table_ids: Sequence[int]) -> defaultdict[int, list[TableFinding]]:
    """By table its open findings that weigh, the worst first."""
    findings = TableFinding.objects.filter(table_id__in=table_ids, resolved_at=None).exclude(state=State.HEALTHY)
    weighing: defaultdict[int, list[TableFinding]] = defaultdict(list)
    for finding in findings.order_by("state_rank", "pk"):
        weighing[finding.table_id].append(finding)
    return weighing


def _first_step(table: DeltaTable, weighing: Sequence[TableFinding]) -> NextStep | None:
    """That of the finding whose sentence the row shows, else of the worst."""
    shown = next((finding for finding in weighing if finding.summary == table.summary), None)
    worst = shown or next(iter(weighing), None)
    return next_step(worst) if worst else None


def _acts_on_many(table: DeltaTable, weighing: Sequence[TableFinding]) -> tuple[str, ...]:
    repairs = {repair for finding in weighing for repair in finding.repairs}
    offers = (offer.operation.value for offer in coordination_offers(table, weighing) if not offer.reason)
    return (*sorted(repairs), *offers)


protection.register_tables(outside)
