"""Signing in, signing out, and what a person sees of themselves."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods

from dashboard.accounts.actor import Actor, client_address
from dashboard.accounts.forms import SignInForm, ThemeForm
from dashboard.accounts.roles import role_of
from dashboard.accounts.throttle import SIGN_IN, WINDOW, is_paused
from dashboard.audit.log import record

SIGNED_IN_AT = "signed_in_at"
NOT_A_DESTINATION = {"login", "logout"}


def safe_path(path: str) -> str:
    """Return `path` if it is one of this console's own pages to land on, else an empty string."""
    if not path.startswith("/") or path.startswith("//") or "\\" in path or not path.isprintable():
        return ""
    try:
        match = resolve(path.partition("?")[0].partition("#")[0])
    except Resolver404:
        return ""
    return "" if match.url_name in NOT_A_DESTINATION else path


class SignIn(LoginView):
    """The sign-in page. Context of `accounts/login.html`: `form` (username, password), `next` (hidden field).

    Django rotates the session's key; success and failure are both written to the audit log.
    """

    template_name = "accounts/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        given = self.request.POST.get(self.redirect_field_name, self.request.GET.get(self.redirect_field_name, ""))
        return safe_path(given)

    def get_form_kwargs(self) -> dict[str, Any]:
        name, ip = self.request.POST.get("username", ""), client_address(self.request)
        paused = self.request.method == "POST" and is_paused(name[:150], ip)
        return {**super().get_form_kwargs(), "is_paused": paused, "pause_minutes": int(WINDOW.total_seconds() // 60)}

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_valid(form)
        self.request.session[SIGNED_IN_AT] = timezone.now().isoformat()
        record(Actor.from_request(self.request), SIGN_IN, target_type="person", target_label=form.get_user().username)
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        record(
            Actor.from_request(self.request),
            SIGN_IN,
            target_type="person",
            target_label=form.data.get("username", "")[:150],
            outcome="refused",
            detail=" ".join(str(error) for error in form.non_field_errors()) or "The form was not complete.",
        )
        return super().form_invalid(form)


class SignOut(LogoutView):
    """Ends the session; POST only."""

    http_method_names = ["post", "options"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            actor = Actor.from_request(request)
            record(actor, "account.sign_out", target_type="person", target_label=actor.name)
        return super().post(request, *args, **kwargs)


@require_http_methods(["GET", "HEAD", "POST"])
def me(request: HttpRequest) -> HttpResponse:
    """Show who one is; POST `theme` keeps it in the session.

    Context of `accounts/me.html`: `role` (viewer, operator, admin or empty), `signed_in_at` and `session_ends_at`
    (datetimes, the first None for a session without a sign-in page), `form` (one choice field, `theme`).
    """
    form = ThemeForm(request.POST or None, initial={"theme": request.session.get("theme", "system")})
    if request.method == "POST" and form.is_valid():
        request.session["theme"] = form.cleaned_data["theme"]
        messages.info(request, "The theme is kept until you sign out.")
        return redirect("me")
    signed_in_at = request.session.get(SIGNED_IN_AT)
    role = role_of(request.user)
    context = {
        "form": form,
        "role": role.value if role else "",
        "signed_in_at": parse_datetime(signed_in_at) if signed_in_at else None,
        "session_ends_at": request.session.get_expiry_date(),
    }
    return render(request, "accounts/me.html", context, status=400 if form.errors else 200)
