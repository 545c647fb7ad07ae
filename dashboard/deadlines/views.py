"""The page of deadlines."""

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard.accounts.scope import current_connection
from dashboard.deadlines import queries
from dashboard.deadlines.judging import JUDGED_FOR
from dashboard.deadlines.models import DueKind
from dashboard.web.paging import Column, Sort, as_typed, choose_size, keyset_page

SOONEST = Sort("soonest", (Column("at", nullable=True), Column("key")))


@require_safe
def deadlines(request: HttpRequest) -> HttpResponse:
    """List what is due, soonest first; ?q, kind and day narrow, ?after continues.

    Context of `deadlines/list.html`: `page` (paging.Page of Due), `chosen` and whether it `narrows`, `kinds` with their
    numbers, `unknown` (how many were not read), `marks` of days, `soon` (DueSoon), `judged_at`, `judged_until`.
    """
    now, connection = timezone.now(), current_connection(request)
    scope, given = connection.pk if connection else None, request.GET
    marks = queries.day_marks(queries.dues(scope), now)
    kind, day = given.get("kind", ""), given.get("day", "")
    chosen = {
        "q": as_typed(given.get("q", "")),
        "kind": kind if kind in DueKind.values else "",
        "day": day if day in {date.isoformat() for date, _, _ in marks} else "",
    }
    rows = queries.dues(scope, **chosen)
    counts = dict(queries.dues(scope).order_by().values_list("kind").annotate(number=Count("pk")))
    judged_at = queries.judged_at()
    context = {
        "page": keyset_page(rows, SOONEST, given.get("after", ""), choose_size(given.get("size", ""))),
        "chosen": chosen,
        "narrows": any(chosen.values()),
        "kinds": [("", "All", sum(counts.values())), *((*kind, counts.get(kind[0], 0)) for kind in DueKind.choices)],
        "unknown": counts.get(DueKind.UNKNOWN, 0),
        "marks": marks,
        "soon": queries.due_soon(scope, now),
        "judged_at": judged_at,
        "judged_until": judged_at + JUDGED_FOR if judged_at else None,
    }
    return render(request, "deadlines/list.html", context)
