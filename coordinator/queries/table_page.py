"""One table: head, verdict, newest versions, entries and jobs, from stored rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from coordinator.charts import NEWEST_VERSIONS, Timeline, timeline
from coordinator.documents import open_findings
from coordinator.models import Commit, DeltaTable, Entry, TableFinding
from coordinator.protocols.titles import title_of
from coordinator.protocols.verdict import LOUD, State
from coordinator.queries.evidence import EvidenceRow, evidence
from coordinator.queries.incident import Incident, incident_of
from coordinator.repairs.guides import NoOffer, Offer, offers_of, without_repair
from coordinator.versions import FOREIGN_CODE, VersionRow, VersionState, entry_row, join_versions
from dashboard.connections.protection import SeenTable
from dashboard.jobs.models import Job
from dashboard.jobs.queries import NEWEST
from dashboard.web.paging import SIZES, Column, Page, Sort, keyset_page
from lake.delta.facts import Mechanism

NEWEST_ENTRIES = 5
NEWEST_JOBS = 5
ALSO_SHOWN = 3
OFFERS_SHOWN = 8
RESOLVED_SHOWN = 10
RESOLVED_SHOWN_FOR = timedelta(days=7)
TARGET_TYPE = "table"

_VERSIONS = Sort("version", (Column("version", descending=True), Column("id", descending=True)))

# Properties that say how commits are made and how long the log and removed files are kept.
_DURATIONS = {"delta.logRetentionDuration": "30 days", "delta.deletedFileRetentionDuration": "7 days"}


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The sentence that could be read out on a call, below `title` if it is long. `more` counts the findings besides;
    `has_steps` says that the page has what to do about it, in order. `offer` never can lose a commit.
    """

    state: str
    sentence: str
    meaning: str
    look_at: int | None
    title: str = ""
    offer: Offer | None = None
    more: int = 0
    has_steps: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Overview:
    """All that the first tab shows."""

    verdict: VerdictView
    incident: Incident | None
    evidence: list[EvidenceRow]
    timeline: Timeline | None
    entries: list[VersionRow]
    findings: list[TableFinding]
    resolved: list[TableFinding]
    offers: list[Offer]
    offers_left_out: int
    without_repair: list[NoOffer]
    jobs: "QuerySet[Job]"
    facts: list[tuple[str, str]]

    @property
    def is_told(self) -> bool:
        """Whether the verdict has told the first finding's sentences already."""
        return bool(self.findings) and self.verdict.sentence == self.findings[0].summary


def overview(table: DeltaTable) -> Overview:
    findings = open_findings(table)
    versions = newest_versions(table, findings)
    entries = table.entries.select_related("store")[:NEWEST_ENTRIES]
    incident = incident_of(table, findings)
    others = findings[1:] if incident else findings
    offers = [] if table.gone_at else offers_of(others)
    return Overview(
        verdict=verdict(table, findings),
        incident=incident,
        evidence=evidence(table, versions),
        timeline=timeline(versions, published=table.published_version, has_store=has_store(table)),
        entries=[entry_row(entry) for entry in entries],
        findings=findings,
        resolved=resolved_lately(table, timezone.now()),
        offers=offers[:OFFERS_SHOWN],
        offers_left_out=max(len(offers) - OFFERS_SHOWN, 0),
        without_repair=without_repair(others)[:ALSO_SHOWN],
        jobs=jobs_of(table)[:NEWEST_JOBS],
        facts=protocol_facts(table),
    )


def seen_table(table: DeltaTable) -> SeenTable:
    """The table as those who keep its backups are asked about it."""
    was_read = not table.error_at and not table.gone_at and table.state != State.NOT_CHECKED
    return SeenTable(
        s3=table.connection.s3,
        bucket=table.bucket,
        root=table.prefix,
        uri=table.uri.rstrip("/"),
        incarnation=table.delta_id,
        oldest=table.oldest_version,
        published=table.published_version,
        accepted=table.accepted_version,
        seen_at=table.observed_at if was_read else None,
    )


def resolved_lately(table: DeltaTable, now: datetime) -> list[TableFinding]:
    """Findings that were resolved within `RESOLVED_SHOWN_FOR`, the newest first."""
    resolved = table.findings.filter(resolved_at__gte=now - RESOLVED_SHOWN_FOR)
    return list(resolved.order_by("-resolved_at", "-id")[:RESOLVED_SHOWN])


def has_store(table: DeltaTable) -> bool:
    return table.mechanism in (Mechanism.LOG_STORE, Mechanism.COORDINATED_COMMITS)


def verdict(table: DeltaTable, findings: Sequence[TableFinding]) -> VerdictView:
    """The worst finding's sentence, or the table's own; a table that is gone or was never read says that first."""
    if table.gone_at:
        return VerdictView(
            state=State.NOT_CHECKED,
            sentence="This table is gone: neither its log nor its entries were there when Levee last looked.",
            meaning="What was read before is kept below.",
            look_at=None,
        )
    if table.observed_at is None:
        return VerdictView(
            state=State.NOT_CHECKED,
            sentence=table.summary or "This table has not been read yet.",
            meaning=table.error_text or "Its state is Unknown until the next pass, or until somebody observes it.",
            look_at=None,
        )
    worst = next((finding for finding in findings[:1] if finding.state != State.HEALTHY), None)
    return VerdictView(
        state=table.state,
        sentence=(worst.summary if worst else table.summary) or "Every accepted commit is published.",
        meaning=worst.meaning if worst else "",
        look_at=worst.version if worst else None,
        title=title_of(worst.code, worst.state) if worst else "",
        offer=next((one for one in offers_of([worst]) if not one.loses), None) if worst else None,
        more=len(findings) - bool(worst),
        has_steps=worst is not None and worst.state in LOUD,
        refused=bool(table.error_at and table.error_at > table.observed_at),
    )


