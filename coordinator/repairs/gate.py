"""What has to hold before anything is changed in the lake. Each refusal is one sentence, and nothing was changed."""

from datetime import timedelta

from dashboard.connections.writable import (
    ChangeRefused,
    ConnectionReadOnly,
    ReadOnlyMode,
    is_read_only,
    require_writable,
    why_not_writable,
)

__all__ = [
    "ConnectionReadOnly",
    "NameNotTyped",
    "PlanNeeded",
    "ReadOnlyMode",
    "RepairRefused",
    "is_read_only",
    "require_name",
    "require_writable",
    "why_not_writable",
]

RepairRefused = ChangeRefused

PLAN_LASTS = timedelta(minutes=15)
"""How long a plan may be confirmed; the worker reads and plans anew in any case."""


class PlanNeeded(RepairRefused):
    """No plan with the confirmed digest was made in the last 15 minutes."""

    def __init__(self) -> None:
        super().__init__("This plan is older than 15 minutes or was never made: plan the repair again.")


class NameNotTyped(RepairRefused):
    """A repair that can lose something was asked for without the table's name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"This repair can lose a commit: type the table's name, {name}, to confirm it.")


def require_name(typed: str, name: str) -> None:
    """Raise NameNotTyped unless `typed` is the table's name."""
    if typed.strip() != name:
        raise NameNotTyped(name)
