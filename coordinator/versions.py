"""Versions of a table as pages show them: each commit file joined with the entries that accepted it."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from coordinator.models import Commit, Entry
from coordinator.protocols import wording
from coordinator.protocols.names import commit_name
from lake.delta.facts import Mechanism

# Accepted, and the file it named is gone (delta-storage's crash states and those of the commit coordinator).
LOST_CODES = frozenset({"C6", "C7", "C10", "C11", "K6", "K7"})
FOREIGN_CODE = "foreign-writer"
_UUID = re.compile(r"([0-9a-f]{8})-[0-9a-f-]{4,27}")


class VersionState(StrEnum):
    """What a version is, by its file and its entry; the values are the names of badges."""

    PUBLISHED = "published"
    ENTRY_EXPIRED = "entry_expired"
    FOREIGN_WRITER = "foreign_writer"
    MISSING = "missing"
    PENDING = "pending"
    UNBACKFILLED = "unbackfilled"


_MEANINGS = {
    VersionState.PUBLISHED: "published",
    VersionState.ENTRY_EXPIRED: "published, entry expired by TTL",
    VersionState.FOREIGN_WRITER: "published without an entry",
    VersionState.MISSING: "accepted, its file is missing",
    VersionState.PENDING: "pending: accepted, not published",
    VersionState.UNBACKFILLED: "unbackfilled: accepted, not published",
}
UNPUBLISHED = frozenset({VersionState.MISSING, VersionState.PENDING, VersionState.UNBACKFILLED})


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version: its file as S3 lists it, and every entry that names it."""

    version: int
    state: VersionState
    commit: Commit | None
    entries: tuple[Entry, ...]

    @property
    def file_present(self) -> bool:
        return self.state not in UNPUBLISHED

    @property
    def is_troubled(self) -> bool:
        """Whether it needs a look."""
        return self.state not in (VersionState.PUBLISHED, VersionState.ENTRY_EXPIRED)

    @property
    def entry(self) -> Entry | None:
        return self.entries[0] if self.entries else None

    @property
    def at(self) -> datetime | None:
        """When the version was committed, by the best clock there is."""
        return (self.commit and self.commit.at) or (self.entry and self.entry.written_at) or None

    @property
    def file_name(self) -> str:
        return commit_name(self.version)

    @property
    def short_file(self) -> str:
        """The file that its entry names."""
        return short(self.entry.file.rpartition("/")[2]) if self.entry else ""

    @property
    def meaning(self) -> str:
        return _MEANINGS[self.state]


def join_versions(
    commits: Iterable[Commit], entries: Iterable[Entry], *, mechanism: str, foreign: Collection[int] = ()
) -> list[VersionRow]:
    """Every version that has a file or an entry, oldest first. `foreign` are versions with an open foreign finding."""
    by_commit = {commit.version: commit for commit in commits}
    by_entry: defaultdict[int, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_entry[entry.version].append(entry)
    rows = []
    for version in sorted(by_commit.keys() | by_entry.keys()):
        commit, own = by_commit.get(version), tuple(by_entry.get(version, ()))
        state = version_state(commit, own, mechanism=mechanism, foreign=version in foreign)
        rows.append(VersionRow(version=version, state=state, commit=commit, entries=own))
    return rows


def version_state(commit: Commit | None, entries: Sequence[Entry], *, mechanism: str, foreign: bool) -> VersionState:
    """What a version is. A file that S3 lists outweighs what an entry says of it."""
    published = commit.published if commit else any(entry.published for entry in entries)
    if published:
        if foreign:
            return VersionState.FOREIGN_WRITER
        expired = not entries and mechanism == Mechanism.LOG_STORE
        return VersionState.ENTRY_EXPIRED if expired else VersionState.PUBLISHED
    return unpublished_state(entries)


def unpublished_state(entries: Sequence[Entry]) -> VersionState:
    """What an absent file means: lost, waiting in the log store, or waiting in the coordinator."""
    if not entries or any(entry.code in LOST_CODES or _has_no_file(entry) for entry in entries):
        return VersionState.MISSING
    coordinated = any(entry.is_coordinated for entry in entries)
    return VersionState.UNBACKFILLED if coordinated else VersionState.PENDING


def _has_no_file(entry: Entry) -> bool:
    """Whether a finished entry's file was looked for and is absent; while it is being checked, that is not known."""
    return bool(entry.complete) and entry.published is False


def entry_row(entry: Entry) -> VersionRow:
    """One entry on its own, as lists of entries show it."""
    state = version_state(None, (entry,), mechanism="", foreign=False)
    return VersionRow(entry.version, state, None, (entry,))


def short(name: str) -> str:
    """A key cut to what differs: `.tmp/…1042.json.7f3c9b52`, `_staged_commits/…1042.7f3c9b52.json`."""
    shown = wording.short(name)
    return name if shown == name else _UUID.sub(r"\1", shown)
