"""Headers of every page, and what htmx needs to hear instead of a redirect."""

import uuid
from collections.abc import Callable

from django.conf import settings
from django.contrib.messages import get_messages
from django.contrib.messages.storage.base import BaseStorage
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import resolve_url
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django_htmx.http import HttpResponseClientRedirect

from dashboard.web.text import visible

GetResponse = Callable[[HttpRequest], HttpResponseBase]
HEALTH = frozenset({"/healthz", "/readyz"})

PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()"
    for feature in ("accelerometer", "camera", "geolocation", "gyroscope", "microphone", "payment", "serial", "usb")
)


class AlwaysHeadersMiddleware:
    """The headers that every answer carries, whoever made it: a page, a static file, or the refusal of a host."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers["Permissions-Policy"] = PERMISSIONS_POLICY
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response


class HealthMiddleware:
    """Lets load balancers ask by whatever name or address they know: no answer about health depends on it.

    They are not sent to HTTPS either (SECURE_REDIRECT_EXEMPT).
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info in HEALTH:
            request.get_host = lambda: "health"  # type: ignore[method-assign]
        return self.get_response(request)


class CompressionMiddleware(GZipMiddleware):
    """Compress what has no digest: that of a download is of its bytes as they are sent."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return response if response.has_header("Repr-Digest") else super().process_response(request, response)


class PageHeadersMiddleware:
    """Number the request, keep pages out of caches, and answer htmx with whole-page redirects and toasts."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.request_id = uuid.uuid4().hex[:16]  # type: ignore[attr-defined]
        response = self.get_response(request)
        if getattr(request, "htmx", False):
            response = _answer_to_htmx(request, response)
        _show_the_unseen(response)
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
        patch_vary_headers(response, ("HX-Request",))
        return response


def _show_the_unseen(response: HttpResponseBase) -> None:
    """Write control characters and marks of direction in pages and logs as their numbers: the lake may hold any text.

    It takes a millisecond for a page of 250 KB. Downloads are left as they are.
    """
    kind = response.headers.get("Content-Type", "")
    if isinstance(response, HttpResponse) and kind.startswith(("text/html", "text/plain")):
        shown = response.content.decode(response.charset)
        if (safe := visible(shown)) != shown:
            response.content = safe.encode(response.charset)


def _answer_to_htmx(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Turn a redirect into a change of page: fetch would follow it and put a whole page into a fragment's place."""
    location = response.headers.get("Location", "")
    if 300 <= response.status_code < 400 and location:
        return _change_page(request, response, location)
    if isinstance(response, HttpResponse) and response.headers.get("Content-Type", "").startswith("text/html"):
        _append_toasts(request, response)
    return response


def _change_page(request: HttpRequest, response: HttpResponseBase, location: str) -> HttpResponse:
    login = resolve_url(settings.LOGIN_URL)
    if location.partition("?")[0] == login:
        # The fragment's own address is no page to come back to; the page around it is.
        back = QueryDict(mutable=True)
        back["next"] = getattr(request, "htmx").current_url_abs_path or "/"  # noqa: B009 - set by HtmxMiddleware
        location = f"{login}?{back.urlencode(safe='/')}"
    answer = HttpResponseClientRedirect(location)
    answer.cookies = response.cookies
    return answer


def _append_toasts(request: HttpRequest, response: HttpResponse) -> None:
    """Add the messages that this request left, out of band; a whole page has shown them already."""
    storage: BaseStorage | list[str] = get_messages(request)
    if not isinstance(storage, BaseStorage) or not len(storage):
        return
    toasts = render_to_string("components/toasts.html", {"messages": storage, "out_of_band": True})
    response.content += toasts.encode()
