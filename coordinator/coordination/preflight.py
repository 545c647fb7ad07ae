"""All checks of one act: pure, from a situation that was read for it."""

from coordinator.coordination import surroundings as around
from coordinator.coordination import table_checks as table
from coordinator.coordination.checks import Operation, Preflight
from coordinator.coordination.places import location_of
from coordinator.coordination.situation import Situation

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
        location_of(situation),
        tuple(check for check in made if check),
        store=situation.store.name if situation.store else "",
        endpoint=around.endpoint_of(situation),
        version=verdict.accepted_version if verdict else None,
    )
