"""C6: put lost files back from the temp files that complete entries name. C7 has none left."""

from collections.abc import Iterator, Sequence

from coordinator.protocols.log_store_entries import SeenEntry
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import joined, thousands, verb, version_list
from coordinator.repairs.declaration import Repair
from coordinator.repairs.entry_plans import (
    doubt_about,
    files_of_entries,
    published_from,
    saved_entry,
    sole_entry,
    version_of,
    why_not_publish,
)
from coordinator.repairs.following import why_not_following
from coordinator.repairs.table_under_repair import PlanOrRefusal, TableUnderRepair, first_reason

NAME = "republish-file"


MOST_REPUBLISHED = 100
"""Lost files that one plan puts back; each is read in full before."""


def republish_file(table: TableUnderRepair, finding: Finding) -> Iterator[PlanOrRefusal]:
    """C6: put the lost files back from the temp files that the entries name, oldest first. C7 has none left."""
    taken = republished(finding)
    title = f"Republish {taken[0]}.json" + (f" to {taken[-1]}.json" if len(taken) > 1 else "")
    chosen: list[SeenEntry] = []
    reason = ""
    for version in taken:
        seen, reason = sole_entry(table, version)
        after = chosen[-1].temp.name if chosen and chosen[-1].temp else ""
        reason = reason or first_reason(why_not_publish(table, version, seen, accepted_elsewhere=False, after=after))
        if reason or seen is None:
            break
        chosen.append(seen)
    if reason or not chosen:
        yield table.refuse(finding, NAME, title, reason)
    else:
        doubts = [(one, told) for one, told in zip(chosen, _doubts(table, chosen), strict=True) if told]
        kept = [saved_entry(table, one, NAME) for one, _ in doubts]
        calls = [call for one in chosen for call in published_from(table, one)]
        loses = joined([told for _, told in doubts])
        consequences = _after_republishing(finding, taken)
        yield table.plan(finding, NAME, title, (*kept, *calls), consequences, loses)
    yield _no_deletion_of_complete_entry(table, finding, version_of(finding))


def _doubts(table: TableUnderRepair, chosen: Sequence[SeenEntry]) -> Iterator[str]:
    """What each of these files may lose: another commit of its version, or the order where it is another table's."""
    for before, one in zip((None, *chosen), chosen, strict=False):
        yield doubt_about(table, one) or why_not_following(table, one, before)


def republished(finding: Finding) -> range:
    """The versions whose files one plan puts back: the oldest of a run."""
    return finding.versions[:MOST_REPUBLISHED]


def _after_republishing(finding: Finding, taken: range) -> tuple[str, ...]:
    named = f"{verb(len(taken), 'version', 'versions')} {version_list(taken)}"
    sentences = [
        f"Readers see {named} again, and writers stop retrying.",
        "Deletes nothing and changes no entry.",
    ]
    if len(taken) < len(finding.versions):
        sentences.append(f"{thousands(len(finding.versions) - len(taken))} more are left for the next time.")
    return tuple(sentences)


def lost_for_good(table: TableUnderRepair, finding: Finding) -> Iterator[PlanOrRefusal]:
    """C7: neither file is left."""
    version = version_of(finding)
    yield table.refuse(
        finding,
        NAME,
        f"Republish {version}.json",
        f"Both copies of commit {thousands(version)} are gone. Bring {version}.json or its temp file back from "
        "versioning or a backup; nothing that is left here holds its actions.",
    )
    yield _no_deletion_of_complete_entry(table, finding, version)


def _no_deletion_of_complete_entry(table: TableUnderRepair, finding: Finding, version: int) -> PlanOrRefusal:
    return table.refuse(
        finding,
        "abandon-commit",
        f"Delete entry {thousands(version)}",
        f"The entry is what keeps version {thousands(version)} taken. Without it the next writer commits other rows "
        "as that version, and readers that saw the first one are wrong.",
    )


REPAIR = Repair(
    NAME,
    "Republish the file of commit {version}",
    "Copies the surviving temp file to the commit file that is gone, only if that key is still absent, and compares "
    "every byte. Changes no entry and deletes nothing.",
    {"C6": republish_file, "C7": lost_for_good},
    wants=lambda table, finding: files_of_entries(table, republished(finding)) if finding.code == "C6" else iter(()),
    run="Republish the files of commits {first} to {version}",
)
