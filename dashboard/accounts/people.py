"""People: making one, giving one a role. The command line and the sandbox both come through here."""

import secrets
from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.db import transaction

from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role, require, role_of
from dashboard.audit.log import record

# What the audit log calls those who are no person.
RESERVED_NAMES = frozenset({"anonymous", "command", "schedule"})


class NameReserved(ValueError):
    """The name belongs to an actor that is no person."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is a name that Levee uses itself: choose another.")


@dataclass(frozen=True)
class Saved:
    """What `save_person` did. `password` is the one it made up, shown this once, or empty."""

    user: User
    is_new: bool
    role: Role
    password: str


def save_person(actor: Actor, name: str, role: Role, password: str = "") -> Saved:
    """Create a person or change one's role and, where `password` is given, the password; closes their sessions then.

    A new person without a password gets a random one. Raises NotAllowed, NameReserved, and Django's ValidationError
    for a name or a password that will not do.
    """
    require(actor, "people.manage", target=name)
    if name.lower() in RESERVED_NAMES:
        raise NameReserved(name)
    with transaction.atomic():
        user = User.objects.select_for_update().filter(username=name).first() or User(username=name)
        is_new, before = user.pk is None, role_of(user) if user.pk else None
        made_up = secrets.token_urlsafe(15) if is_new and not password else ""
        _set_password(user, password, made_up)
        user.full_clean(exclude=["password"])
        user.save()
        user.groups.remove(*Group.objects.filter(name__in=[other.value for other in Role]))
        user.groups.add(Group.objects.get_or_create(name=role.value)[0])
        record(
            actor,
            "people.manage",
            target_type="person",
            target_id=str(user.pk),
            target_label=name,
            before={"role": before.value if before else None},
            after={"role": role.value, "password_changed": bool(password or made_up)},
        )
    return Saved(user, is_new, role, made_up)


def _set_password(user: User, password: str, made_up: str) -> None:
    if password:
        validate_password(password, user)
    if password or made_up:
        user.set_password(password or made_up)
