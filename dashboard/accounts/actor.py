"""Actor: who asks for something, and from where. Every action takes one."""

import getpass
import ipaddress
import socket
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from django.conf import settings
from django.http import HttpRequest

from dashboard.accounts.roles import PERMISSIONS, Role, role_of

Source = Literal["page", "command", "schedule", "worker"]


@dataclass(frozen=True)
class Actor:
    """A person at a page, a command, the schedule or a worker; what the audit log copies."""

    name: str
    source: Source
    user: Any = None
    ip: str | None = None
    user_agent: str = ""
    request_id: str = ""

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
    def role(self) -> Role | None:
        return Role.ADMIN if self.source in {"command", "schedule"} else role_of(self.user)

    def may(self, verb: str) -> bool:
        """Say whether the role reaches; an unknown verb is a KeyError."""
        needed = PERMISSIONS[verb]
        return self.role is not None and self.role.includes(needed)


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
