"""The plan of an act from its checks: what is sent, in order, or why nothing may be. Pure."""

from changes.calls import Call
from changes.plan import ChangePlan, Refusal
from coordinator.coordination.checks import Operation, Preflight
from coordinator.coordination.reading import CoordinationRequest
from coordinator.coordination.situation import Situation
from coordinator.coordination.spark_calls import spark_calls
from coordinator.coordination.table_checks import backfills_of
from lake.delta.uri import TableUri

TITLES = {
    Operation.ENABLE: "Enable coordinated commits on {}",
    Operation.DROP: "Drop coordinated commits on {}",
    Operation.CREATE: "Create the coordinated table {}",
    Operation.LEFTOVERS: "Remove what a drop left behind on {}",
}
DANGER = {Operation.DROP: "Afterwards the coordinator no longer keeps writers apart, and there is no undo."}


def title_of(change: CoordinationRequest) -> str:
    return TITLES[change.operation].format(TableUri.parse(change.uri).name)


def plan_act(change: CoordinationRequest, situation: Situation, checked: Preflight) -> ChangePlan | Refusal:
    """What would be sent now; refused where a check fails.

    The plan rests on how each check came out, so that it is another one where one comes out otherwise; versions may
    move on.
    """
    kind, title = change.operation.value, title_of(change)
    if not checked.may_run:
        return Refusal(kind, checked.uri, checked.refusal(), title=title)
    ahead = _ahead(change, situation)
    log_store = situation.log_store if situation.has_log_store else ""
    statements = spark_calls(change, checked, log_store=log_store, finishing=situation.is_half_dropped)
    return ChangePlan(
        kind,
        checked.uri,
        title,
        (*ahead, *statements),
        danger=DANGER.get(change.operation, ""),
        rests_on=(checked.store, checked.endpoint, *_came_out(checked)),
        ahead=len(ahead),
    )


def _ahead(change: CoordinationRequest, situation: Situation) -> tuple[Call, ...]:
    """What the coordinator accepted is published before a drop, which would do it unseen, or fail half-way."""
    if change.operation is not Operation.DROP:
        return ()
    return tuple(call for plan in backfills_of(situation) for call in plan.calls)


def _came_out(checked: Preflight) -> list[str]:
    return sorted(f"{check.name}: {check.state.value}" for check in checked.checks)
