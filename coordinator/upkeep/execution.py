"""Making the calls of a plan of upkeep, in order, up to the first that does not come to its end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, assert_never

from coordinator.protocols.wording import counted
from coordinator.upkeep.calls import BeginTtlMigration, ListStore, StoreCall, SweepTable, UpkeepCall, WriteLifecycle
from coordinator.upkeep.lifecycle_execution import make_lifecycle_call
from coordinator.upkeep.outcome import CallOutcome, Result
from coordinator.upkeep.plan import UpkeepPlan
from coordinator.upkeep.store_execution import make_store_call
from coordinator.upkeep.sweep import Tally, sweep_table
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.lifecycle import Lifecycle


@dataclass(frozen=True, slots=True)
class Hands:
    """What execution needs besides the lake.

    `pause` waits about two seconds and raises where the job is to stop; `check_cancelled` only does the latter.
    `record` carries out what changes Levee's own records and returns its sentence; `remember` keeps what was before.
    `owner` is the account that must own a bucket whose rules are written.
    """

    pause: Callable[[], None]
    check_cancelled: Callable[[], None]
    record: Callable[[ListStore | BeginTtlMigration], tuple[Result, str]]
    remember: Callable[[dict[str, Any], dict[str, Any]], None]
    owner: str = ""
    tally: Tally = field(default_factory=Tally)


def execute(
    plan: UpkeepPlan, lake: Lake, hands: Hands, on_call: Callable[[int, CallOutcome], None] | None = None
) -> tuple[CallOutcome, ...]:
    """Make the plan's calls. A changed fact and an error of AWS are outcomes, never exceptions.

    A plan that was broken off at any place may be executed again: what is done already counts as done.
    """
    outcomes: list[CallOutcome] = []
    for place, call in enumerate(plan.calls):
        hands.check_cancelled()
        outcome = _make(call, lake, hands)
        outcomes.append(outcome)
        if on_call is not None:
            on_call(place, outcome)
        if not outcome.may_go_on:
            break
    return tuple(outcomes)


def _make(call: UpkeepCall, lake: Lake, hands: Hands) -> CallOutcome:
    try:
        match call:
            case StoreCall():
                return make_store_call(call, lake, hands.pause)
            case WriteLifecycle():
                return make_lifecycle_call(call, lake, hands.pause, hands.owner, _noting(hands))
            case SweepTable():
                return _sweep(call, lake, hands)
            case ListStore() | BeginTtlMigration():
                return CallOutcome(call, *hands.record(call))
    except AwsError as error:
        ids = (error.request_id,) if error.request_id else ()
        return CallOutcome(call, Result.FAILED, str(error), ids, error.code)
    assert_never(call)


def _noting(hands: Hands) -> Callable[[Lifecycle, Lifecycle], None]:
    def note(before: Lifecycle, wanted: Lifecycle) -> None:
        hands.remember(_image(before), _image(wanted))

    return note


def _image(lifecycle: Lifecycle) -> dict[str, Any]:
    return {"rules": [rule.xml for rule in lifecycle.rules], "minimum_size": lifecycle.minimum_size}


def _sweep(call: SweepTable, lake: Lake, hands: Hands) -> CallOutcome:
    deleted, changed = hands.tally.deleted, hands.tally.changed
    sweep_table(call, lake, delete=True, tally=hands.tally, check_cancelled=hands.check_cancelled)
    gone = hands.tally.deleted - deleted
    moved = hands.tally.changed - changed
    more = f", {moved:,} changed meanwhile and stay" if moved else ""
    return CallOutcome(call, Result.DONE, f"{call.folder}.tmp/: {counted(gone, 'file')} deleted{more}.")
