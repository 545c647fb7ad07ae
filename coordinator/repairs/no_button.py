"""Findings for which there is no button, and what nobody should do about others instead of their repair."""

from collections.abc import Iterator, Mapping

from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import thousands
from coordinator.repairs.declaration import NoPlan

Reasoned = tuple[str, str, str]
"""A repair by its name, its title, and why it must not be made."""

NO_BUTTON: Mapping[str, Reasoned] = {
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


_DELETE_PENDING: Reasoned = (
    "abandon-commit",
    "Delete entry {version}",
    "The commit is accepted and its writer may have reported it as done; deleting the entry or the temp file would "
    "lose it.",
)
_DELETE_COMPLETE: Reasoned = (
    "abandon-commit",
    "Delete entry {version}",
    "The entry is what keeps version {version} taken. Without it the next writer commits other rows as that version, "
    "and readers that saw the first one are wrong.",
)
_COMPLETE_LOST: Reasoned = (
    "complete-entry",
    "Complete entry {version}",
    "Neither its file nor its temp file exists. A complete entry without a file makes readers silently see an older "
    "table while writers retry without end.",
)
_PUBLISH_ORPHAN: Reasoned = (
    "publish-commit",
    "Publish one of them",
    "No item tells that one of these files was accepted; publishing one would invent a commit that its writer may know "
    "to have failed.",
)
_LOWER_VERSION: Reasoned = (
    "raise-coordinator-version",
    "Lower tableVersion",
    "tableVersion is the decision that a commit was accepted; lowering it lets another commit take its version.",
)

INSTEAD: Mapping[str, tuple[Reasoned, ...]] = {
    "C1": (_PUBLISH_ORPHAN,),
    "C2": (_DELETE_PENDING,),
    "C6": (_DELETE_COMPLETE,),
    "C7": (
        (
            "republish-file",
            "Republish …{number}.json",
            "Both copies of commit {version} are gone. Bring …{number}.json or its temp file back from versioning or a "
            "backup; nothing that is left here holds its actions.",
        ),
        _DELETE_COMPLETE,
    ),
    "C10": (_COMPLETE_LOST,),
    "C11": (_COMPLETE_LOST,),
    "K2": (_PUBLISH_ORPHAN,),
    "K3": (
        (
            "clear-entries",
            "Drop the entries",
            "These commits are accepted and have no file of their own; without the entry no reader finds them.",
        ),
        _LOWER_VERSION,
    ),
    "K6": (_LOWER_VERSION,),
    "K7": (
        (
            "clear-entries",
            "Drop the entry",
            "The entry is all that says what was accepted; dropping it would lose the commit for certain.",
        ),
    ),
    "rewind-leftover": (_DELETE_PENDING,),
}
"""What somebody may think of instead of the repair, whether that can be planned or not."""


def refused_anyway(finding: Finding) -> Iterator[tuple[str, NoPlan]]:
    """The repairs that must not be made about a finding of this code, whatever else is so."""
    version = thousands(finding.version) if finding.version is not None else "it"
    no_button = (NO_BUTTON[finding.code],) if finding.code in NO_BUTTON else ()
    for repair, *texts in (*no_button, *INSTEAD.get(finding.code, ())):
        title, reason = (text.format(version=version, number=finding.version) for text in texts)
        yield repair, NoPlan(title, reason)
