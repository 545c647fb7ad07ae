"""Plans, their jobs, and what a repair of many tables would touch; all from stored rows."""

import hashlib
import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, TypeVar
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.urls import reverse

from changes.documents import PlanDocument, RefusalDocument
from changes.pages import PlanPage
from coordinator.models import DeltaTable, TableFinding
from coordinator.protocols.wording import counted
from coordinator.queries.table_list import TableFilter, filtered
from coordinator.repairs.declaration import Many
from coordinator.repairs.fresh import PlanRepairResult, Subject
from coordinator.repairs.kinds import REPAIRS
from coordinator.repairs.kinds.re_register import PATH_SCHEME
from dashboard.jobs.models import Job
from lake.delta.uri import SCHEMES, TableUri

MOST_LISTED = 200
"""Tables named on the page of a repair of many, of each kind; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPage(PlanPage):
    """The page of one repair's plan.

    `refused_instead` are other repairs that somebody may think of about the same finding, with their reasons.
    `schemes` are the ways to spell the table's path, each by its scheme, and `path_scheme` is the one that was chosen
    for the plan, "" for none.
    """

    subject: Subject
    refused_instead: list[RefusalDocument]
    path_scheme: str
    schemes: tuple[tuple[str, str], ...]


def repair_page(table: DeltaTable, job: Job, subject: Subject) -> RepairPage:
    result: PlanRepairResult = job.result
    plan, refusals = _about(subject, result.get("plans", [])), result.get("refusals", [])
    refusal = _about(subject, refusals)
    path_scheme = str(job.params.get("path_scheme", ""))
    return RepairPage(
        job=job,
        plan=plan,
        refusal=refusal,
        command=command_line(table, subject, plan, path_scheme),
        name=table.name,
        place=table.uri,
        back=reverse("table", args=[table.pk]),
        called="Repair",
        subject=subject,
        refused_instead=[one for one in refusals if _is_beside(subject, one)],
        path_scheme=path_scheme,
        schemes=_schemes(table),
    )


def _is_beside(subject: Subject, refusal: RefusalDocument) -> bool:
    """Whether it refuses another repair of the same finding."""
    same = (refusal["code"], refusal["version"]) == (subject.code, subject.version)
    return same and refusal["kind"] != subject.repair


def _schemes(table: DeltaTable) -> tuple[tuple[str, str], ...]:
    """Each scheme with the path that a registration then has."""
    return tuple(zip(SCHEMES, TableUri("s3a", table.bucket, table.prefix).spellings(), strict=True))


def command_line(table: DeltaTable, subject: Subject, plan: PlanDocument | None, path_scheme: str = "") -> str:
    """The command that does the same; a losing plan needs the table's name there too."""
    words = ["levee", "repair", table.uri, "--finding", subject.code]
    if subject.version is not None:
        words += ["--version", str(subject.version)]
    if path_scheme:
        words += [f"--{PATH_SCHEME}", path_scheme]
    if plan and plan["can_lose"]:
        words += ["--confirm", table.name]
    return shlex.join([*words, "--apply"])


def bulk_kinds() -> dict[str, Many]:
    """The repairs that are made for many tables, by name."""
    return {one.name: one.many for one in REPAIRS.values() if one.many is not None}


@dataclass(frozen=True, slots=True)
class BulkRow:
    """A table with the sentences of the findings that decide about it."""

    table: DeltaTable
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BulkSelection:
    """Which tables of a filter a repair of many will touch, and which not.

    `skipped` are those that wait for it or are in trouble and name no such repair; `quiet` counts the rest.
    """

    kind: Many
    touched: list[BulkRow]
    skipped: list[BulkRow]
    quiet: int

    @property
    def tables(self) -> list[DeltaTable]:
        return [row.table for row in self.touched]

    @property
    def connections(self) -> list[str]:
        return sorted({row.table.connection.name for row in self.touched})

    @property
    def in_words(self) -> str:
        return f"{self.kind.title}: {counted(len(self.touched), 'table')}"

    @property
    def seen(self) -> str:
        """Names the selection: the page shows it and the act happens only while it is the same."""
        named = ",".join(str(table.pk) for table in sorted(self.tables, key=lambda table: table.pk))
        return hashlib.sha256(f"{self.kind.repair}:{named}".encode()).hexdigest()[:32]


