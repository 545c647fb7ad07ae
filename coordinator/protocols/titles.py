"""What findings are called in headlines: the sort of trouble in a few words, without names, versions and files. Pure.

A finding's own summary says the rest.
"""

from collections.abc import Mapping

from coordinator.protocols.verdict import State

_SEVERAL_MEANINGS: Mapping[tuple[str, str], str] = {
    ("C2", State.BLOCKED): "An unpublished commit stops readers",
    ("K3", State.BLOCKED): "A commit that is not backfilled stops readers",
    ("C4", State.UNSAFE): "A version was written twice",
    ("K4", State.UNSAFE): "A version was written twice",
    ("incomplete-with-expiry", State.UNSAFE): "TTL may delete an entry that is not published",
}
"""Codes that one state makes another sort of trouble than the others do."""

_TITLES: Mapping[str, str] = {
    "C2": "A commit is accepted and not published",
    "C4": "An entry still says incomplete",
    "C6": "A commit file is gone, its temp file survives",
    "C7": "A commit file is gone, its temp file too",
    "C9": "Old entries still say incomplete",
    "C10": "No table can be created here",
    "C11": "The temp file of the newest commit is gone",
    "K3": "A commit is accepted and not backfilled",
    "K4": "Backfilled commits are still listed",
    "K6": "An accepted commit is no longer listed",
    "K7": "A staged file is gone",
    "K8": "The table's registration is missing",
    "K9": "The coordinator is behind the table",
    "K12": "Writers of Delta 4.x and 3.3 share the table",
    "accepted-twice": "Two commits were accepted as one version",
    "accepts-without-table": "A registration accepts without its table",
    "archive-tier-reaches-data": "An archive tier can take data files",
    "archive-tier-reaches-log": "An archive tier can take the log",
    "archive-tier-undecided": "What an archive tier takes is not known",
    "being-checked": "A missing file is being checked",
    "bytes-differ": "A commit file was replaced",
    "catalog-managed": "A catalog accepts this table's commits",
    "checkpoint-broken": "A checkpoint cannot be read",
    "checkpoint-hint": "_last_checkpoint names a wrong checkpoint",
    "checkpoint-without-commit": "The log ends at a checkpoint without its commit",
    "checksum-of-another": "Commit and checksum are of two transactions",
    "copied-log-store": "Entries elsewhere look like a copy",
    "empty-commit": "A commit file is empty",
    "empty-commit-covered": "A commit file is empty, a checkpoint covers it",
    "empty-log": "The log is empty",
    "few-rules-left": "Few lifecycle rules are left",
    "foreign-writer": "A writer goes around the commit store",
    "guarded-elsewhere": "Commits are accepted where Levee does not look",
    "half-dropped": "Coordinated commits are half dropped",
    "incomplete-with-expiry": "An incomplete entry carries a time to expire",
    "leftover-entries": "Entries are left although the log is empty",
    "lifecycle-date-unknown": "When a rule takes the only copy is not known",
    "lifecycle-never-applies": "A lifecycle rule never applies",
    "lifecycle-not-understood": "What a lifecycle rule does is not known",
    "lifecycle-reaches-data": "A lifecycle rule reaches data files",
    "lifecycle-reaches-log": "A lifecycle rule reaches the log",
    "lifecycle-takes-old-version": "A rule will take the old version of a lost file",
    "lifecycle-takes-unpublished": "A rule will take the copy of a commit",
    "lifecycle-too-short": "A lifecycle rule on temp files is too short",
    "list-not-contiguous": "Accepted versions are not listed",
    "log-start-missing": "The beginning of the log is gone",
    "log-store-elsewhere": "Another store accepted commits before",
    "long-replay": "The log has no recent checkpoint",
    "malformed-item": "An item is malformed",
    "no-expiry": "Finished entries never expire",
    "not-active": "The DynamoDB table is not active",
    "not-read": "It could not be read",
    "old-writer": "A writer of Delta 2.1 or older is at work",
    "overwritten": "A version was overwritten",
    "path-differs": "A copy uses the registration of its original",
    "refuses-commits": "The registration accepts no commits",
    "rewind-leftover": "An entry stands above a gap in the log",
    "several-writers": "Several writers share no commit store",
    "staged-size-differs": "A staged file is not the one accepted",
    "ttl-off": "TTL is off",
    "ttl-on-commit-time": "TTL may delete an entry during its commit",
    "ttl-on-coordinator": "TTL may delete registrations",
    "ttl-wrong-attribute": "TTL is on a wrong attribute",
    "two-coordinators": "Two coordinators do not exclude each other",
    "two-lock-domains": "Two spellings of the path share no lock",
    "two-log-stores": "Two log stores do not exclude each other",
    "undecided": "The verdict cannot be decided",
    "unguarded-commit": "An accepted version can be taken again",
    "unknown-log-store": "Which log store accepts commits is not known",
    "unreadable": "Part of it could not be read",
    "unreadable-commit": "A commit file cannot be read",
    "vanished": "Versions have vanished",
    "version-hole": "The log has a gap",
    "waiting-not-known": "Whether a commit waits is not known",
    "writers-spinning": "A writer tries one version again and again",
    "wrong-key-schema": "The key of the DynamoDB table is wrong",
}


def title_of(code: str, state: str) -> str:
    """The title of a finding, short enough for the name of a table beside it."""
    known = _SEVERAL_MEANINGS.get((code, state)) or _TITLES.get(code)
    return known or ("Part of it could not be read" if code.startswith("not-read") else "Something is out of order")


def is_of_its_own(code: str, state: str) -> bool:
    """Whether this state makes the code another sort of trouble than its title says."""
    return (code, state) in _SEVERAL_MEANINGS
