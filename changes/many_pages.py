"""The page of one change on many tables, whatever the change: which are touched, which not, and one job for them.

A view names its template, which fills the blocks of `changes/many.html` with what is said of its change alone.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from changes.gate import NotConfirmed
from dashboard.connections.writable import ChangeRefused
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.models import Job
from dashboard.web.answers import SeeOther

_LONGEST, _LONGEST_REASON = 64, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyPage:
    """What such a page shows; `seen` names the selection, so that the change happens only while it is the one shown.

    `touched` counts its tables. `fields` are the filter, `picked` counts what it names one by one, `back` is it as a
    query, `by_connection` holds a query for each connection where there are several.
    """

    title: str
    touched: int
    seen: str
    connections: Sequence[str]
    picked: int
    fields: Sequence[tuple[str, str]]
    back: str
    by_connection: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ManyConfirmed:
    """What a person sent: whether the first failure ends it, the key of this click, the reason."""

    stop_at_first_failure: bool
    once: str
    reason: str


def many_page(
    request: HttpRequest, template: str, page: ManyPage, context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    return render(request, template, {"page": page, "once": uuid.uuid4().hex, **context}, status=status)


def many_confirmed(
    request: HttpRequest, template: str, page: ManyPage, context: Mapping[str, Any], act: Callable[[ManyConfirmed], Job]
) -> HttpResponse:
    """Hand exactly what was shown to one job and go there; else the page of now, with the reason why not."""
    refused, busy, status = _why_not(request, page), None, 409
    if not refused:
        try:
            return SeeOther(reverse("job", args=[act(_sent(request)).pk]))
        except (ChangeRefused, JobBusy) as refusal:
            refused, busy = str(refusal), refusal.job if isinstance(refusal, JobBusy) else None
            status = 422 if isinstance(refusal, NotConfirmed) else 409
    return many_page(request, template, page, {**context, "refused": refused, "busy": busy}, status)


def _why_not(request: HttpRequest, page: ManyPage) -> str:
    if request.POST.get("seen") != page.seen:
        return "Other tables than those shown would be touched now: this page shows the new ones."
    if len(page.connections) != 1:
        return "One job works on one connection: choose one below."
    return ""


def _sent(request: HttpRequest) -> ManyConfirmed:
    return ManyConfirmed(
        request.POST.get("on_failure") == "stop",
        request.POST.get("once", "")[:_LONGEST],
        request.POST.get("reason", "")[:_LONGEST_REASON],
    )
