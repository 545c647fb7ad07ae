"""Keep a person's session alive while it is used, know where they are signed in, and ask for a fresh sign-in."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from dashboard.accounts.gate import FreshSignInNeeded
from dashboard.accounts.scope import require_visible
from dashboard.accounts.sessions import note_use
from dashboard.web.answers import page_before

GetResponse = Callable[[HttpRequest], HttpResponseBase]


class SignInMiddleware(LoginRequiredMiddleware):
    """Sends strangers to the sign-in page. Whoever sent a form comes back to the form's page."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseRedirect:
        if request.method != "POST":
            return super().handle_no_permission(request, view_func)
        field = self.get_redirect_field_name(view_func)
        return redirect_to_login(page_before(request) or "/", self.get_login_url(view_func), field)


class SessionMiddleware:
    """At most once a minute write down that a session is used; that also moves its end eight hours ahead."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated:
            note_use(request)
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: object, args: Sequence[Any], parts: dict[str, object]
    ) -> HttpResponse | None:
        """Keep what belongs to a connection out of a person's sight from their pages."""
        if request.user.is_authenticated and request.resolver_match is not None:
            require_visible(request, request.resolver_match.url_name or "", parts)
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Send who may, but typed the password too long ago, to type it again and come back."""
        if not isinstance(exception, FreshSignInNeeded):
            return None
        here = request.get_full_path() if request.method in {"GET", "HEAD"} else page_before(request)
        return redirect(f"{reverse('prove')}?{urlencode({'next': here})}")
