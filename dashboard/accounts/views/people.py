"""People, for admins: who may do what, links to set a password, and where each is signed in."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.accounts.actor import Actor
from dashboard.accounts.forms import NewPersonForm, PersonForm
from dashboard.accounts.gate import NotAllowed, require
from dashboard.accounts.people import (
    VERB,
    LastAdmin,
    NameReserved,
    PersonChange,
    change_person,
    invitation,
)
from dashboard.accounts.roles import PERMISSIONS, Role, role_of
from dashboard.accounts.sessions import end_sessions, sessions_of
from dashboard.audit.log import record
from dashboard.connections.models import Connection


@require_safe
def people(request: HttpRequest) -> HttpResponse:
    """List everybody. Context of `accounts/people.html`: `people`, each with `shown_role` and `shown_grants`."""
    _only_admins(request)
    rows = list(User.objects.prefetch_related("groups", "grants__connection").order_by("username"))
    listed = [{"user": user, "role": _shown_role(user), "grants": user.grants.all()} for user in rows]
    return render(request, "accounts/people.html", {"people": listed})


@require_http_methods(["GET", "HEAD", "POST"])
def new_person(request: HttpRequest) -> HttpResponse:
    """Add a person. Context of `accounts/person.html`: `form`."""
    _only_admins(request)
    given = request.POST if request.method == "POST" else None
    form = NewPersonForm(given, connections=Connection.objects.all(), initial={"role": Role.VIEWER.value})
    if given is not None and form.is_valid():
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
    form = PersonForm(
        request.POST if request.method == "POST" else None,
        connections=Connection.objects.all(),
        initial=_as_initial(user),
    )
    if request.method == "POST" and form.is_valid() and _saved(request, form, user.get_username()):
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
    except (NameReserved, LastAdmin) as error:
        form.add_error(None, str(error))
    except ValidationError as error:
        form.add_error(None, " ".join(error.messages))
    else:
        return True
    return False


def _page(request: HttpRequest, user: User, form: PersonForm, *, link: str = "", status: int = 200) -> HttpResponse:
    context = {"form": form, "person": user, "sessions": sessions_of(user), "link": link}
    return render(request, "accounts/person.html", context, status=status)


def _as_initial(user: User) -> dict[str, Any]:
    role = role_of(user)
    grants = {f"on_{grant.connection_id}": grant.role for grant in user.grants.all()}
    return {"email": user.email, "role": role.value if role else "", "is_active": user.is_active, **grants}


def _shown_role(user: User) -> str:
    role = role_of(user)
    return role.value if role else ""
