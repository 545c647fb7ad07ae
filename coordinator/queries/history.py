"""What happened to a table within a window of time, from stored rows: each kind by one bounded query."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django.db.models import Count, Max, Q
from django.db.models.functions import TruncDay, TruncHour
from django.urls import reverse

from coordinator.contract import HistoryEventDocument
from coordinator.history_chart import Event, Window
from coordinator.models import DeltaTable, TableFinding
from coordinator.protocols.verdict import State
from coordinator.protocols.wording import counted
from coordinator.queries.table_page import TARGET_TYPE, jobs_of
from coordinator.versions import entry_row
from dashboard.alerts.models import Member
from dashboard.audit.models import AuditEntry
from dashboard.audit.sentences import says
from dashboard.commands import document_of
from dashboard.jobs.models import Job
from dashboard.web.text import duration, shortened

MOST = 1_000
"""So many events of a kind are read, the newest."""
FOLDED_ABOVE = 400
"""More versions than that are drawn by the hour or the day."""
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
RARE = ("finding", "job", "act", "alert")
SPANS = ("finding", "alert")
ALERT_LAGS = timedelta(hours=1)
"""An alert ends some minutes after its finding: what ended so long before a window is looked for as well."""
_COMPLETE = {True: "complete", False: "incomplete", None: "listed as accepted"}
Events = Mapping[str, Sequence[Event]]


def events_of(table: DeltaTable, window: Window, *, sees_audit: bool) -> Events:
    """Events by kind, at most MOST of each. `sees_audit`: whoever asks may open the audit log."""
    lasted = Q(resolved_at=None) | Q(resolved_at__gt=window.since - ALERT_LAGS)
    findings = list(table.findings.filter(lasted, opened_at__lte=window.until).order_by("-opened_at")[:MOST])
    return {
        "version": _versions(table, window),
        "entry": _entries(table, window),
        "finding": [_finding(one) for one in findings if not one.resolved_at or one.resolved_at > window.since],
        "job": _jobs(table, window),
        "act": _acts(table, window, sees_audit=sees_audit),
        "alert": _alerts(table, window, findings),
    }


def folded(table: DeltaTable, window: Window, events: Events) -> Events:
    """The events as they are drawn: of more than `FOLDED_ABOVE` versions one an operation and hour, or day."""
    if len(events["version"]) <= FOLDED_ABOVE:
        return events
    by_hour, page = window.length <= timedelta(days=7), reverse("table-commits", args=[table.pk])
    step, start = (timedelta(hours=1), TruncHour) if by_hour else (timedelta(days=1), TruncDay)
    rows = table.commits.filter(**_within(window, "modified_at")).order_by().annotate(start=start("modified_at"))
    groups = rows.values_list("start", "operation").annotate(number=Count("pk"), newest=Max("version"))
    found = []
    for at, operation, number, newest in groups:
        told = f"{number:,} {operation or 'of an operation not known'}, newest {newest:,}"
        where = (f"{page}{newest}/", at + step)
        found.append(Event("version", operation, at, "published", told, *where, operation=operation, number=number))
    return {**events, "version": found}


def listed(events: Events, window: Window, kind: str, words: str = "") -> list[Event]:
    """The events of a kind, of `all` or of those in `RARE`, that hold the words, newest first.

    What went on and ended within the window is there twice, however long ago it began. Beside a job that is listed,
    the audit log's rows of it are left out.
    """
    kinds = [kind] if kind in events else events if kind == "all" else RARE
    done = {event.key for event in events["job"]} if "job" in kinds else set()
    found = [event for one in kinds for event in events[one] if event.job not in done]
    for event in [one for one in found if one.kind in SPANS]:
        if event.until and event.until <= window.until:
            told = f"{event.label}: resolved after {duration(event.until - event.at)}"
            key = f"{event.key}-end"
            found.append(replace(event, key=key, at=event.until, until=None, state="resolved", says=told))
    found = [event for event in found if words.casefold() in f"{event.says} {event.by} {event.state}".casefold()]
    return sorted(found, key=lambda event: event.place, reverse=True)


def document(event: Event) -> HistoryEventDocument:
    """An event as `history --json` has it."""
    return document_of(HistoryEventDocument, event, path=event.href)


def _within(window: Window, field: str) -> dict[str, datetime]:
    return {f"{field}__gt": window.since, f"{field}__lte": window.until}


def _versions(table: DeltaTable, window: Window) -> list[Event]:
    page, found = reverse("table-commits", args=[table.pk]), []
    for row in table.commits.filter(**_within(window, "modified_at")).order_by("-modified_at")[:MOST]:
        added = f", {counted(row.added_files, 'file')} added" if row.added_files else ""
        told = f"Version {row.version:,}: {row.operation or 'operation not known'}{added}"
        key, at, href = f"version-{row.version:020}", row.modified_at or window.since, f"{page}{row.version}/"
        found.append(Event("version", key, at, "published", told, href, by=row.engine, operation=row.operation))
    return found


def _entries(table: DeltaTable, window: Window) -> list[Event]:
    page, found = reverse("table-commits", args=[table.pk]), []
    for row in table.entries.filter(**_within(window, "written_at")).order_by("-written_at")[:MOST]:
        told, key = f"Entry {row.version:,}: {_COMPLETE[row.complete]}", f"entry-{row.version:020}-{row.pk}"
        at = row.written_at or window.since
        found.append(Event("entry", key, at, entry_row(row).state, told, f"{page}{row.version}/"))
    return found


def _finding(row: TableFinding) -> Event:
    has_page = row.version is not None
    href = reverse("table-commit" if has_page else "table", args=[row.table_id, row.version][: 1 + has_page])
    label = f"{row.code} {row.version:,}" if has_page else row.code
    state = "info" if row.state == State.HEALTHY else row.state  # a note, as the table's page has it
    return Event("finding", f"finding-{row.pk}", row.opened_at, state, row.summary, href, row.resolved_at, "", label)


def _jobs(table: DeltaTable, window: Window) -> list[Event]:
    """Whoever sees the table sees its connection, and the jobs of this connection alone."""
    here, found = jobs_of(table).filter(connection=table.connection_id, **_within(window, "created_at")), []
    for job in here.defer("params", "steps")[:MOST]:
        told = f"{job.title}. {shortened(job.error_text or job.message, 240)}".strip()
        key, href, by = f"job-{job.pk}", reverse("job", args=[job.pk]), job.requested_by_name
        found.append(Event("job", key, job.created_at, job.shown_state, told, href, job.finished_at, by, job.title))
    return found


def _acts(table: DeltaTable, window: Window, *, sees_audit: bool) -> list[Event]:
    here = AuditEntry.objects.filter(target_type=TARGET_TYPE, target_id=str(table.pk), **_within(window, "at"))
    rows = list(here.defer("before", "after", "aws_request_ids").order_by("-pk")[:MOST])
    titles = dict(Job.objects.filter(pk__in={row.job_id for row in rows}).values_list("pk", "title"))
    found = []
    for row in rows:
        told = says(row, titles.get(row.job_id, "") if row.job_id else "")
        told = f"{told[:1].upper()}{told[1:]}" + (f". {shortened(row.detail, 240)}" if row.detail else "")
        href = f"{reverse('audit')}?show=all&target={table.pk}&since={row.at:%F}&until={row.at:%F}#entry-{row.pk}"
        href = reverse("job", args=[row.job_id]) if row.job_id else href if sees_audit else ""
        key, job = f"act-{row.pk:020}", f"job-{row.job_id}" if row.job_id else ""
        found.append(Event("act", key, row.at, row.outcome, told, href, by=row.actor_name, job=job))
    return found


def _alerts(table: DeltaTable, window: Window, findings: Sequence[TableFinding]) -> list[Event]:
    """The alerts that told of a problem of the table, each for as long as the problem was there."""
    keys = [f"waiting:{table.pk}", f"gone:{table.pk}", *(f"finding:{one.pk}" for one in findings)]
    here = Member.objects.filter(Q(gone_at=None) | Q(gone_at__gt=window.since), since__lte=window.until, key__in=keys)
    found = []
    for one in here.filter(alert__connection=table.connection_id).select_related("alert").order_by("-since")[:MOST]:
        at, name = max(one.alert.opened_at, one.since), one.alert.title or one.headline
        key, href = f"alert-{one.pk}", reverse("alert", args=[one.alert_id])
        found.append(Event("alert", key, at, one.severity, name, href, one.gone_at, "", name))
    return [event for event in found if event.at <= window.until]
