"""Actor: who asks for something, and from where. Every action takes one."""

import getpass
import ipaddress
import socket
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from dashboard.accounts.access import UserAccess, access_of, read_access
from dashboard.accounts.roles import FRESH_FOR, PERMISSIONS, Role
from dashboard.audit.log import Doer

if TYPE_CHECKING:
    from dashboard.connections.models import Connection

PROVED_AT = "signed_in_at"


@dataclass(frozen=True)
class Actor(Doer):
    """A person at a page, a command, the schedule or a worker; what the audit log copies."""

    proved_at: datetime | None = None
    """When the person last typed their password; None: never in this session."""

    known: UserAccess | None = field(default=None, compare=False, repr=False)
    """What the person may, where it has been read already."""

    @classmethod
    def from_request(cls, request: HttpRequest) -> "Actor":
        """Make the actor of a page; a stranger is called anonymous."""
        user = request.user if request.user.is_authenticated else None
        return cls(
            name=user.get_username() if user else "anonymous",
            source="page",
            user=user,
            ip=client_address(request),
            user_agent=request.headers.get("User-Agent", "")[:400],
            request_id=str(getattr(request, "request_id", ""))[:64],
            proved_at=proved_at(request),
            known=access_of(request),
        )

    @classmethod
    def command(cls) -> "Actor":
        """Make the actor of the command line: whoever may start it may do all."""
        return cls(name="command", source="command", user_agent=f"{_system_user()}@{socket.gethostname()}"[:400])

    @classmethod
    def schedule(cls) -> "Actor":
        """Make the actor of the ticks."""
        return cls(name="schedule", source="schedule")

    @classmethod
    def worker(cls, on_behalf_of: str, user: Any = None) -> "Actor":
        """Make the actor that records the outcome of a job somebody else asked for."""
        return cls(name=on_behalf_of, source="worker", user=user)

    @cached_property
    def _access(self) -> UserAccess:
        if self.source in {"command", "schedule"}:
            return UserAccess(Role.ADMIN)
        return self.known if self.known is not None else read_access(self.user)

    def may(self, verb: str, connection: "Connection | None" = None) -> bool:
        """Say whether the role, on this connection or everywhere, reaches; an unknown verb is a KeyError."""
        needed = PERMISSIONS[verb]
        role = self.role_on(connection)
        return role is not None and role.includes(needed)

    def role_on(self, connection: "Connection | None") -> Role | None:
        """Return the role on a connection; on None the role that holds everywhere."""
        return self._access.on(connection)

    @property
    def is_fresh(self) -> bool:
        """Say whether what can lose data may be asked for without typing the password again."""
        if self.source != "page":
            return True
        return self.proved_at is not None and timezone.now() - self.proved_at < FRESH_FOR


def proved_at(request: HttpRequest) -> datetime | None:
    """Return when the password was last typed in this session."""
    session = getattr(request, "session", None)
    text = session.get(PROVED_AT) if session is not None else None
    return parse_datetime(text) if isinstance(text, str) else None


def client_address(request: HttpRequest) -> str | None:
    """Return the client's address; behind a proxy the last hop it wrote down, since earlier ones can be made up."""
    address = request.META.get("REMOTE_ADDR", "")
    if settings.SECURE_PROXY_SSL_HEADER:
        address = request.headers.get("X-Forwarded-For", address).split(",")[-1].strip()
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return None


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number that has no name
        return "unknown"
