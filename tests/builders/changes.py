"""Carrying plans out in tests, without a job around them."""

from collections.abc import Callable
from typing import Any

from changes.calls import Answer, Sending, done
from changes.execution import CallOutcome, Execution, execute
from changes.plan import ChangePlan


def execute_plan(
    plan: ChangePlan, lake: Any, *, on_call: Callable[[int, CallOutcome], None] | None = None, **sending: Any
) -> Execution:
    """Make the plan's calls on a lake, or on what stands for one; `sending` is what `Sending` takes besides."""
    return execute(plan.calls, Sending(lake, **{"records": NO_RECORDS, **sending}), on_call)


class NoRecords:
    """Records of Levee's own, where a test has none: whatever is to be recorded is."""

    def list_store(self, name: str, kind: str) -> Answer:
        return done("")

    def begin_ttl_migration(self, store: str, attribute: str) -> Answer:
        return done("")

    def abandon(self, uri: str, commits: tuple[tuple[int, str], ...]) -> Answer:
        return done("")


NO_RECORDS = NoRecords()
