"""K9: raise `tableVersion` of a registration that is older than the log."""

from collections.abc import Iterator

from coordinator.protocols.registrations import seen_commits
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import thousands
from coordinator.repairs.declaration import Draft, NoPlan, Planned, Repair
from coordinator.repairs.item_calls import RaiseVersion
from coordinator.repairs.registration_plans import (
    FOLLOWING,
    commit_time,
    current_registration,
    files_of_goal,
    given_up_above,
    kept_above,
    why_no_goal,
    why_not_rest_on,
)
from coordinator.repairs.table_under_repair import TableUnderRepair, first_reason
from lake.delta.facts import Registration

NAME = "raise-coordinator-version"


def raise_version(table: TableUnderRepair, finding: Finding) -> Planned:
    """K9: raise `tableVersion` to the newest version to which the log leads without a gap."""
    registration = current_registration(table)
    goal = table.newest_contiguous()
    title = f"Raise tableVersion to {thousands(goal)}" if goal is not None else "Raise tableVersion"
    reason = first_reason(_why_not_raise(table, registration, goal))
    time = commit_time(table, goal)
    if reason or registration is None or registration.table_version is None or goal is None or time is None:
        return NoPlan(title, reason)
    kept, loses = kept_above(table, NAME, goal)
    call = RaiseVersion(
        registration.store,
        registration.table_id,
        registration.path,
        registration.table_version,
        goal,
        time,
    )
    return Draft(
        title,
        (*kept, call, *given_up_above(table, goal)),
        (f"Writers continue with version {thousands(goal + 1)}. Deletes nothing.", FOLLOWING),
        loses,
    )


def _why_not_raise(table: TableUnderRepair, registration: Registration | None, goal: int | None) -> Iterator[str]:
    yield from why_not_rest_on(table, registration, unused_too=True)
    if registration is None:
        return
    version = registration.table_version
    if goal is None or version is None or goal <= version:
        yield "The published log does not lead above tableVersion without a gap; bring the missing files back first."
    if any(not one.file.present for one in seen_commits(table.view, registration)):
        yield "The registration lists commits without a published file; backfill them first."
    yield from why_no_goal(table, goal)


REPAIR = Repair(
    NAME,
    "Raise the coordinator above version {version}",
    "Sets the coordinator's version to the newest published one, only if the item is still the one shown. Changes "
    "nothing on S3.",
    {"K9": raise_version},
    wants=lambda table, finding: files_of_goal(table),
    plain="Raise the coordinator's version",
)
