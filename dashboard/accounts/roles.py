"""Who may do what: three roles, each including the one before, and the least role that each verb needs."""

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied

from dashboard.audit.log import record

if TYPE_CHECKING:
    from dashboard.accounts.actor import Actor


class Role(StrEnum):
    """A Django group of this name, from least to most."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def level(self) -> int:
        return list(Role).index(self)

    def includes(self, other: "Role") -> bool:
        return self.level >= other.level


PERMISSIONS: dict[str, Role] = {
    "lake.observe": Role.OPERATOR,
    "job.cancel": Role.OPERATOR,
    "table.plan-repair": Role.OPERATOR,
    "table.repair": Role.OPERATOR,
    "table.repair-losing": Role.ADMIN,
    "table.check-coordination": Role.OPERATOR,
    "table.enable-coordination": Role.OPERATOR,
    "table.drop-coordination": Role.OPERATOR,
    "table.create": Role.OPERATOR,
    "lake.declare": Role.ADMIN,
    "people.manage": Role.ADMIN,
}


class NotAllowed(PermissionDenied):
    """The actor's role does not reach; `verb` and `needed_role` say by how much."""

    def __init__(self, verb: str, needed_role: Role) -> None:
        super().__init__(f"{verb} needs the role {needed_role.value}. An admin gives it with `levee person`.")
        self.verb = verb
        self.needed_role = needed_role


def role_of(user: Any) -> Role | None:
    """Return the highest role among a user's groups; None for a stranger, a user without one, or a disabled user."""
    if user is None or not user.is_active:
        return None
    if user.is_superuser:
        return Role.ADMIN
    names = set(user.groups.values_list("name", flat=True))
    return max((role for role in Role if role.value in names), key=lambda role: role.level, default=None)


def require(actor: "Actor", verb: str, target: str = "") -> None:
    """Let the actor pass, or write the refusal to the audit log and raise NotAllowed; an unknown verb is a KeyError."""
    needed = PERMISSIONS[verb]
    if actor.may(verb):
        return
    refusal = NotAllowed(verb, needed)
    record(actor, verb, target_label=target, outcome="refused", detail=str(refusal))
    raise refusal
