"""What a person may, everywhere and on single connections; read once a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.http import HttpRequest

from dashboard.accounts.roles import Role, highest

if TYPE_CHECKING:
    from dashboard.connections.models import Connection

_KEPT = "_levee_access"


@dataclass(frozen=True)
class UserAccess:
    """`role` holds everywhere, `grants` on the connections of these numbers; the higher of the two counts."""

    role: Role | None = None
    grants: Mapping[int, Role] = field(default_factory=dict)

    def on(self, connection: "Connection | None") -> Role | None:
        """Return the role on a connection; on None the one that holds everywhere."""
        granted = self.grants.get(connection.pk) if connection is not None else None
        return highest(role for role in (self.role, granted) if role is not None)

    @property
    def connections(self) -> frozenset[int] | None:
        """The numbers of the connections that may be seen; None: all."""
        return None if self.role is not None else frozenset(self.grants)


def read_access(user: Any) -> UserAccess:
    """Ask the database, once, what a person may now; a stranger or a disabled person may nothing."""
    if user is None or not user.is_active:
        return UserAccess()
    held = User.objects.filter(pk=user.pk).values_list("groups__name", "grants__connection_id", "grants__role")
    groups = {group for group, _, _ in held}
    role = Role.ADMIN if user.is_superuser else highest(role for role in Role if role.value in groups)
    return UserAccess(role, {connection: Role(granted) for _, connection, granted in held if granted})


def role_of(user: Any) -> Role | None:
    """Return the role that a person has everywhere."""
    return read_access(user).role


def access_of(request: HttpRequest) -> UserAccess:
    """Return what the person of this request may, read once for all that the request asks."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return UserAccess()
    kept: tuple[int, UserAccess] | None = getattr(request, _KEPT, None)
    if kept is None or kept[0] != user.pk:
        kept = (user.pk, read_access(user))
        setattr(request, _KEPT, kept)
    return kept[1]
