"""Findings for which there is no button, and why."""

from collections.abc import Iterator, Mapping

from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import thousands
from coordinator.repairs.table_under_repair import PlanOrRefusal, TableUnderRepair

NO_BUTTON: Mapping[str, tuple[str, str, str]] = {
    "K7": (
        "backfill",
        "Backfill {version}",
        "The staged file is gone. Bring it back from versioning or a backup, as long as fsLength says; dropping the "
        "entry would lose the commit.",
    ),
    "K10": (
        "remove-orphans",
        "Remove the closed registration",
        "Spark applications that hold an older state of the table still ask for it, and would fail without it.",
    ),
    "K12": (
        "backfill",
        "Backfill from both folders",
        "What waits is backfilled under its own finding, from the folder where each file lies. The files stay until "
        "log clean-up; keep to one release of Delta.",
    ),
    "staged-size-differs": (
        "backfill",
        "Backfill {version}",
        "The staged file is not as long as fsLength says, so it is not the one that was accepted.",
    ),
    "list-not-contiguous": (
        "backfill",
        "Backfill up to {version}",
        "Accepted versions are neither published nor listed, and nothing tells which staged files were accepted as "
        "those. Bring their files back first.",
    ),
    "path-differs": (
        "backfill",
        "Backfill this copy",
        "The registration belongs to another table; writing for it would go into that table's versions.",
    ),
    "refuses-commits": (
        "re-register",
        "Open the registration again",
        "The item or the metadata is an older copy, and nothing tells which; opening it could let two sequences of "
        "commits write one table.",
    ),
    "accepts-without-table": (
        "remove-orphans",
        "Remove the registration",
        "It has accepted commits, so an application may still rely on it. Find and stop that application first.",
    ),
    "leftover-entries": (
        "abandon-commit",
        "Delete the leftover entries",
        "Nothing read here tells a table that was dropped from one whose log was lost, and the entries are the last "
        "trace of its commits. Bring the log back, or create the table at another path.",
    ),
    "two-lock-domains": (
        "remove-orphans",
        "Remove one lock domain",
        "Writers under either spelling rely on its entries. Set all writers to one spelling; the other domain's "
        "finished entries then leave by TTL.",
    ),
    "two-log-stores": (
        "remove-orphans",
        "Remove the entries of one store",
        "Writers of either store rely on its entries. Set all writers to one store; finished entries of the other then "
        "leave by TTL.",
    ),
    "two-coordinators": (
        "remove-orphans",
        "Remove one registration",
        "Each of them may hold accepted commits, and nothing read here tells which one writers rely on. Find that out "
        "and stop the others first.",
    ),
    "accepted-twice": (
        "publish-commit",
        "Publish the other commit of {version}",
        "Both were accepted, and only one can be that version. Compare their files and write the missing rows again, "
        "as a new commit.",
    ),
    "foreign-writer": (
        "complete-entry",
        "Give version {version} an entry",
        "An entry made afterwards would claim a lock that nobody held. Set that writer to the log store, or stop it.",
    ),
    "overwritten": (
        "republish-file",
        "Put the first file of version {version} back",
        "Readers may rest on either file, and nothing here overwrites one. Bring the first file back by hand, from the "
        "copy that the evidence names, from versioning or from a backup.",
    ),
    "vanished": (
        "republish-file",
        "Publish the files up to version {version} again",
        "Nothing read here tells a lost file from one that was removed on purpose, and no item names it. Bring it back "
        "by hand, from the copy that the evidence names, from versioning or from a backup.",
    ),
    "malformed-item": (
        "complete-entry",
        "Repair the malformed item",
        "What the item means is not certain, and each writer reads it in its own way. Correct it by hand.",
    ),
    "checkpoint-without-commit": (
        "republish-file",
        "Make the commit file of {version}",
        "A checkpoint holds the state and not the actions of its version, and no item says what was accepted. Bring "
        "the file back from versioning or a backup.",
    ),
    "version-hole": (
        "republish-file",
        "Fill the gap",
        "Only an item can tell which file was accepted as a version. Where one does, its own finding has the repair; "
        "otherwise bring the missing files back from versioning or a backup.",
    ),
}


def refuse(table: TableUnderRepair, finding: Finding) -> Iterator[PlanOrRefusal]:
    """Why a finding of one of these codes has no repair."""
    repair, title, reason = NO_BUTTON[finding.code]
    version = thousands(finding.version) if finding.version is not None else "it"
    yield table.refuse(finding, repair, title.format(version=version), reason)
    if finding.code == "K7":
        title = "Drop the entry"
        reason = "The entry is all that says what was accepted; dropping it would lose the commit for certain."
        yield table.refuse(finding, "clear-entries", title, reason)
