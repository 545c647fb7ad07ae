"""Pages of jobs."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_list_or_404, get_object_or_404, redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import current_connection, seen
from dashboard.connections.models import Connection
from dashboard.jobs import actions, queries
from dashboard.jobs.context import SPARK_LOG
from dashboard.jobs.exports import FORMS, KEPT_OF_A_PERSON, content_of, kept_until, others_under_way
from dashboard.jobs.models import FAILED, Job, JobState
from dashboard.jobs.queries import JobFilter
from dashboard.jobs.registry import kind_names
from dashboard.web.exports import MOST_ROWS, headers
from dashboard.web.paging import as_typed, choose_size

POLL_SECONDS = 2
EVENTS_SHOWN = 500
PAGES_OF_TARGETS = {
    "table": "table",
    "store": "store",
    "bucket": "bucket",
    "run": "backup-run",
    "restore-point": "backup-restore",
}


@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    """What failed, what people asked for, and the schedules; ?state, ?kind, ?q and ?by narrow to one list of all.

    Context of `jobs/list.html`: `page` (paging.Page of Job), its `rows` and `failed` (Job and its headline),
    `schedules` (queries.ScheduleLine), `can_mark` (whether failures may be marked as seen), `wanted` (JobFilter),
    `states` and `kinds` (the choices of the two selects, as words). Whatever is not offered is treated as absent.
    """
    states, kinds = ("active", *JobState.values), kind_names()
    connection = current_connection(request)
    kind, of_connection = _offered(request, "kind", kinds), connection.pk if connection else None
    wanted = JobFilter(
        state=_offered(request, "state", states),
        kind=kind,
        connection=of_connection,
        text=as_typed(request.GET.get("q", "")),
        by=as_typed(request.GET.get("by", "")),
        by_people=not kind,
    )
    page = queries.job_page(wanted, request.GET.get("after", ""), choose_size(request.GET.get("size", "")))
    context: dict[str, object] = {
        "page": page,
        "rows": _with_headlines(page.rows),
        "wanted": wanted,
        "states": states,
        "kinds": kinds,
        "schedule": queries.SCHEDULE,
    }
    if not wanted.narrows and page.is_first:
        rows = queries.jobs(JobFilter(connection=of_connection))
        context |= {
            "failed": _with_headlines(queries.failed_lately(rows, timezone.now())),
            "schedules": queries.schedule_lines(rows),
            "can_mark": Actor.from_request(request).may(actions.MARK_SEEN, connection),
        }
    return render(request, "jobs/list.html", context)


@require_safe
def job(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Show one job. Of the context: `facts` are the single values of its result, `outcomes` one for each of the many
    things that a job works on, `snapshots` what it changed, before and after; `events` the newest 500, oldest first,
    without those of `spark_log`; `usual` is the usual length, `poll_seconds` None once it has ended.
    """
    return render(request, "jobs/detail.html", _context(request, job_id))


