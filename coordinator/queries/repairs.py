"""Plans, their jobs, and what a repair of many tables would touch; all from stored rows."""

import shlex
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.urls import reverse

from changes.documents import PlanDocument, RefusalDocument
from changes.pages import PlanPage
from coordinator.models import DeltaTable, TableFinding
from coordinator.queries.table_list import ManySelection, TableFilter, filtered
from coordinator.repairs.declaration import Many
from coordinator.repairs.fresh import PlanRepairResult, Subject
from coordinator.repairs.kinds import REPAIRS
from coordinator.repairs.kinds.re_register import PATH_SCHEME
from dashboard.jobs.models import Job
from lake.delta.uri import SCHEMES, TableUri


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


def bulk_selection(kind: Many, chosen: TableFilter) -> tuple[ManySelection, int]:
    """Judge each table of a filter by its open findings. Three queries, however many tables there are.

    Left out are those that wait for it or are in trouble and name no such repair; the rest is counted beside.
    """
    tables = filtered(chosen)
    total, found = tables.count(), _findings(tables, kind)
    touched, skipped = [], []
    for table in _listed(tables, set(found)):
        named = [one.summary for one in found[table.pk] if kind.repair in one.repairs]
        if named:
            touched.append((table, " ".join(named)))
        else:
            skipped.append((table, " ".join(f"{one.code}: {one.summary}" for one in found[table.pk][:3])))
    return ManySelection(touched, skipped), total - len(touched) - len(skipped)


def bulk_offered(chosen: TableFilter) -> list[Many]:
    """The repairs of many that would touch at least one table of a filter."""
    meant = Exists(filtered(chosen).filter(pk=OuterRef("table")))
    named = TableFinding.objects.filter(meant, resolved_at=None).annotate(named=Cast("repairs", TextField()))
    return [
        one
        for one in bulk_kinds().values()
        if named.filter(code__in=one.codes, named__contains=f'"{one.repair}"').exists()
    ]


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
