"""C4 and C9: mark entries complete whose published file has the bytes of the temp file that they name."""

from collections.abc import Iterator

from changes.calls import Call
from coordinator.protocols.log_store_entries import SeenEntry
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import counted, thousands, version_list
from coordinator.repairs.declaration import Draft, NoPlan, Planned, Repair
from coordinator.repairs.entry_plans import completion, incomplete_entry, version_of, why_not_touch
from coordinator.repairs.object_calls import RequireEqual
from coordinator.repairs.table_under_repair import TableUnderRepair, first_reason

NAME = "complete-entry"


MOST_COMPLETED = 200
"""Stale entries that one plan completes; the next plan takes the rest."""


def complete_entry(table: TableUnderRepair, finding: Finding) -> Planned | None:
    """C4: mark the entry complete after both files were compared."""
    if finding.evidence.get("bytes_equal") is False and not finding.repairs:
        return bytes_differ(table, finding)
    version = version_of(finding)
    title = f"Complete entry {thousands(version)}"
    seen = incomplete_entry(table, version)
    reason = first_reason(_why_not_complete(table, version, seen))
    if reason or seen is None or seen.temp is None:
        return NoPlan(title, reason)
    return Draft(
        title,
        _compare_and_complete(table, seen),
        (
            "No reader sees a difference. The entry gets its expireTime, so that it leaves in time.",
            "Deletes nothing. An entry that changed meanwhile is left as it is.",
        ),
    )


def complete_stale_entries(table: TableUnderRepair, finding: Finding) -> Planned:
    """C9: the same for incomplete entries below the newest, each after its own comparison."""
    title = "Complete stale entries"
    stale = [one for one in table.entries if one.entry.complete is False and not one.newest and one.file.present]
    sound = [one for one in stale if not first_reason(_why_not_complete(table, one.version, one))]
    reason = (table.why_nothing() or table.why_not_alone()) or (
        "None of these entries has both its temp file and a published file of equal bytes, so nothing proves which "
        "commit was accepted. They stay as they are."
        if not sound
        else ""
    )
    if reason:
        return NoPlan(title, reason)
    taken = sound[:MOST_COMPLETED]
    left = len(stale) - len(taken)
    consequences = [f"Completes {version_list(one.version for one in taken)}; each gets its expireTime."]
    if left:
        consequences.append(
            f"{counted(left, 'entry stays', 'entries stay')}: not comparable, or left for the next time."
        )
    calls = [call for one in taken for call in _compare_and_complete(table, one)]
    return Draft(title, calls, consequences)


def bytes_differ(table: TableUnderRepair, finding: Finding) -> Planned | None:
    """Two writers won one version, one of them by an entry."""
    if finding.code == "bytes-differ" and "dynamodb" not in finding.evidence:
        return None
    version = version_of(finding)
    return NoPlan(
        f"Complete entry {thousands(version)}",
        f"…{version}.json holds other bytes than the accepted temp file. Completing the entry would hide that rows of "
        "an accepted commit are missing; compare both files and write the missing rows again.",
    )


def _compare_and_complete(table: TableUnderRepair, seen: SeenEntry) -> tuple[Call, ...]:
    source = table.key(seen.temp.name if seen.temp else "")
    return (
        RequireEqual(table.place.bucket, source, table.published_key(seen.version)),
        completion(table, seen),
    )


def _why_not_complete(table: TableUnderRepair, version: int, seen: SeenEntry | None) -> Iterator[str]:
    yield from why_not_touch(table, version, seen)
    if seen is None or seen.temp is None:
        return
    if not seen.file.present:
        yield f"…{version}.json does not exist; an entry without its file must not be completed."
    if not seen.temp.present:
        yield (
            "Its temp file is gone, so the bytes cannot be compared, and nothing tells whether the published file is "
            "the accepted one."
        )
    if table.view.equal(version, seen.file, seen.temp) is False:
        yield f"…{version}.json holds other bytes than the temp file; completing the entry would hide that."


REPAIR = Repair(
    NAME,
    "Complete entry {version}",
    "Compares the published file with the temp file and marks the entry complete, only if every byte is equal. Changes "
    "nothing on S3.",
    {"C4": complete_entry, "C9": complete_stale_entries, "bytes-differ": bytes_differ},
    plain="Complete stale entries",
)
