"""The tables list: filters and sort in the address, worst first, exported as it stands."""

from dataclasses import asdict, replace
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from coordinator.forms import TableFilterForm
from coordinator.models import MECHANISM_WORDS, DeltaTable
from coordinator.protocols.verdict import State
from coordinator.queries import table_list as queries
from coordinator.queries.repairs import bulk_offered
from coordinator.queries.table_list import GONE, SORT_WORDS, SORTS, TableFilter, filter_fields
from dashboard.accounts.actor import Actor
from dashboard.accounts.scope import connections_of, current_connection, seen, visible
from dashboard.connections.access import SANDBOX, sandbox_in_the_making
from dashboard.connections.protection import backups
from dashboard.deadlines.queries import due_soon
from dashboard.jobs.views import ask_for_file, large_list
from dashboard.web.exports import export, is_large
from dashboard.web.paging import SIZES, Sort, choose_size, choose_sort

_NOTES = {
    "all": "everything listed",
    State.BLOCKED: "reads or writes fail",
    State.UNSAFE: "may lose a commit",
    State.ATTENTION: "needs tidying",
    State.NOT_CHECKED: "not all is known",
    State.UNBACKFILLED: "not backfilled yet",
    State.PENDING: "not published yet",
    State.HEALTHY: "nothing amiss",
}


@require_http_methods(["GET", "HEAD", "POST"])
def tables(request: HttpRequest) -> HttpResponse:
    """The list; ?format exports all of it, POST asks for the file of a long one."""
    form = TableFilterForm(request.GET)
    if not form.is_valid():
        return render(request, "coordinator/tables_refused.html", {"refusals": form.refusals()}, status=422)
    chosen = scoped(request, form.chosen())
    sort = choose_sort(SORTS, request.GET.get("sort", ""))
    if request.method == "POST":
        named = chosen.connection
        connection = get_object_or_404(connections_of(request), name=named) if named else None
        params = {"wanted": asdict(chosen), "sort": sort.name}
        return ask_for_file(request, "export-tables", "tables", connection, params)
    if request.GET.get("format") in {"csv", "json", "jsonl"}:
        chosen = queries.searched(chosen)
        if is_large(queries.filtered(chosen)):
            return large_list(request, "tables")
        return export(queries.export_rows(chosen, sort), request.GET["format"], "tables")
    context = _context(request, chosen, sort)
    if not _wants_rows_only(request):
        return render(request, "coordinator/tables.html", context)
    response = render(request, "coordinator/tables_update.html", context)
    response["HX-Push-Url"] = _clean_address(request)
    return response


def scoped(request: HttpRequest, chosen: TableFilter) -> TableFilter:
    """The connection named in the address, else the one that the person looks at; no plan but one that they see."""
    if chosen.plan not in ("", *queries.OUTSIDE, *backups().plans(visible(request))):
        chosen = replace(chosen, plan=queries.UNKNOWN_PLAN)
    named = chosen.connection and connections_of(request).filter(name=chosen.connection).exists()
    scope = None if named else current_connection(request)
    return replace(chosen, connection=scope.name) if scope else chosen


def _wants_rows_only(request: HttpRequest) -> bool:
    htmx = getattr(request, "htmx", None)
    return bool(htmx) and str(getattr(htmx, "target", "") or "").endswith("results")


def _clean_address(request: HttpRequest) -> str:
    """The address without fields that were left empty, as it goes into the browser's history."""
    filled = [(name, value) for name, value in request.GET.items() if value and name != "after"]
    return f"{reverse('tables')}?{urlencode(filled)}" if filled else reverse("tables")


def _context(request: HttpRequest, chosen: TableFilter, sort: Sort) -> dict[str, object]:
    size = choose_size(request.GET.get("size", ""), default=SIZES[0])
    too_short = chosen.q if queries.is_too_short(chosen.q) else ""
    chosen = queries.searched(replace(chosen, q="") if too_short else chosen)
    page = queries.table_page(chosen, sort, request.GET.get("after", ""), size)
    counts = queries.tally(chosen)
    worst, now = _worst(chosen, counts), timezone.now()
    restorable = queries.restorable_of(page.rows, visible(request), now)
    scope, buckets = current_connection(request), queries.names_of_buckets(chosen.connection)
    readings, read_at = queries.readings(chosen.connection)
    return {
        "chosen": chosen,
        "too_short": too_short,
        "page": page,
        "rows": list(zip(queries.table_rows(page.rows, now), restorable, strict=True)),
        "sort": sort,
        "sort_word": SORT_WORDS[sort.name],
        "sizes": SIZES,
        "matching": counts[chosen.state or "all"] if counts else None,
        "tally": [(str(state), note, counts[str(state)] if counts else None) for state, note in _NOTES.items()],
        "most_found": queries.MOST_FOUND,
        "gone": counts[GONE] if counts else 0,
        "worst_state": worst.value,
        "worst_count": f"{counts[worst.value]:,}" if counts else "Some",
        "making": _in_the_making(request),
        "soon": due_soon(scope.pk if scope else None, now),
        "buckets": buckets,
        "bucket_names": dict.fromkeys(buckets),
        "stores": queries.number_of_stores(chosen.connection),
        "mechanisms": MECHANISM_WORDS.items(),
        "plans": backups().plans(visible(request)),
        "outside": queries.OUTSIDE,
        "unknown_plan": queries.UNKNOWN_PLAN,
        "readings": readings,
        "read_at": read_at,
        "may_plan": Actor.from_request(request).may("table.plan-repair", current_connection(request)),
        "may_observe": Actor.from_request(request).may("lake.observe", current_connection(request)),
        "narrowed_beyond_state": replace(chosen, state="").narrows,
        "bulk": bulk_offered(chosen),
        "bulk_fields": urlencode(filter_fields(chosen)),
    }


def _in_the_making(request: HttpRequest) -> dict[str, object] | None:
    """How far the sandbox is with its tables, None where it makes none."""
    making = sandbox_in_the_making()
    if making is None:
        return None
    of, until = making
    there = seen(request, DeltaTable).filter(gone_at=None, connection__name=SANDBOX).count()
    left = max(round((until - timezone.now()).total_seconds(), -1), 0)
    return {"there": min(there, of), "of": of, "left": f"about {left:.0f} s more" if left else "a moment more"}


def _worst(chosen: TableFilter, counts: dict[str, int] | None) -> State:
    if counts is None:
        return queries.worst_state(chosen)
    return next((state for state in State if counts[state.value]), State.HEALTHY)
