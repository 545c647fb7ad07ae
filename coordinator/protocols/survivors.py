"""Rule 1 of docs/decisions/007: what may be deleted without anybody's word, and what may not. Every planner asks here.

A file may go where its bytes are proven to be those of the published file, or where a record that does not depend on
the file shows that it was never accepted: the version's entry or the registration's list names another, or the commit
that readers see is shown to be the one that was accepted. Anything else may be the last copy of an accepted commit.
A size, an age or a timestamp alone shows none of this.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from coordinator.protocols.deadlines import read_moment
from coordinator.protocols.names import is_moved_temp, is_temp_of
from lake.delta.facts import LogObject, LogStoreEntry, Provenance, Registration

PREPARES_WITHIN = timedelta(minutes=5)
"""The longest that a writer takes from its temp file to its entry: one PUT follows the other."""
_WHOLE_SECOND = timedelta(seconds=1)
"""S3 tells times in whole seconds, and drops the rest."""
LEAST_LIFE = 3_600.0
"""Seconds that an entry lives at least after its completion, unless entries show less; upstream's default is a day.

What an entry shows is no more than its life: one that a reader completed late seems to live longer.
"""


class Proof(StrEnum):
    """What is known of a file. Only COPIED and NEVER_ACCEPTED files go without anybody's word.

    NEEDED: an item names it, or its version has no other file that was published: it goes on nobody's word.
    """

    NEEDED = "needed"
    UNPROVEN = "unproven"
    COPIED = "copied"
    NEVER_ACCEPTED = "never-accepted"


@dataclass(frozen=True, slots=True)
class Fate:
    """What is known of one file; `why` completes "It stays, for …" and is "" where it may go."""

    proof: Proof
    why: str = ""

    @property
    def may_go(self) -> bool:
        return self.proof in (Proof.COPIED, Proof.NEVER_ACCEPTED)


COPIED = Fate(Proof.COPIED)
NEVER_ACCEPTED = Fate(Proof.NEVER_ACCEPTED)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """An entry with the temp file that it names, None where that file is not there."""

    entry: LogStoreEntry
    file: LogObject | None = None


@dataclass(frozen=True, slots=True)
class WrittenAside:
    """A temp file with all that tells whether it was accepted.

    `entries` are those of its version in every log store and lock domain, `published` is the version's file.
    `is_copy` says whether that file holds the same bytes, None where they were not compared. `provenance` is what was
    seen of the version before. `witnessed` says that `Witnesses.tell` holds against the file, and `copy_beside` that
    another temp file of the version holds the published bytes: a writer without the lock leaves a checksum too, and no
    temp file. `life_seconds` is how long an entry lives at least after its completion. `written_at` is when the file
    was written by what it says itself, None where S3's time is to be believed: a restore renews that one.
    """

    file: LogObject
    version: int | None
    published: LogObject | None
    is_copy: bool | None
    entries: Sequence[NamedFile] = ()
    provenance: Provenance | None = None
    witnessed: bool = False
    copy_beside: bool = False
    life_seconds: float = LEAST_LIFE
    written_at: datetime | None = None


def fate_of_temp(one: WrittenAside) -> Fate:
    """Whether a temp file of S3DynamoDBLogStore may go."""
    return _unless_disputed(_fate_of_temp(one), one.provenance)


def _unless_disputed(fate: Fate, provenance: Provenance | None) -> Fate:
    """Of a version that two items accepted with two files no file was refused: the loss of either is one."""
    if fate is NEVER_ACCEPTED and provenance is not None and provenance.disputed:
        return Fate(Proof.UNPROVEN, "two items were seen that accepted its version with different files")
    return fate


def _fate_of_temp(one: WrittenAside) -> Fate:
    if one.version is None:
        return Fate(Proof.UNPROVEN, "its name tells no version")
    if any(not _is_sound(named.entry, one.version) for named in one.entries):
        return Fate(Proof.NEEDED, "an entry of its version cannot be read")
    naming = [named.entry for named in one.entries if named.entry.temp_path == one.file.name]
    if any(not entry.complete for entry in naming):
        return Fate(Proof.NEEDED, "an incomplete entry names it")
    if one.is_copy:
        return COPIED
    named_before = was_named(one.provenance, one.file.name)
    if naming or named_before:
        return Fate(Proof.NEEDED, _why_last_copy(one))
    if (one.entries or named_before is False) and _came_too_late(one):
        return NEVER_ACCEPTED
    if one.entries:
        return Fate(Proof.UNPROVEN, "an entry that named it may have expired before the version was taken again")
    if one.published is None:
        return Fate(Proof.UNPROVEN, "its version is not published, and an entry that named it may have expired")
    if one.is_copy is None:
        return Fate(Proof.UNPROVEN, "its bytes were not compared with the published file")
    if one.witnessed and one.copy_beside:
        return NEVER_ACCEPTED
    return Fate(Proof.UNPROVEN, "it differs from the published file, and no entry tells which of them was accepted")


def was_named(provenance: Provenance | None, name: str) -> bool | None:
    """Whether an item was seen that accepted this file; False where it accepted another, None where nothing tells."""
    if provenance is None:
        return None
    if provenance.accepted(name):
        return True
    return None if provenance.disputed or provenance.file_name is None else False


def _came_too_late(one: WrittenAside) -> bool:
    """Another file is or was named, and an entry of this one cannot have expired before that one was put, nor have
    been put after that one had gone.
    """
    life = timedelta(seconds=max(one.life_seconds, 0))
    put = [_put_by(named, one.published) for named in one.entries]
    if not put and one.provenance is not None and one.provenance.accepted_at is not None:
        if not _refused_while_there(one, one.provenance, one.provenance.accepted_at):
            return False
        put = [_later(one.provenance.accepted_at, PREPARES_WITHIN)]
    written = one.file.modified_at if one.written_at is None else min(one.file.modified_at, one.written_at)
    return bool(put) and _later(written, life) > max(put)


def _refused_while_there(one: WrittenAside, known: Provenance, accepted_at: datetime) -> bool:
    """Whether the writer of the file found the entry of another, which is gone: it was written by the time that one was
    seen, and that one did not expire before the writer could try. What is younger may have come after it.
    """
    written = one.file.modified_at if one.written_at is None else max(one.file.modified_at, one.written_at)
    gone_after = max(accepted_at, _end_of(known, accepted_at))
    return _later(written, _WHOLE_SECOND) <= accepted_at and _later(written, PREPARES_WITHIN) <= gone_after


def _end_of(known: Provenance, accepted_at: datetime) -> datetime:
    """The earliest end of an entry that was seen; one that was not complete lives on, unless its writer removes it."""
    if known.expire_time is not None:
        return read_moment(known.expire_time) or _END
    if known.file_name is not None and is_moved_temp(known.file_name):
        return accepted_at
    return _later(accepted_at, timedelta(seconds=LEAST_LIFE))


def _put_by(named: NamedFile, published: LogObject | None) -> datetime:
    """The latest moment at which the entry can have been put: soon after its temp file, before its end."""
    if named.file is not None:
        return _later(named.file.modified_at, PREPARES_WITHIN)
    if named.entry.complete and published is not None:
        return published.modified_at
    return read_moment(named.entry.expire_time) or _END


def _later(moment: datetime, span: timedelta) -> datetime:
    try:
        return moment + span
    except OverflowError:
        return _END


_END = datetime.max.replace(tzinfo=UTC)


def _why_last_copy(one: WrittenAside) -> str:
    if one.published is None:
        return "its version is not published"
    if one.is_copy is None:
        return "its bytes were not compared with the published file"
    return "it is the accepted file, and the published one holds other bytes"


def _is_sound(entry: LogStoreEntry, version: int) -> bool:
    if entry.problems or entry.complete is None or entry.version != version:
        return False
    return entry.temp_path is not None and is_temp_of(entry.temp_path, version)


@dataclass(frozen=True, slots=True)
class Staged:
    """A staged file of the commit coordinator with all that tells whether it was accepted.

    `accepted_up_to` is the newest version that a registration of this path accepted, None where none has. `is_listed`
    says that a registration lists the file, `other_is_listed` that one lists another of its version. `is_copy` is as in
    `WrittenAside`, `rivals_are_copies` the same for each other staged file of the version. `one_coordinator` says that
    no second registration is known that can have accepted the version too: one alone accepts one file.
    """

    file: LogObject
    version: int | None
    published: LogObject | None
    is_copy: bool | None
    rivals_are_copies: Sequence[bool | None] = ()
    accepted_up_to: int | None = None
    is_listed: bool = False
    other_is_listed: bool = False
    provenance: Provenance | None = None
    witnessed: bool = False
    one_coordinator: bool = True

    @property
    def is_contested(self) -> bool:
        """Whether two coordinators may have accepted two files: what one says of its own tells nothing of the other."""
        return not self.one_coordinator or (self.provenance is not None and self.provenance.disputed)


def fate_of_staged(one: Staged) -> Fate:
    """Whether a staged file may go. A copy of the published file may, but nobody asks for it: Delta cleans up."""
    return _unless_disputed(_fate_of_staged(one), one.provenance)


def _fate_of_staged(one: Staged) -> Fate:
    if one.version is None:
        return Fate(Proof.UNPROVEN, "its name tells no version")
    if one.is_listed:
        return Fate(Proof.NEEDED, "a registration lists it")
    if one.accepted_up_to is None or one.version > one.accepted_up_to or one.published is None:
        return Fate(Proof.NEEDED, "its version is not backfilled, so a slow writer could still commit it")
    if one.is_copy:
        return COPIED
    named_before = was_named(one.provenance, one.file.name)
    if named_before:
        return Fate(Proof.NEEDED, "it is the accepted file, and the published one holds other bytes")
    if one.is_contested:
        return Fate(Proof.UNPROVEN, "more than one coordinator may have accepted a file of its version")
    if one.other_is_listed or named_before is False:
        return NEVER_ACCEPTED
    if one.is_copy is None or (None in one.rivals_are_copies and True not in one.rivals_are_copies):
        return Fate(Proof.UNPROVEN, "its bytes were not compared with the published file")
    if True not in one.rivals_are_copies:
        return Fate(Proof.NEEDED, "no staged file of its version equals the published one, so it may be the accepted")
    if one.witnessed:
        return NEVER_ACCEPTED
    return Fate(Proof.UNPROVEN, "nothing but the published file itself tells which of them was accepted")


@dataclass(frozen=True, slots=True)
class Said:
    """What a commit file, or a version's checksum file, says of the transaction that wrote it.

    `transaction` is `txnId` of `commitInfo` or of the `.crc` file, "" where there is none; the timestamp is in epoch
    milliseconds. Source: `CommitInfo` and `VersionChecksum` of delta-spark 3.3 to 4.4.
    """

    transaction: str = ""
    in_commit_timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class Witnesses:
    """What tells, besides the published file, which commit of `version` was accepted.

    The transaction that committed a version writes its `.crc` file after that; a loser never does. A registration holds
    the in-commit timestamp of its newest version, and `provenance` the one that it was seen to hold of this version.
    """

    version: int
    checksum: Said | None = None
    registration: Registration | None = None
    provenance: Provenance | None = None

    def tell(self, accepted: Said, loser: Said) -> bool:
        """Whether they show that of two files the first was accepted and the second was not."""
        return self._by_checksum(accepted, loser) or self._by_registration(accepted, loser)

    def _by_checksum(self, accepted: Said, loser: Said) -> bool:
        return self.names(accepted) and loser.transaction != accepted.transaction

    def names(self, file: Said) -> bool:
        """Whether the checksum is of the transaction that wrote the file."""
        return self.checksum is not None and self.checksum.transaction == file.transaction != ""

    def _by_registration(self, accepted: Said, loser: Said) -> bool:
        return any(accepted.in_commit_timestamp == time != loser.in_commit_timestamp for time in self._times())

    def _times(self) -> set[int]:
        """The in-commit timestamp that the coordinator holds, or was seen to hold, of this version."""
        item, seen = self.registration, self.provenance
        held = item.table_timestamp if item is not None and item.table_version == self.version else None
        earlier = seen.accepted_timestamp if seen is not None and not seen.disputed else None
        return {time for time in (held, earlier) if time is not None}


def fate_of_registration(registration: Registration, *, lost_its_race: bool) -> Fate:
    """Whether a registration may go: it never accepted a commit, by its own word, and its upgrade came too late."""
    if registration.has_accepted_commits is not False or registration.commits or registration.problems:
        return Fate(Proof.NEEDED, "it may have accepted a commit")
    return NEVER_ACCEPTED if lost_its_race else Fate(Proof.NEEDED, "its upgrade may still be running")
