"""What has to hold before an act is asked for. Each refusal is one sentence, and nothing was changed."""

from coordinator.coordination.checks import Operation
from coordinator.repairs.gate import RepairRefused, require_writable, why_not_writable

__all__ = [
    "ActRefused",
    "ConfirmationNeeded",
    "PreflightNeeded",
    "require_confirmed",
    "require_writable",
    "why_not_writable",
]


class ActRefused(RepairRefused):
    """An act that is not started; the message says why and what to do."""


class PreflightNeeded(ActRefused):
    """No checks with the confirmed digest were made in the last 15 minutes."""

    def __init__(self) -> None:
        super().__init__("These checks are older than 15 minutes or were never made: check again.")


class ChecksFailed(ActRefused):
    """The checks that were shown already refuse it."""


class ConfirmationNeeded(ActRefused):
    """What a person has to state or type is missing."""


STATEMENTS = {
    Operation.ENABLE: "Every writer of this table is paused",
    Operation.DROP: "Every writer of this table knows how it commits afterwards",
}


def require_confirmed(operation: Operation, name: str, *, typed: str, stated: bool) -> None:
    """Raise ConfirmationNeeded unless the statement was made, and for a drop the table's name typed."""
    if operation in STATEMENTS and not stated:
        raise ConfirmationNeeded(f"Confirm the statement: {STATEMENTS[operation].lower()}.")
    if operation is Operation.DROP and typed.strip() != name:
        raise ConfirmationNeeded(f"A drop cannot be undone: type the table's name, {name}, to confirm it.")
