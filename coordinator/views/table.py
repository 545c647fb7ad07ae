"""Pages of one table: overview, history, commits, entries and jobs."""

from datetime import UTC, timedelta

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from coordinator.actions import observe_table
from coordinator.coordination.offers import coordination_offers
from coordinator.documents import open_findings
from coordinator.history_chart import LANES, Window, chart_of
from coordinator.models import DeltaTable
from coordinator.protocols.deadlines import read_moment
from coordinator.protocols.verdict import LOUD
from coordinator.queries import history as past
from coordinator.queries import table_page as queries
from coordinator.queries.table_list import UNPUBLISHED
from coordinator.queries.table_page import frame
from coordinator.versions import entry_row
from coordinator.views.addressed import addressed_table, stay
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import visible
from dashboard.connections import protection
from dashboard.web.paging import as_typed, choose_size

RANGES = {"24h": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}
DEFAULT_RANGE = "7d"
KINDS = {"": "Everything but versions and entries", "all": "Everything", **LANES, "act": "Who asked for what"}


@require_safe
def overview(request: HttpRequest, table_id: int) -> HttpResponse:
    table = addressed_table(request, table_id)
    found = queries.overview(table)
    actor = Actor.from_request(request)
    permalink = request.build_absolute_uri(reverse("table", args=[table.pk]))
    if found.incident and found.incident.member:
        permalink = request.build_absolute_uri(reverse("alert", args=[found.incident.member.alert_id]))
    kept = None
    if found.incident or table.gone_at:
        [kept] = protection.backups().restorable_of([queries.seen_table(table)], visible(request), timezone.now())
    context = {
        "overview": found,
        "kept": kept,
        "permalink": permalink,
        "verdict": found.verdict,
        "shown": _shown(table),
        "may_observe": actor.may("lake.observe", table.connection),
        "may_plan": actor.may("table.plan-repair", table.connection),
        "may_lose": actor.may("table.repair-losing", table.connection),
        "coordination": coordination_offers(table, found.findings),
        "may_check": actor.may("table.check-coordination", table.connection),
    }
    return render(request, "coordinator/table.html", frame(table, "overview") | context)


@require_safe
def verdict(request: HttpRequest, table_id: int) -> HttpResponse:
    """The verdict alone, which the overview asks for every 15 s; it says when the rest of the page is older."""
    table = addressed_table(request, table_id)
    found = queries.verdict(table, open_findings(table))
    shown = request.GET.get("shown", "")
    context = {"table": table, "verdict": found, "shown": shown, "moved_on": bool(shown) and shown != _shown(table)}
    return render(request, "coordinator/table_verdict_update.html", context)


@require_safe
def commits(request: HttpRequest, table_id: int) -> HttpResponse:
    table = addressed_table(request, table_id)
    page, versions = queries.commit_page(table, *_place(request))
    return render(
        request, "coordinator/table_commits.html", frame(table, "commits") | {"page": page, "versions": versions}
    )


@require_safe
def commit(request: HttpRequest, table_id: int, version: int) -> HttpResponse:
    table = addressed_table(request, table_id)
    found = queries.one_version(table, version)
    if found is None:
        raise Http404(f"Nothing is known of version {version} of {table.uri}.")
    row, findings = found
    before, after = queries.neighbours(table, version)
    context = {
        "row": row,
        "seen": None if row.file_present else table.provenance.filter(version=version).first(),
        "has_steps": any(one.resolved_at is None and one.state in LOUD for one in findings),
        "entries": [entry_row(entry) for entry in row.entries],
        "findings": findings,
        "before": before,
        "after": after,
    }
    return render(request, "coordinator/table_commit.html", frame(table, "commits") | context)


@require_safe
def entries(request: HttpRequest, table_id: int) -> HttpResponse:
    table = addressed_table(request, table_id)
    unpublished = request.GET.get("state") == UNPUBLISHED
    page, rows = queries.entry_page(table, *_place(request), unpublished=unpublished)
    context = {"page": page, "rows": rows, "unpublished": unpublished}
    return render(request, "coordinator/table_entries.html", frame(table, "entries") | context)


@require_safe
def jobs(request: HttpRequest, table_id: int) -> HttpResponse:
    table = addressed_table(request, table_id)
    page = queries.job_page(table, *_place(request))
    return render(request, "coordinator/table_jobs.html", frame(table, "jobs") | {"page": page, "jobs": page.rows})


@require_safe
def backups(request: HttpRequest, table_id: int) -> HttpResponse:
    """What of the table can be restored, from which restore points."""
    table = addressed_table(request, table_id)
    found = protection.backups().page_of(queries.seen_table(table), visible(request), timezone.now())
    return render(request, "coordinator/table_backups.html", frame(table, "backups") | {"backups": found})


@require_safe
def history(request: HttpRequest, table_id: int) -> HttpResponse:
    """What happened within ?range up to ?until, as a chart and as a list that ?kind and ?q narrow."""
    table, now = addressed_table(request, table_id), timezone.now()
    chosen = {"range": request.GET.get("range", ""), "kind": request.GET.get("kind", "")}
    chosen["range"] = chosen["range"] if chosen["range"] in RANGES else DEFAULT_RANGE
    chosen["kind"] = chosen["kind"] if chosen["kind"] in KINDS else ""
    end = read_moment(request.GET.get("until"))
    until = end.astimezone(UTC) if end and past.BEGINNING < end < now else now
    window = Window(until - RANGES[chosen["range"]], until)
    events = past.events_of(table, window, sees_audit=visible(request) is None)
    words, (after, size) = as_typed(request.GET.get("q", "")), _place(request)
    rows = past.listed(events, window, chosen["kind"], words)
    rest = [row for row in rows if not after or row.place < after]
    following = rest[size - 1].place if len(rest) > size else ""
    drawn, is_empty = past.folded(table, window, events), not any(events.values())
    context = {
        "window": window,
        "chosen": chosen | {"words": words, "is_now": until == now, "later": until + window.length},
        "ranges": RANGES,
        "kinds": KINDS,
        "numbers": {kind: len(same) for kind, same in events.items()},
        "cut": [(KINDS[kind], same[-1].at) for kind, same in events.items() if len(same) == past.MOST],
        "chart": chart_of(drawn, window, table.first_seen_at),
        "is_folded": drawn is not events,
        "is_empty": is_empty,
        "page": {"rows": rest[:size], "next_after": following, "is_first": not after, "size": size},
    }
    return render(request, "coordinator/table_history.html", frame(table, "history") | context)


@require_POST
def observe(request: HttpRequest, table_id: int) -> HttpResponse:
    """Observe the table now, and stay on the page."""
    found = addressed_table(request, table_id)
    job = observe_table(Actor.from_request(request), found.connection, found.place)
    return stay(request, job, reverse("table", args=[found.pk]))


def _place(request: HttpRequest) -> tuple[str, int]:
    """Where in a list the address points: its cursor and the size of a page."""
    return request.GET.get("after", ""), choose_size(request.GET.get("size", ""))


def _shown(table: DeltaTable) -> str:
    """What a page was made of, short enough for an address: it changes when the evidence has to be read again."""
    return f"{table.state}.{table.published_version}.{table.accepted_version}.{bool(table.gone_at)}"
