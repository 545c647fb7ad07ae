"""Pages nobody hopes to see: one sentence of what happened and one of what to do, never a traceback.

A fragment gets the same sentence as a toast, so that a dead button says why and the page around it stays.
"""

import sys
from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.csrf import requires_csrf_token

from dashboard.accounts.views import safe_path
from dashboard.connections.writable import ReadOnlyMode


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400: the address or the form says something that no page of the console sends."""
    return _page(
        request, 400, "The request could not be read.", "Nothing was changed. Go back and load the page again."
    )


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403: the role does not reach, or nothing may be changed, in the words of the refusal."""
    reason = str(exception) if isinstance(exception, PermissionDenied) else ""
    is_read_only = isinstance(exception, ReadOnlyMode)
    headline = "Nothing may be changed here now." if is_read_only else "Your role does not allow this."
    return _page(request, 403, headline, reason or "Nothing was changed.")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404: nothing there, or nothing that this person may know of."""
    return _page(
        request, 404, "There is nothing at this address.", "It may have been renamed, or its connection was removed."
    )


class MethodPageMiddleware:
    """405 with a page: an address that only takes a form was opened, as from a browser's history."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        if response.status_code != 405 or request.method != "GET":
            return response
        advice = "Nothing was changed: what is done here is asked for on the page above it."
        page = _page(request, 405, "This address only takes a form.", advice, page_above(request.path))
        page["Allow"] = response["Allow"]
        return page


def page_above(path: str) -> str:
    """Return the nearest address above one that only takes a form: the page that has the form."""
    while path := path.rstrip("/").rpartition("/")[0]:
        if safe_path(f"{path}/"):
            return f"{path}/"
    return "/"


def server_error(request: HttpRequest) -> HttpResponse:
    """500: a fault of the console; 503 where the database does not serve. Rendered without the database."""
    error = sys.exc_info()[1]
    if isinstance(error, OperationalError | InterfaceError):
        return _page(request, 503, _of_the_database(str(error)), "Nothing was changed, and the lake was not asked.")
    return _page(
        request,
        500,
        "Levee failed to answer.",
        "The lake was not asked. The server's log has the details under the request id below.",
    )


def _of_the_database(said: str) -> str:
    for words, headline in (
        ("locked", "The database is locked: another process writes for too long."),
        ("full", "The database's disk is full: make room, then load the page again."),
        ("readonly", "The database may not be written: look at its file and its disk."),
    ):
        if words in said:
            return headline
    return "The database cannot be reached: the server's log has its words."


@requires_csrf_token
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form whose token is absent or old, which a sign-in in another tab can cause."""
    return _page(
        request,
        403,
        "The form was too old to be trusted.",
        "Nothing was changed. Load the page again and repeat what you did; this happens after signing in elsewhere.",
    )


def _page(request: HttpRequest, status: int, headline: str, advice: str, above: str = "") -> HttpResponse:
    context = {
        "above": above,
        "status": status,
        "headline": headline,
        "advice": advice,
        "request_id": getattr(request, "request_id", ""),
    }
    # The header itself is asked: the fault may lie before HtmxMiddleware.
    if request.headers.get("HX-Request") == "true":
        toast = render_to_string("components/error_toast.html", context)
        return HttpResponse(toast, status=status, headers={"HX-Retarget": "#toasts", "HX-Reswap": "beforeend"})
    if status >= 500:
        return HttpResponse(render_to_string("error.html", {**context, "layout": "gate.html"}), status=status)
    user = getattr(request, "user", None)
    layout = "base.html" if user is not None and user.is_authenticated else "gate.html"
    return render(request, "error.html", {**context, "layout": layout}, status=status)
