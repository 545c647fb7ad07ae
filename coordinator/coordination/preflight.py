"""All checks of one act: pure, from a situation that was read for it."""

import re
from collections.abc import Iterable

from coordinator.coordination import store_checks, surroundings, table_checks
from coordinator.coordination.checks import Check, Operation, Preflight, failed, ok
from coordinator.coordination.places import location_of
from coordinator.coordination.situation import Situation
from lake.delta.facts import Mechanism
from lake.spark.sql import location_problem

_COLUMN_NAME = re.compile(r"[^\x00-\x1f\x7f]+")
MOST_COLUMNS_TEXT = 20_000


def preflight(situation: Situation) -> Preflight:
    """Make every check, in the order of the page. Raises nothing, whatever was read."""
    checks = tuple(_CHECKS[situation.operation](situation))
    verdict = situation.repair.verdict if situation.repair else None
    return Preflight(
        situation.operation,
        situation.uri,
        location_of(situation),
        checks,
        store=situation.store.name if situation.store else "",
        endpoint=store_checks.endpoint_of(situation),
        version=verdict.accepted_version if verdict else None,
    )


def _of_table(situation: Situation) -> Iterable[Check]:
    """What every act on a table that is there begins with."""
    return (
        table_checks.path_check(situation),
        table_checks.readable_check(situation),
        table_checks.mechanism_check(situation),
        table_checks.features_check(situation),
        table_checks.waiting_check(situation),
    )


def _enable(situation: Situation) -> Iterable[Check]:
    return (
        *_of_table(situation),
        *table_checks.entries_check(situation),
        store_checks.store_check(situation),
        store_checks.endpoint_check(situation),
        *store_checks.settings_check(situation),
        surroundings.spark_check(situation),
        *surroundings.log_store_check(situation),
        surroundings.busy_check(situation),
        surroundings.writers_check(situation),
        surroundings.readers_check(situation),
        surroundings.future_check(),
    )


def _drop(situation: Situation) -> Iterable[Check]:
    coordinated = situation.facts is not None and situation.facts.mechanism is Mechanism.COORDINATED_COMMITS
    store = (store_checks.store_check(situation), store_checks.endpoint_check(situation)) if coordinated else ()
    return (
        *_of_table(situation),
        *table_checks.registration_check(situation),
        *store_checks.settings_check(situation),
        *store,
        *table_checks.entries_check(situation),
        surroundings.spark_check(situation),
        *surroundings.log_store_check(situation),
        surroundings.busy_check(situation),
        surroundings.writers_check(situation),
        surroundings.readers_check(situation),
    )


def _leftovers(situation: Situation) -> Iterable[Check]:
    return (
        *_of_table(situation),
        *table_checks.entries_check(situation),
        surroundings.spark_check(situation),
        *surroundings.log_store_check(situation),
        surroundings.busy_check(situation),
        surroundings.writers_check(situation),
    )


def _create(situation: Situation) -> Iterable[Check]:
    problem = location_problem(situation.uri)
    return (
        failed("Path", problem) if problem else ok("Path", f"Spark is given {situation.uri}."),
        _place_check(situation),
        _columns_check(situation),
        store_checks.store_check(situation),
        store_checks.endpoint_check(situation),
        surroundings.spark_check(situation),
        surroundings.busy_check(situation),
        surroundings.future_check(),
    )


def _place_check(situation: Situation) -> Check:
    name = "The place is free"
    if situation.error:
        return failed(name, f"The place cannot be looked at: {situation.error}")
    if situation.occupied:
        return failed(name, situation.occupied)
    return ok(name, "No object lies below this path, and no commit store has an item of it.")


def _columns_check(situation: Situation) -> Check:
    """What cannot be a list of columns at all; Spark's own parser reads the types before anything is created."""
    name = "Columns"
    if not situation.columns.strip():
        return failed(name, "No column is named: write name TYPE, name TYPE.")
    if len(situation.columns) > MOST_COLUMNS_TEXT or not _COLUMN_NAME.fullmatch(situation.columns):
        return failed(name, "The columns hold control characters or are longer than 20,000 characters.")
    if any(not column or not _COLUMN_NAME.fullmatch(column) for column in situation.partition_by):
        return failed(name, "A partition column has no name, or one with control characters.")
    return ok(name, "Spark's parser reads them first; what it does not understand creates nothing.")


_CHECKS = {
    Operation.ENABLE: _enable,
    Operation.DROP: _drop,
    Operation.LEFTOVERS: _leftovers,
    Operation.CREATE: _create,
}
