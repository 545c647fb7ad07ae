"""Whether anything may be changed in a lake: the deployment's read-only mode, and that of each connection."""

from django.conf import settings
from django.core.exceptions import PermissionDenied

from dashboard.connections.models import Connection


class ChangeRefused(Exception):
    """A change of the lake that is not started; the message says why and what to do."""


class ReadOnlyMode(ChangeRefused, PermissionDenied):
    """The deployment changes nothing in the lake."""

    def __init__(self) -> None:
        super().__init__("Levee is in read-only mode: it changes nothing in the lake until LEVEE_READ_ONLY is off.")


class ConnectionReadOnly(ReadOnlyMode):
    """The connection is read-only."""

    def __init__(self, name: str) -> None:
        Exception.__init__(
            self,
            f"The connection {name} is read-only: Levee shows what it would change there and changes nothing. "
            "Make the change with your own tools, or take read_only off the connection.",
        )


def require_writable(connection: Connection | None = None) -> None:
    """Raise ReadOnlyMode where settings.READ_ONLY is set, ConnectionReadOnly where this connection is read-only."""
    if settings.READ_ONLY:
        raise ReadOnlyMode
    if connection is not None and is_read_only(connection):
        raise ConnectionReadOnly(connection.name)


def why_not_writable(connection: Connection | None) -> str:
    """The refusal as a page says it before anybody clicks, "" where there is none."""
    if settings.READ_ONLY:
        return "Levee is in read-only mode: it changes nothing in the lake."
    if connection is not None and is_read_only(connection):
        return f"The connection {connection.name} is read-only: nothing is changed through it."
    return ""


def is_read_only(connection: Connection) -> bool:
    """Whether nothing may be changed through this connection, as stored now."""
    stored = Connection.objects.filter(pk=connection.pk).values_list("read_only", flat=True).first()
    return bool(settings.READ_ONLY or stored)
