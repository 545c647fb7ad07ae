"""The page of a table that is blocked or unsafe: what to do in order, who writes, what gets worse when; from stored
rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.dateparse import parse_datetime

from coordinator.models import DeltaTable, TableFinding
from coordinator.protocols.verdict import LOUD
from coordinator.queries.evidence import EvidenceRow, WitnessStatement
from coordinator.repairs.guides import Guide, guide_of, in_words
from dashboard.alerts.models import Member

NEWEST_COMMITS = 200
"""Commits of a table among which its writers are looked for."""
MOST_WRITERS = 4
_SPINNING = "writers-spinning"


@dataclass(frozen=True, slots=True)
class Writer:
    """A program that commits to the table, by what its commits say of it, and its newest commit here."""

    engine: str
    operation: str
    version: int
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Trail:
    """Files of one version that a spinning writer has left behind; `newest_at` is when S3 got the newest one."""

    version: int | None
    files: int
    newest_at: datetime | None


@dataclass(frozen=True, slots=True)
class Incident:
    """The worst finding and its guide. `trail` is what a writer leaves that retries one version, None for none;
    `expires_at` is when TTL may take the first entry of the version, `member` the alert's problem about it.
    """

    finding: TableFinding
    guide: Guide
    writers: tuple[Writer, ...]
    trail: Trail | None
    expires_at: datetime | None
    member: Member | None


def incident_of(table: DeltaTable, findings: Sequence[TableFinding]) -> Incident | None:
    """None where the table is neither blocked nor unsafe by a finding of its own. `findings` are open, worst first."""
    worst = findings[0] if findings else None
    if worst is None or table.gone_at or worst.state not in LOUD:
        return None
    return Incident(
        worst,
        guide_of(worst),
        _writers(table),
        next((_trail(one) for one in findings if one.code == _SPINNING), None),
        _expires_at(table, worst),
        Member.objects.select_related("alert").filter(key=f"finding:{worst.pk}").order_by("-id").first(),
    )


def _trail(finding: TableFinding) -> Trail:
    newest_at = parse_datetime(str(finding.evidence.get("newest_at", "")))
    return Trail(finding.version, int(finding.evidence.get("files", 0)), newest_at)


def _writers(table: DeltaTable) -> tuple[Writer, ...]:
    """Those of the newest commits, the one that was last at work first."""
    found: dict[str, Writer] = {}
    for one in table.commits.exclude(engine="").order_by("-version")[:NEWEST_COMMITS]:
        at = one.committed_at or one.modified_at
        found.setdefault(one.engine, Writer(one.engine, one.operation, one.version, at))
    return tuple(found.values())[:MOST_WRITERS]


def _expires_at(table: DeltaTable, finding: TableFinding) -> datetime | None:
    if finding.version is None:
        return None
    times = table.entries.filter(version=finding.version).values_list("expire_time", flat=True)
    try:
        return min((datetime.fromtimestamp(at, UTC) for at in times if at is not None), default=None)
    except (OverflowError, OSError, ValueError):
        return None


def as_text(table: DeltaTable, incident: Incident, rows: Sequence[EvidenceRow], address: str) -> str:
    """The evidence as lines of text, to paste into a ticket; `address` is what lasts of it."""
    finding = incident.finding
    lines = [
        f"{table.name} is {table.state}: {finding.code}{'' if finding.version is None else f' of {finding.version}'}",
        finding.summary,
        table.uri,
        f"Since {finding.opened_at:%Y-%m-%d %H:%M:%S} UTC; read {finding.seen_at:%Y-%m-%d %H:%M:%S} UTC",
        *(f"{row.fact}: DynamoDB {_said(row.dynamodb)}; S3 {_said(row.s3)}; {row.together.word}" for row in rows),
        *(
            f"Writer {one.engine} ({one.operation}): version {one.version}"
            + (f" at {one.at:%Y-%m-%d %H:%M:%S} UTC" if one.at else "")
            for one in incident.writers
        ),
        in_words(incident.guide.steps),
        address,
    ]
    return "\n".join(lines)


def _said(statement: WitnessStatement) -> str:
    note = f" ({statement.note})" if statement.note else ""
    return " ".join(part.text for part in statement.parts) + note