def bulk_selection(kind: Many, chosen: TableFilter) -> BulkSelection:
    """Judge each table of a filter by its open findings. Three queries, however many tables there are."""
    tables = filtered(chosen)
    total = tables.count()
    found = _findings(tables, kind)
    rows = _listed(tables, set(found))
    touched = [
        BulkRow(table, tuple(one.summary for one in found[table.pk] if kind.repair in one.repairs))
        for table in rows
        if any(kind.repair in one.repairs for one in found[table.pk])
    ]
    named = {row.table.pk for row in touched}
    skipped = [BulkRow(table, _why_not(found[table.pk])) for table in rows if table.pk not in named]
    return BulkSelection(kind, touched, skipped, total - len(rows))


def bulk_counts(chosen: TableFilter) -> list[tuple[Many, int]]:
    """How many tables of a filter each repair of many would touch; those that would touch none are left out."""
    counts = []
    for kind in bulk_kinds().values():
        findings = TableFinding.objects.filter(resolved_at=None, code__in=kind.codes, table__in=filtered(chosen))
        named = {table for table, repairs in findings.values_list("table_id", "repairs") if kind.repair in repairs}
        if named:
            counts.append((kind, len(named)))
    return counts


def filter_fields(chosen: TableFilter) -> list[tuple[str, str]]:
    """The filter as the fields of a form or an address."""
    fields = ("state", "q", "mechanism", "bucket", "connection", "store")
    picked = [("table", str(table)) for table in chosen.only]
    return [*((name, str(value)) for name in fields if (value := getattr(chosen, name))), *picked]


class FilterInWords(TypedDict):
    """A filter as a page of many tables needs it; `by_connection` is empty where all are of one connection, `picked`
    counts the tables that somebody has picked one by one."""

    picked: int
    fields: list[tuple[str, str]]
    back: str
    by_connection: list[tuple[str, str]]


def filter_in_words(chosen: TableFilter, connections: Sequence[str]) -> FilterInWords:
    several = connections if len(connections) > 1 else ()
    by_connection = [(name, urlencode(filter_fields(of_connection(chosen, name)))) for name in several]
    fields = filter_fields(chosen)
    return {"picked": len(chosen.only), "fields": fields, "back": urlencode(fields), "by_connection": by_connection}


def of_connection(chosen: TableFilter, name: str) -> TableFilter:
    return replace(chosen, connection=name)


D = TypeVar("D", PlanDocument, RefusalDocument)


def _about(subject: Subject, documents: Iterable[D]) -> D | None:
    return next((one for one in documents if subject == Subject.told_by(one)), None)


def _findings(tables: "QuerySet[DeltaTable]", kind: Many) -> dict[int, list[TableFinding]]:
    """Open findings of the tables that have one of the kind's codes, or that wait and are held up by another."""
    waits = Q(table__unpublished_count__gt=0) & ~Q(state="healthy")
    open_ones = TableFinding.objects.filter(resolved_at=None, table__in=tables).defer("evidence", "meaning")
    found: defaultdict[int, list[TableFinding]] = defaultdict(list)
    for one in open_ones.filter(Q(code__in=kind.codes) | waits).order_by("state_rank", "version", "id"):
        found[one.table_id].append(one)
    return found


def _listed(tables: "QuerySet[DeltaTable]", ids: set[int]) -> list[DeltaTable]:
    rows = tables.filter(pk__in=ids) if len(ids) < 500 else tables
    shown = ("uri", "name", "state", "state_rank", "connection__name")
    rows = rows.select_related("connection").only(*shown).order_by("state_rank", "name", "id")
    return [table for table in rows if table.pk in ids]


def _why_not(findings: Sequence[TableFinding]) -> tuple[str, ...]:
    return tuple(f"{one.code}: {one.summary}" for one in findings[:3])
