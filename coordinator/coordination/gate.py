"""What has to hold before an act is asked for. Each refusal is one sentence, and nothing was changed."""

from changes.gate import NotConfirmed, PlanNeeded
from coordinator.coordination.checks import Operation
from dashboard.connections.writable import ChangeRefused


class PreflightNeeded(PlanNeeded):
    """No checks with the confirmed digest were made lately."""

    def __init__(self) -> None:
        super().__init__("These checks are", "check again")


class ChecksFailed(ChangeRefused):
    """The checks that were shown already refuse it."""


class ConfirmationNeeded(NotConfirmed):
    """What a person has to state or type is missing."""


STATEMENTS = {
    Operation.ENABLE: "Every writer of this table is paused",
    Operation.DROP: "Every writer of this table knows how it commits afterwards",
}


def require_stated(operation: Operation, *, stated: bool) -> None:
    """Raise ConfirmationNeeded unless the statement about the writers was made, where the act needs one."""
    if operation in STATEMENTS and not stated:
        raise ConfirmationNeeded(f"Confirm the statement: {STATEMENTS[operation].lower()}.")
