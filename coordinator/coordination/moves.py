"""Moving a table from one way of committing to another: what has to happen, and what Levee does of it."""

from dataclasses import dataclass

from coordinator.coordination.checks import Operation
from lake.delta.facts import Mechanism

NOTE = (
    "Coordinated Commits is a rejected proposal of Delta's: its RFC was rejected on 7 April 2025 in favour of "
    "catalog-managed tables, and parts of it are being taken out upstream. Delta 3.3.0 to 4.4.0 can enable, use and "
    "drop it; Levee does so with Delta 4.4.0, Spark 4.2.0 and hadoop-aws 3.5.0, and reads what 3.3.0 to 4.4.0 write."
)


@dataclass(frozen=True, slots=True)
class MigrationStep:
    """`by` is Levee or You."""

    by: str
    text: str


@dataclass(frozen=True, slots=True)
class MigrationPath:
    """One way out of a mechanism. `operation` is what Levee has a button for, None where it has none."""

    title: str
    source: Mechanism
    steps: tuple[MigrationStep, ...]
    operation: Operation | None = None
    note: str = ""


def moves_from(mechanism: Mechanism) -> tuple[MigrationPath, ...]:
    """The moves that begin where a table is."""
    return tuple(move for move in MOVES if move.source is mechanism)


def _left_waiting() -> MigrationStep:
    return _you("Publish what is accepted and waits. After a drop that was cut short: backfill first, then finish it.")


def _you(text: str) -> MigrationStep:
    return MigrationStep("You", text)


def _levee(text: str) -> MigrationStep:
    return MigrationStep("Levee", text)


MOVES = (
    MigrationPath(
        "Single driver to log store",
        Mechanism.SINGLE_DRIVER,
        (
            _left_waiting(),
            _levee("Creates the commit store, a DynamoDB table with the right key, and switches TTL on expireTime on."),
            _you("Stop every writer. The table itself is not changed."),
            _you("Give every session the class, the DynamoDB table, the region and one spelling of the path."),
            _you("Start the writers again. The first commit leaves the first entry."),
            _levee("Shows the settings for each session, and from the first entry on watches for writers without it."),
        ),
        note="Nothing is committed to the table: the log store lives in the writers' settings.",
    ),
    MigrationPath(
        "Single driver to coordinated commits",
        Mechanism.SINGLE_DRIVER,
        (
            _left_waiting(),
            _you("Pause every writer, and see that each has Delta 3.3.0 or newer, all of one staging folder."),
            _levee("Checks the preconditions, makes the conversion commit, and reads registration and metadata back."),
            _you("Let the writers read the table again; their sessions need credentials for DynamoDB."),
        ),
        operation=Operation.ENABLE,
    ),
    MigrationPath(
        "Log store to coordinated commits",
        Mechanism.LOG_STORE,
        (
            _you("Put the jar of the log store into LEVEE_SPARK_EXTRA_JARS: the conversion commit goes through it."),
            _you("Pause every writer, and see that each has Delta 3.3.0 or newer, all of one staging folder."),
            _levee("Checks that every entry is complete, commits through the log store, and reads it back."),
            _you("Let the writers read the table again. Keep the log store in their settings: a drop needs it."),
        ),
        operation=Operation.ENABLE,
    ),
    MigrationPath(
        "Coordinated commits to log store",
        Mechanism.COORDINATED_COMMITS,
        (
            _you("Give every writer the log store's settings before, and pause them."),
            _levee("Backfills, drops the feature in two commits, and shows that the item accepts no more."),
            _levee("Removes vacuumProtocolCheck and in-commit timestamps where asked, and where Delta allows it."),
            _you("Start the writers again. Gaps in the log store's entries are then normal."),
        ),
        operation=Operation.DROP,
    ),
    MigrationPath(
        "Coordinated commits to catalog-managed",
        Mechanism.COORDINATED_COMMITS,
        (
            _levee("Drops the feature first: converting a coordinated table is not supported."),
            _you("Hand the table to the catalogue with the catalogue's own tools."),
            _levee("Goes on showing what is published. What the catalogue accepted and did not publish it cannot see."),
        ),
        operation=Operation.DROP,
        note="Levee runs no catalogue, so that the second half is yours.",
    ),
)