@require_safe
def job_progress(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """The polled part of the job page: the partial `job` of `jobs/detail.html`."""
    return render(request, "jobs/detail.html#job", _context(request, job_id))


@require_safe
def job_log(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """The whole log as plain text, a line each: time, level, step, text."""
    found = get_object_or_404(seen(request, Job), pk=job_id)
    lines = (
        f"{event.at:%Y-%m-%dT%H:%M:%S.%f} {event.level:5} {event.step:16} {event.text}\n"
        for event in found.events.all().iterator()
    )
    return HttpResponse("".join(lines), content_type="text/plain; charset=utf-8")


def large_list(request: HttpRequest, name: str, *, is_busy: bool = False) -> HttpResponse:
    """Say that a list is too long for one answer, and offer its file; 422, so that no program takes it for the list."""
    form = request.GET.get("format", "")
    context = {"name": name, "form": form, "in_words": FORMS.get(form, ""), "most": MOST_ROWS, "kept": KEPT_OF_A_PERSON}
    return render(request, "jobs/large_list.html", context | {"is_busy": is_busy}, status=422)


def ask_for_file(
    request: HttpRequest, kind: str, name: str, connection: Connection | None, params: Mapping[str, object]
) -> HttpResponse:
    """Queue the job that makes the file of a list, and show it; who asks for the same again meanwhile sees the same.

    `connection` is the one that the list is narrowed to: who may not see it any more may not have the file.
    """
    form, label = request.POST.get("format", ""), request.get_full_path()
    same = hashlib.sha256(json.dumps([form, params], sort_keys=True).encode()).hexdigest()[:32]
    is_busy = others_under_way(kind, request.user.pk, f"{request.user.pk}-{same}") >= KEPT_OF_A_PERSON
    if is_busy or form not in FORMS:
        return large_list(request, name, is_busy=is_busy)
    target = actions.Target("export", f"{request.user.pk}-{same}", label)
    title, work = f"Export the {name} as {FORMS[form]}", {**params, "form": form}
    asked = actions.submit(Actor.from_request(request), kind, title, connection=connection, target=target, params=work)
    return redirect("job", asked.pk)


@require_safe
def job_file(request: HttpRequest, job_id: UUID) -> HttpResponseBase:
    """The file that a job made, for the person alone who asked for it, while they may see what the job is about."""
    found = get_object_or_404(seen(request, Job), pk=job_id)
    if found.requested_by_id != request.user.pk or kept_until(found) is None:
        return render(request, "jobs/no_file.html", {"kept": KEPT_OF_A_PERSON}, status=404)
    rows, length, sha256 = (found.result[name] for name in ("rows", "bytes", "sha256"))
    told = headers(found.params["form"], found.kind, rows, length, bytes.fromhex(sha256))
    return StreamingHttpResponse(content_of(found), headers=told)


@require_POST
def job_cancel(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Ask the job to stop, then show it: the fragment for htmx, the page otherwise."""
    found = get_object_or_404(seen(request, Job), pk=job_id)
    if not actions.cancel(Actor.from_request(request), found):
        messages.info(request, "Nothing was changed: the job has ended, or was asked to stop before.")
    if getattr(request, "htmx", False):
        return render(request, "jobs/detail.html#job", _context(request, job_id))
    return redirect("job", job_id)


@require_POST
def mark_seen(request: HttpRequest) -> HttpResponse:
    """Mark the failures that the form names as looked at, then show the list without them."""
    named = request.POST.getlist("job")[: queries.MOST_FAILED]
    try:
        found = get_list_or_404(seen(request, Job).select_related("connection"), pk__in=named)
    except ValidationError as no_id:
        raise Http404 from no_id
    marked = actions.mark_seen(Actor.from_request(request), found)
    messages.success(request, f"{marked:,} failed job{'' if marked == 1 else 's'} marked as seen.")
    return redirect("jobs")


def _with_headlines(rows: Iterable[Job]) -> list[tuple[Job, str]]:
    return [(row, queries.headline_of(row)) for row in rows]


def _context(request: HttpRequest, job_id: UUID) -> dict[str, object]:
    found = get_object_or_404(seen(request, Job).select_related("connection"), pk=job_id)
    newest = list(found.events.order_by("-id")[: EVENTS_SHOWN + 1])
    shown = newest[:EVENTS_SHOWN][::-1]
    left_out = found.events.count() - EVENTS_SHOWN if len(newest) > EVENTS_SHOWN else 0
    is_stoppable = found.state in {JobState.QUEUED, JobState.RUNNING}
    is_unseen, actor = found.state in FAILED and found.seen_at is None, Actor.from_request(request)
    outcomes, notes = queries.with_notes(found.result.get("outcomes", []))
    return {
        "job": found,
        "headline": queries.headline_of(found),
        "file_until": kept_until(found) if "sha256" in found.result else None,
        "is_own": found.requested_by_id == request.user.pk,
        "usual": None if found.is_finished else queries.usual_length(found),
        "target_url": _target_url(found),
        "events": [event for event in shown if event.step != SPARK_LOG],
        "spark_log": [event for event in shown if event.step == SPARK_LOG],
        "has_spark": found.queue == "spark",
        "events_left_out": left_out,
        "steps": queries.steps_of(found),
        "elapsed": queries.elapsed(found),
        "facts": queries.facts_of(found),
        "outcomes": outcomes,
        "notes": notes,
        "snapshots": [(name, found.result[name]) for name in ("before", "after") if found.result.get(name)],
        "can_cancel": is_stoppable and actor.may("job.cancel", found.connection),
        "can_mark": is_unseen and actor.may(actions.MARK_SEEN, found.connection),
        "poll_seconds": None if found.is_finished else POLL_SECONDS,
    }


def _target_url(found: Job) -> str:
    """The page of what the job works on, "" where it has none."""
    if found.target_type not in PAGES_OF_TARGETS:
        return ""
    try:
        return reverse(PAGES_OF_TARGETS[found.target_type], args=[found.target_id])
    except NoReverseMatch:
        return ""


def _offered(request: HttpRequest, name: str, choices: tuple[str, ...]) -> str:
    given = request.GET.get(name, "")
    return given if given in choices else ""
