"""Pages of signing in and out, of a person's own account, and of people for admins."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView, PasswordResetConfirmView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import Resolver404, resolve, reverse_lazy
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.accounts.access import role_of
from dashboard.accounts.actor import PROVED_AT, Actor, proved_at
from dashboard.accounts.door import forget_failures, remember_browser
from dashboard.accounts.forms import NewPasswordForm, NewPersonForm, PasswordForm, PersonForm, SignInForm, ThemeForm
from dashboard.accounts.gate import NotAllowed, require
from dashboard.accounts.people import VERB, PersonChange, change_person, invitation
from dashboard.accounts.roles import PERMISSIONS, Role
from dashboard.accounts.sessions import end_sessions, note_sign_in, person_of, sessions_of, this_session
from dashboard.audit.log import record
from dashboard.connections.models import Connection

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

    Django rotates the session's key; success and failure are both written to the audit log. Who fails too often has to
    wait (dashboard.accounts.door); the page says so as 429.
    """

    template_name = "accounts/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        given = self.request.POST.get(self.redirect_field_name, self.request.GET.get(self.redirect_field_name, ""))
        return safe_path(given)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_valid(form)
        note_sign_in(self.request)
        user = person_of(self.request)
        remember_browser(self.request, response, user)
        record(Actor.from_request(self.request), SIGN_IN, target_type="person", target_label=user.get_username())
        return response


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
    if request.method == "POST" and form.is_valid():
        actor = Actor.from_request(request)
        record(actor, PROVE, target_type="person", target_label=actor.name)
        request.session[PROVED_AT] = timezone.now().isoformat()
        return redirect(back or "me")
    return render(request, "accounts/prove.html", {"form": form, "next": back}, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def me(request: HttpRequest) -> HttpResponse:
    """Show who one is; POST `theme` keeps it in the session.

    Context of `accounts/me.html`: `role` (viewer, operator, admin or empty), `grants` (roles on single connections),
    `proved_at` and `session_ends_at` (datetimes, the first None for a session without a sign-in page), `sessions`,
    `this_session` (its key), `form` (one choice field, `theme`).
    """
    form = ThemeForm(request.POST or None, initial={"theme": request.session.get("theme", "system")})
    if request.method == "POST" and form.is_valid():
        request.session["theme"] = form.cleaned_data["theme"]
        messages.info(request, "The theme is kept until you sign out.")
        return redirect("me")
    user = person_of(request)
    context = {
        "form": form,
        "role": role_of(user) or "",
        "grants": user.grants.select_related("connection").order_by("connection__name"),
        "proved_at": proved_at(request),
        "session_ends_at": request.session.get_expiry_date(),
        "sessions": sessions_of(user),
        "this_session": this_session(request),
    }
    return render(request, "accounts/me.html", context, status=400 if form.errors else 200)


@require_POST
def end_own_sessions(request: HttpRequest) -> HttpResponse:
    """End one of one's own sessions (`session`), or all but this one."""
    actor, this = Actor.from_request(request), this_session(request)
    ended = end_sessions(actor, person_of(request), only=request.POST.get("session", "")[:40], but=this)
    messages.info(request, f"{ended} {'session' if ended == 1 else 'sessions'} ended.")
    return redirect("me")


class ChangePassword(PasswordChangeView):
    """A new password for oneself; every other session ends. Context of `accounts/password.html`: `form`."""

    template_name = "accounts/password.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("me")

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        response = super().form_valid(form)
        actor, this = Actor.from_request(self.request), this_session(self.request)
        self.request.session[PROVED_AT] = timezone.now().isoformat()
        end_sessions(actor, person_of(self.request), but=this)
        record(actor, "account.password", target_type="person", target_label=actor.name)
        messages.success(self.request, "Your password is changed, and your other sessions have ended.")
        return response


@require_safe
def people(request: HttpRequest) -> HttpResponse:
    """List everybody. Context of `accounts/people.html`: `people`, each with `user`, `role` and `grants`."""
    _only_admins(request)
    rows = list(User.objects.prefetch_related("groups", "grants__connection").order_by("username"))
    listed = [{"user": user, "role": role_of(user) or "", "grants": user.grants.all()} for user in rows]
    return render(request, "accounts/people.html", {"people": listed})


@require_http_methods(["GET", "HEAD", "POST"])
def new_person(request: HttpRequest) -> HttpResponse:
    """Add a person. Context of `accounts/person.html`: `form`."""
    _only_admins(request)
    initial = {"role": Role.VIEWER.value}
    form = NewPersonForm(request.POST or None, connections=Connection.objects.all(), initial=initial)
    if form.is_valid():
        name = form.cleaned_data["name"]
        if User.objects.filter(username__iexact=name).exists():
            form.add_error("name", f"{name} is there already.")
        elif _saved(request, form, name):
            user = User.objects.get(username=name)
            return redirect("person", user.pk)
    return render(request, "accounts/person.html", {"form": form}, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def person(request: HttpRequest, pk: int) -> HttpResponse:
    """Show and change a person. Context of `accounts/person.html`: `form`, `person`, `sessions`, `link` (or empty)."""
    _only_admins(request)
    user = get_object_or_404(User, pk=pk)
    form = PersonForm(request.POST or None, connections=Connection.objects.all(), initial=_as_initial(user))
    if form.is_valid() and _saved(request, form, user.get_username()):
        messages.success(request, f"{user.get_username()} is changed.")
        return redirect("person", pk)
    return _page(request, user, form, status=400 if form.errors else 200)


@require_POST
def person_link(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a link by which the person sets a password, and show it this once."""
    user = get_object_or_404(User, pk=pk)
    link = request.build_absolute_uri(invitation(Actor.from_request(request), user))
    form = PersonForm(connections=Connection.objects.all(), initial=_as_initial(user))
    return _page(request, user, form, link=link)


@require_POST
def person_sessions(request: HttpRequest, pk: int) -> HttpResponse:
    """End the sessions of a person."""
    user, actor = get_object_or_404(User, pk=pk), Actor.from_request(request)
    require(actor, VERB, target=user.get_username())
    ended = end_sessions(actor, user)
    messages.success(request, f"{user.get_username()} is signed out everywhere: {ended} sessions ended.")
    return redirect("person", pk)


class Welcome(PasswordResetConfirmView):
    """Where a person who got a link sets a password; every session they had ends. Context of `accounts/welcome.html`:
    `form`, `validlink`."""

    template_name = "accounts/welcome.html"
    success_url = reverse_lazy("login")

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        response = super().form_valid(form)
        actor = Actor.from_request(self.request)
        end_sessions(actor, form.user)
        forget_failures(form.user.get_username())
        record(actor, "account.password", target_type="person", target_label=form.user.get_username())
        messages.success(self.request, "Your password is set. Sign in with it.")
        return response


def _only_admins(request: HttpRequest) -> None:
    """Let admins read and, after a fresh sign-in, send; who sends without being one is in the audit log."""
    actor = Actor.from_request(request)
    if request.method == "POST":
        require(actor, VERB)
    elif not actor.may(VERB):
        raise NotAllowed(VERB, PERMISSIONS[VERB])


def _saved(request: HttpRequest, form: PersonForm, name: str) -> bool:
    """Save what the form says, or put the reason why not into it."""
    role = form.chosen_role
    change = PersonChange(
        role=role,
        email=form.cleaned_data["email"],
        is_active=form.cleaned_data["is_active"] or isinstance(form, NewPersonForm),
        grants=form.chosen_grants,
        clears_role=role is None,
    )
    try:
        change_person(Actor.from_request(request), name, change)
    except ValidationError as error:
        form.add_error(None, " ".join(error.messages))
        return False
    return True


def _page(request: HttpRequest, user: User, form: PersonForm, *, link: str = "", status: int = 200) -> HttpResponse:
    context = {"form": form, "person": user, "sessions": sessions_of(user), "link": link}
    return render(request, "accounts/person.html", context, status=status)


def _as_initial(user: User) -> dict[str, object]:
    grants = {f"on_{grant.connection_id}": grant.role for grant in user.grants.all()}
    return {"email": user.email, "role": role_of(user) or "", "is_active": user.is_active, **grants}
