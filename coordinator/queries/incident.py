"""The page of a table that is blocked or unsafe: what to do in order, who writes, what gets worse when; from stored
rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from coordinator.models import Commit, DeltaTable, TableFinding
from coordinator.protocols.verdict import LOUD
from coordinator.repairs.guides import Guide, guide_of, in_words
from dashboard.alerts.models import Member

NEWEST_COMMITS = 200
"""Commits of a table among which its writers are looked for."""
MOST_WRITERS = 4
_SPINNING = "writers-spinning"


@dataclass(frozen=True, slots=True)
class Incident:
    """The worst finding and its guide. `writers` are the newest commits of those at work.

    `trail` tells of the files of a writer that retries one version, None for none; `expires_at` is when TTL may take
    the first entry of the version, `member` the alert's problem about it.
    """

    finding: TableFinding
    guide: Guide
    writers: tuple[Commit, ...]
    trail: TableFinding | None
    expires_at: datetime | None
    member: Member | None

    @property
    def advice(self) -> str:
        return in_words(self.guide.steps)


def incident_of(table: DeltaTable, findings: Sequence[TableFinding]) -> Incident | None:
    """None where the table is neither blocked nor unsafe by a finding of its own. `findings` are open, worst first."""
    worst = findings[0] if findings else None
    if worst is None or table.gone_at or worst.state not in LOUD:
        return None
    return Incident(
        worst,
        guide_of(worst),
        _writers(table),
        next((one for one in findings if one.code == _SPINNING), None),
        _expires_at(table, worst),
        Member.objects.select_related("alert").filter(key=f"finding:{worst.pk}").order_by("-id").first(),
    )


def _writers(table: DeltaTable) -> tuple[Commit, ...]:
    """The newest commit of each program that commits to the table, the one that was last at work first."""
    found: dict[str, Commit] = {}
    for one in table.commits.exclude(engine="").order_by("-version")[:NEWEST_COMMITS]:
        found.setdefault(one.engine, one)
    return tuple(found.values())[:MOST_WRITERS]


def _expires_at(table: DeltaTable, finding: TableFinding) -> datetime | None:
    if finding.version is None:
        return None
    times = (entry.expires_at for entry in table.entries.filter(version=finding.version))
    return min((at for at in times if at is not None), default=None)
