"""K3: publish every commit that a coordinator lists, in order, then clear its list as it was read."""

from collections.abc import Iterator, Sequence

from coordinator.protocols.registrations import SeenCommit, seen_commits, waiting_commits
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import counted, joined, thousands, version_list
from coordinator.repairs.declaration import Draft, Many, NoPlan, Planned, Repair
from coordinator.repairs.registration_plans import (
    cleared_list,
    files_of_lists,
    kept_item,
    listing_registration,
    published_or_compared,
    why_not_equal,
)
from coordinator.repairs.seen_before import doubt, why_contradicted
from coordinator.repairs.table_under_repair import TableUnderRepair, first_reason
from lake.delta.facts import Registration

NAME = "backfill"


def backfill(table: TableUnderRepair, finding: Finding) -> Planned:
    """K3: publish every listed commit in order, then clear the list as it was read."""
    registration, reason = listing_registration(table, finding)
    if registration is not None:
        reason = reason or first_reason(_why_not_backfill(table, registration))
    if reason or registration is None:
        return NoPlan("Backfill", reason)
    waiting = waiting_commits(table.view, registration)
    loses = joined(list(_doubts(table, waiting)))
    kept = (kept_item(table, NAME, registration, finding.version),) if loses else ()
    return Draft(
        f"Backfill {counted(len(waiting), 'commit')}",
        (*kept, *published_or_compared(table, registration), cleared_list(table, registration)),
        (
            f"Outside readers see {version_list(one.version for one in waiting)} from then on.",
            "Deletes no file and leaves tableVersion as it is. If a writer moves on meanwhile, the list stays.",
        ),
        loses,
    )


def _doubts(table: TableUnderRepair, waiting: Sequence[SeenCommit]) -> Iterator[str]:
    """What publishing the listed files may lose, by what was seen of their versions before."""
    for one in waiting:
        check = table.check(one.staged.name) if one.staged else None
        if check and (told := doubt(table.given.facts.provenance.get(one.version), check, one.version)):
            yield told


def _why_not_backfill(table: TableUnderRepair, registration: Registration) -> Iterator[str]:
    versions = [commit.version for commit in registration.commits]
    if versions != list(range(versions[0], versions[0] + len(versions))) or versions[-1] != registration.table_version:
        yield "The list is not contiguous up to tableVersion; find the staged files of the missing versions first."
    if not table.view.file(versions[0]).present and not table.view.file(versions[0] - 1).present:
        yield f"Version {thousands(versions[0] - 1)} is neither published nor listed; backfilling would leave a gap."
    for one in seen_commits(table.view, registration):
        yield _why_not_element(table, one)


def _why_not_element(table: TableUnderRepair, seen: SeenCommit) -> str:
    """Step 4 of a backfill: the staged file is the accepted one, whole and of this version."""
    name = thousands(seen.version)
    if seen.file.present:
        return why_not_equal(table, seen)
    if seen.file.present is None or seen.staged is None or seen.staged.present is None:
        return f"The files of commit {name} were not looked up; look at the table again."
    if not seen.staged.present:
        return f"The staged file of commit {name} is gone; bring it back from versioning or a backup."
    if reason := table.why_not_copy(seen.staged.name):
        return reason
    check = table.check(seen.staged.name)
    if check is None or check.size != seen.commit.size:
        return f"The staged file of commit {name} is not as long as fsLength says; it is not the accepted one."
    if check.in_commit_timestamp is None or check.in_commit_timestamp != seen.commit.in_commit_timestamp:
        return f"The in-commit timestamp of {seen.staged.name} is not the accepted one."
    if table.entries_of(seen.version):
        return f"The log store holds an entry of version {name} as well; only one of them can be right."
    if reason := why_contradicted(table.given.facts.provenance.get(seen.version), check, seen.version):
        return reason
    return table.why_not_between(seen.staged.name, seen.version)


REPAIR = Repair(
    NAME,
    "Backfill up to commit {version}",
    "Copies each staged file to its commit file, oldest first, only where that key is absent, and then empties the "
    "coordinator's list, only if it is still the one shown. Deletes no file.",
    {"K3": backfill},
    wants=lambda table, finding: files_of_lists(table),
    plain="Backfill",
    many=Many(
        NAME,
        "Backfill all",
        "On each table: copies each staged file to its commit file, oldest first, only where that key is absent, "
        "compares every byte, and then empties the coordinator's list if no writer has moved on. Deletes no file.",
        ("K3",),
    ),
)
