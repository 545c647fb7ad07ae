"""All checks of one act, and its plan from them: what is sent, in order, or why nothing may be. Pure."""

from changes.calls import Call
from changes.plan import ChangePlan, Refusal
from coordinator.coordination import surroundings as around
from coordinator.coordination import table_checks as table
from coordinator.coordination.checks import CoordinationRequest, Operation, Preflight
from coordinator.coordination.situation import Situation
from coordinator.coordination.spark_calls import spark_calls
from lake.delta.uri import TableUri

TITLES = {
    Operation.ENABLE: "Enable coordinated commits on {}",
    Operation.DROP: "Drop coordinated commits on {}",
    Operation.CREATE: "Create the coordinated table {}",
    Operation.LEFTOVERS: "Remove what a drop left behind on {}",
}
DANGER = {Operation.DROP: "Afterwards the coordinator no longer keeps writers apart, and there is no undo."}
_OF_TABLE = (
    table.path_check,
    table.readable_check,
    table.mechanism_check,
    table.features_check,
    table.waiting_check,
)
_STORE = (around.store_check, around.endpoint_check)
_ACTING = (around.spark_check, around.log_store_check, around.busy_check, around.writers_check)
_CHECKS = {
    Operation.ENABLE: (
        *_OF_TABLE,
        table.entries_check,
        *_STORE,
        around.settings_check,
        *_ACTING,
        around.readers_check,
        around.future_check,
    ),
    Operation.DROP: (
        *_OF_TABLE,
        table.registration_check,
        around.settings_check,
        *_STORE,
        table.entries_check,
        *_ACTING,
        around.readers_check,
    ),
    Operation.LEFTOVERS: (*_OF_TABLE, table.entries_check, *_ACTING),
    Operation.CREATE: (
        table.path_check,
        around.place_check,
        around.columns_check,
        *_STORE,
        around.spark_check,
        around.busy_check,
        around.future_check,
    ),
}


def preflight(situation: Situation) -> Preflight:
    """Make every check, in the order of the page. Raises nothing, whatever was read."""
    made = (check(situation) for check in _CHECKS[situation.operation])
    verdict = situation.repair.verdict if situation.repair else None
    return Preflight(
        situation.operation,
        situation.uri,
        situation.location,
        tuple(check for check in made if check),
        store=situation.store.name if situation.store else "",
        endpoint=around.endpoint_of(situation),
        version=verdict.accepted_version if verdict else None,
    )


def title_of(change: CoordinationRequest) -> str:
    return TITLES[change.operation].format(TableUri.parse(change.uri).name)


def plan_act(situation: Situation, checked: Preflight) -> ChangePlan | Refusal:
    """What would be sent now; refused where a check fails.

    The plan rests on how each check came out, so that it is another one where one comes out otherwise; versions may
    move on.
    """
    change = situation.change
    kind, title = change.operation.value, title_of(change)
    if not checked.may_run:
        return Refusal(kind, checked.uri, checked.refusal(), title=title)
    ahead, came_out = _ahead(situation), sorted(f"{check.name}: {check.state.value}" for check in checked.checks)
    statements = spark_calls(change, checked, log_store=situation.log_store_in_use, finishing=situation.is_half_dropped)
    return ChangePlan(
        kind,
        checked.uri,
        title,
        (*ahead, *statements),
        danger=DANGER.get(change.operation, ""),
        rests_on=(checked.store, checked.endpoint, *came_out),
        ahead=len(ahead),
    )


def _ahead(situation: Situation) -> tuple[Call, ...]:
    """What the coordinator accepted is published before a drop, which would do it unseen, or fail half-way."""
    if situation.operation is not Operation.DROP:
        return ()
    return tuple(call for plan in table.backfills_of(situation) for call in plan.calls)
