"""People: making one, giving roles, letting one in and out. Page, command line and sandbox all come through here."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from dashboard.accounts.access import role_of
from dashboard.accounts.actor import Actor
from dashboard.accounts.door import forget_failures
from dashboard.accounts.gate import require
from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from dashboard.accounts.search import Search, SearchHit, SearchKind, register
from dashboard.accounts.sessions import end_sessions
from dashboard.audit.log import record

VERB = "people.manage"
# What the audit log calls those who are no person.
RESERVED_NAMES = frozenset({"anonymous", "command", "schedule"})


@dataclass(frozen=True)
class PersonChange:
    """How a person is to be; None leaves a thing as it is. `grants`: the role by the number of a connection."""

    role: Role | None = None
    email: str | None = None
    is_active: bool | None = None
    grants: Mapping[int, Role] | None = None
    clears_role: bool = False


def find_person(name: str) -> User | None:
    """Return the person of that name."""
    return User.objects.filter(username=name).first()


def change_person(actor: Actor, name: str, change: PersonChange, *, password: str = "") -> User:
    """Create a person or change one and, where `password` is given, the password; closes their sessions then.

    A new one without a password cannot sign in before a link was used. Raises NotAllowed, and Django's ValidationError
    for a name or a password that will not do, and where no admin would be left.
    """
    require(actor, VERB, target=name)
    if name.lower() in RESERVED_NAMES:
        raise ValidationError(f"{name} is a name that Levee uses itself: choose another.")
    with transaction.atomic():
        user = User.objects.select_for_update().filter(username=name).first() or User(username=name)
        is_new, before = user._state.adding, _document(user)
        if actor.source == "page":  # the command line can always make another
            _refuse_to_lose_the_last_admin(user, change)
        if password:
            validate_password(password, user)
        if password or is_new:
            user.set_password(password or None)
        user.email = user.email if change.email is None else change.email
        user.is_active = user.is_active if change.is_active is None else change.is_active
        user.full_clean(exclude=["password"])
        user.save()
        _set_roles(user, change)
        if not is_new and (password or not user.is_active):
            end_sessions(actor, user)
        if password or change.is_active:
            forget_failures(name)
        _record(actor, user, before, password_changed=bool(password))
    return user


def invitation(actor: Actor, user: User) -> str:
    """Return the path at which a person sets a password: it works once, for a day, and only until they sign in."""
    require(actor, VERB, target=user.get_username())
    record(actor, "people.invite", target_type="person", target_id=str(user.pk), target_label=user.get_username())
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("welcome", args=[uid, default_token_generator.make_token(user)])


def _set_roles(user: User, change: PersonChange) -> None:
    if change.role or change.clears_role:
        user.groups.remove(*Group.objects.filter(name__in=[role.value for role in Role]))
    if change.role:
        user.groups.add(Group.objects.get_or_create(name=change.role.value)[0])
    if change.grants is not None:
        user.grants.exclude(connection__in=change.grants).delete()
        for connection, role in change.grants.items():
            Grant.objects.update_or_create(user=user, connection_id=connection, defaults={"role": role.value})


def _refuse_to_lose_the_last_admin(user: User, change: PersonChange) -> None:
    if user._state.adding or role_of(user) is not Role.ADMIN:
        return
    goes = (
        change.is_active is False or change.clears_role or (change.role is not None and change.role is not Role.ADMIN)
    )
    admins = User.objects.filter(Q(groups__name=Role.ADMIN.value) | Q(is_superuser=True), is_active=True)
    if goes and not admins.exclude(pk=user.pk).exists():
        raise ValidationError(f"{user.get_username()} is the only admin: make somebody else one first.")


def _document(user: User) -> dict[str, object]:
    """Return a person as the audit log keeps one; a new one is without a role."""
    if user._state.adding:
        return {"role": None}
    grants = {grant.connection.name: grant.role for grant in user.grants.select_related("connection")}
    return {"role": role_of(user), "email": user.email, "is_active": user.is_active, "grants": grants}


def _record(actor: Actor, user: User, before: dict[str, object], *, password_changed: bool) -> None:
    after = {**_document(user), "password_changed": password_changed}
    record(
        actor,
        VERB,
        target_type="person",
        target_id=str(user.pk),
        target_label=user.get_username(),
        before=before,
        after=after,
    )


def _for_admins(search: Search) -> QuerySet[User]:
    return User.objects.order_by("username") if search.actor.may(VERB) else User.objects.none()


register(
    SearchKind("People", "i-people", 60, "person", _for_admins, ("username__icontains", "email__icontains")),
    acts=lambda _: [SearchHit("Add a person…", reverse("new-person"), verb=VERB, about="new")],
)
