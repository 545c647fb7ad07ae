"""What has to hold before anything is changed in the lake. Each refusal is one sentence, and nothing was changed."""

from datetime import timedelta

from django.conf import settings

from dashboard.connections.models import Connection

PLAN_LASTS = timedelta(minutes=15)
"""How long a plan may be confirmed; the worker reads and plans anew in any case."""


class RepairRefused(Exception):
    """A repair that is not started; the message says why and what to do."""


class ReadOnlyMode(RepairRefused):
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


class PlanNeeded(RepairRefused):
    """No plan with the confirmed digest was made in the last 15 minutes."""

    def __init__(self) -> None:
        super().__init__("This plan is older than 15 minutes or was never made: plan the repair again.")


class NameNotTyped(RepairRefused):
    """A repair that can lose something was asked for without the table's name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"This repair can lose a commit: type the table's name, {name}, to confirm it.")


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


def require_name(typed: str, name: str) -> None:
    """Raise NameNotTyped unless `typed` is the table's name."""
    if typed.strip() != name:
        raise NameNotTyped(name)
