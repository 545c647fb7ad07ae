"""K4: clear a list whose commits are all published, as it was read."""

from collections.abc import Iterator

from coordinator.protocols.registrations import seen_commits
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import version_list
from coordinator.repairs.declaration import Draft, NoPlan, Planned, Repair
from coordinator.repairs.registration_plans import (
    cleared_list,
    files_of_lists,
    listing_registration,
    published_or_compared,
    why_not_equal,
)
from coordinator.repairs.table_under_repair import TableUnderRepair, first_reason
from lake.delta.facts import Registration

NAME = "clear-entries"


def clear_entries(table: TableUnderRepair, finding: Finding) -> Planned:
    """K4: compare each published file with its staged one, then clear the list as it was read."""
    title = "Clear the list"
    registration, reason = listing_registration(table, finding)
    if registration is not None:
        reason = reason or first_reason(_why_not_clear(table, registration))
    if reason or registration is None:
        return NoPlan(title, reason)
    return Draft(
        title,
        (*published_or_compared(table, registration), cleared_list(table, registration)),
        ("No reader sees a difference.", "Deletes no file. If a writer moves on meanwhile, the list stays."),
    )


def _why_not_clear(table: TableUnderRepair, registration: Registration) -> Iterator[str]:
    if waiting := [one for one in seen_commits(table.view, registration) if not one.file.present]:
        yield (
            f"Commit {version_list(one.version for one in waiting)} is listed and not backfilled; clearing the list "
            "first would lose it. Backfilling clears these entries as well."
        )
    for one in seen_commits(table.view, registration):
        yield why_not_equal(table, one)


REPAIR = Repair(
    NAME,
    "Clear the listed commits up to {version}",
    "Compares each backfilled file with its staged file and empties the coordinator's list, only if it is still the "
    "one shown. Changes nothing on S3.",
    {"K4": clear_entries},
    wants=lambda table, finding: files_of_lists(table),
    plain="Clear the listed commits",
)
