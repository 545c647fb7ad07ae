"""Signing in, signing out, and proving again who one is."""

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dashboard.accounts.actor import PROVED_AT, Actor
from dashboard.accounts.forms import PasswordForm, SignInForm
from dashboard.audit.log import AuditOutcome, record

SIGN_IN = "account.sign_in"
PROVE = "account.prove"
NOT_A_DESTINATION = {"login", "logout", "prove"}


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

    Django rotates the session's key; success and failure are both written to the audit log. django-axes pauses who
    fails too often; the page says so as 429.
    """

    template_name = "accounts/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        given = self.request.POST.get(self.redirect_field_name, self.request.GET.get(self.redirect_field_name, ""))
        return safe_path(given)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_valid(form)
        self.request.session[PROVED_AT] = timezone.now().isoformat()
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
def prove(request: HttpRequest) -> HttpResponse:
    """Ask for the password again before what can lose data, then go back to where that was asked for.

    Context of `accounts/prove.html`: `form` (password), `next` (where to go back to).
    """
    back = safe_path(request.POST.get("next", request.GET.get("next", "")))
    form = PasswordForm(request, request.POST or None)
    if request.method == "POST":
        proved = form.is_valid()
        detail = "" if proved else " ".join(str(error) for error in form["password"].errors)
        actor = Actor.from_request(request)
        outcome: AuditOutcome = "done" if proved else "refused"
        record(actor, PROVE, target_type="person", target_label=actor.name, outcome=outcome, detail=detail)
        if proved:
            request.session[PROVED_AT] = timezone.now().isoformat()
            return redirect(back or "me")
    return render(request, "accounts/prove.html", {"form": form, "next": back}, status=400 if form.errors else 200)
