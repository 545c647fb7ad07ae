"""C2 and leftovers above a gap: publish an accepted commit from the temp file that its entry names."""

from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import thousands
from coordinator.repairs.declaration import Draft, Many, NoPlan, Planned, Repair
from coordinator.repairs.entry_plans import (
    completion,
    doubt_about,
    files_of_entries,
    incomplete_entry,
    published_from,
    saved_entry,
    version_of,
    why_not_publish,
)
from coordinator.repairs.table_under_repair import TableUnderRepair, first_reason

NAME = "publish-commit"


def publish_commit(table: TableUnderRepair, finding: Finding) -> Planned:
    """C2 and leftovers above a gap: publish from the temp file, then complete. The entry is never deleted."""
    version = version_of(finding)
    title = f"Publish commit {thousands(version)}"
    seen = incomplete_entry(table, version)
    reason = first_reason(why_not_publish(table, version, seen, accepted_elsewhere=True))
    if reason or seen is None or seen.temp is None:
        return NoPlan(title, reason)
    loses = doubt_about(table, seen)
    kept = (saved_entry(table, seen, NAME),) if loses else ()
    return Draft(
        title,
        (*kept, *published_from(table, seen), completion(table, seen)),
        (
            f"Every reader sees commit {thousands(version)} from then on.",
            "Deletes nothing. If a reader gets there first, the bytes are compared and nothing is written.",
        ),
        loses,
    )


REPAIR = Repair(
    NAME,
    "Publish commit {version}",
    "Copies the temp file to its commit file, only if that key is still absent, compares every byte, and marks the "
    "entry complete, only if it is still the one shown. Deletes nothing.",
    {"C2": publish_commit, "rewind-leftover": publish_commit},
    wants=lambda table, finding: files_of_entries(table, finding.versions),
    many=Many(
        NAME,
        "Publish all pending",
        "On each table, lowest version first: copies the temp file to its commit file, only if that key is still "
        "absent, compares every byte, and marks the entry complete. Deletes nothing.",
        ("C2",),
    ),
)