def newest_versions(table: DeltaTable, findings: Sequence[TableFinding]) -> list[VersionRow]:
    """The newest versions that have a file or an entry, oldest first; at most as many as the timeline draws.

    A version that a coordinator accepted and no longer lists has neither (K6): it is missing, and shown as such.
    """
    commits = list(table.commits.all()[:NEWEST_VERSIONS])
    first = commits[-1].version if len(commits) == NEWEST_VERSIONS else 0
    entries = list(table.entries.filter(version__gte=first)[: 4 * NEWEST_VERSIONS])
    rows = join_versions(commits, entries, mechanism=_guard(table), foreign=foreign_versions(findings))
    accepted = table.accepted_version
    if rows and accepted is not None and accepted > rows[-1].version:
        rows.append(VersionRow(version=accepted, state=VersionState.MISSING, commit=None, entries=()))
    return rows[-NEWEST_VERSIONS:]


def foreign_versions(findings: Sequence[TableFinding]) -> set[int]:
    return {finding.version for finding in findings if finding.code == FOREIGN_CODE and finding.version is not None}


def commit_page(table: DeltaTable, after: str, size: int) -> tuple[Page[Commit], list[VersionRow]]:
    """One page of versions, newest first. The first page also holds accepted versions that have no file yet."""
    page = keyset_page(table.commits.all(), _VERSIONS, after, size)
    entries = table.entries.all()
    if page.next_after:
        entries = entries.filter(version__gte=page.rows[-1].version)
    if page.rows and not page.is_first:
        entries = entries.filter(version__lte=page.rows[0].version)
    versions = join_versions(
        page.rows,
        entries[: 4 * size],
        mechanism=_guard(table),
        foreign=foreign_versions(open_findings(table)),
    )
    return page, versions[::-1]


def one_version(table: DeltaTable, version: int) -> tuple[VersionRow, list[TableFinding]] | None:
    """The version with its findings, open ones first; None where neither file, entry nor finding is known."""
    commits = list(table.commits.filter(version=version))
    entries = list(table.entries.filter(version=version).select_related("store"))
    spoken_of = Q(version=version) | Q(version__gt=version, evidence__first_version__lte=version)
    findings = sorted(table.findings.filter(spoken_of), key=lambda finding: finding.resolved_at is not None)
    if not (commits or entries or findings):
        return None
    open_ones = [finding for finding in findings if finding.resolved_at is None]
    foreign = foreign_versions(open_ones)
    rows = join_versions(commits, entries, mechanism=_guard(table), foreign=foreign)
    row = rows[0] if rows else VersionRow(version=version, state=VersionState.MISSING, commit=None, entries=())
    return row, findings


def neighbours(table: DeltaTable, version: int) -> tuple[int | None, int | None]:
    """The nearest versions before and after that have a file or an entry."""
    found: list[list[int]] = [[], []]
    for rows in (table.commits.all(), table.entries.all()):
        found[0] += rows.filter(version__lt=version).order_by("-version").values_list("version", flat=True)[:1]
        found[1] += rows.filter(version__gt=version).order_by("version").values_list("version", flat=True)[:1]
    return max(found[0], default=None), min(found[1], default=None)


def entry_page(table: DeltaTable, after: str, size: int, *, unpublished: bool) -> tuple[Page[Entry], list[VersionRow]]:
    entries = table.entries.select_related("store")
    if unpublished:
        entries = entries.exclude(published=True)
    page = keyset_page(entries, _VERSIONS, after, size)
    return page, [entry_row(entry) for entry in page.rows]


def jobs_of(table: DeltaTable) -> "QuerySet[Job]":
    return Job.objects.filter(target_type=TARGET_TYPE, target_id=str(table.pk)).order_by("-created_at", "-id")


def job_page(table: DeltaTable, after: str, size: int) -> Page[Job]:
    return keyset_page(jobs_of(table), NEWEST, after, size)


def frame(table: DeltaTable, tab: str) -> dict[str, object]:
    """What the head and the tabs show on each page of a table: how many rows each tab lists, among other things.

    An accepted version without a file is listed among the commits.
    """
    without_file = table.entries.exclude(version__in=table.commits.values("version")).values("version").distinct()
    counts = {
        "commits": table.commits.count() + without_file.count(),
        "entries": table.entries.count(),
        "jobs": jobs_of(table).count(),
    }
    return {"table": table, "tab": tab, "counts": counts, "worst_state": table.state, "sizes": SIZES}


def _guard(table: DeltaTable) -> str:
    """The mechanism by which an absent entry is judged; "" for a log store of which no entry was ever seen."""
    unknown = table.mechanism == Mechanism.LOG_STORE and not table.lock_domains
    return "" if unknown else table.mechanism


def protocol_facts(table: DeltaTable) -> list[tuple[str, str]]:
    """Name and value of what the protocol and the properties say; unread facts are Unknown."""
    read = table.protocol_version_read is not None
    times = "On" if str(table.properties.get("delta.enableInCommitTimestamps", "")).lower() == "true" else "Off"
    versions = f"reader {table.reader_version}, writer {table.writer_version}"
    kept = [str(table.properties.get(key, default)) for key, default in _DURATIONS.items()]
    columns = ", ".join(map(str, table.partition_columns)) or "None"
    return [
        ("Protocol", versions if table.reader_version is not None else "Unknown"),
        ("In-commit times", times if read else "Unknown"),
        ("Partitioned by", columns if read else "Unknown"),
        ("Log kept", kept[0].removeprefix("interval ") if read else "Unknown"),
        ("Removed files", f"kept {kept[1].removeprefix('interval ')}" if read else "Unknown"),
    ]
