"""Temp and staged files beside the items of their versions: leftovers of losers, and last copies of accepted commits.

Writers that retry without end leave a trail of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from math import inf

from coordinator.protocols.judgement import note
from coordinator.protocols.log_store_entries import SeenEntry
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_version, same_place, staged_file_version, temp_file_version
from coordinator.protocols.survivors import (
    LEAST_LIFE,
    Fate,
    NamedFile,
    Proof,
    Staged,
    WrittenAside,
    fate_of_staged,
    fate_of_temp,
    was_named,
)
from coordinator.protocols.verdict import Finding, State, attention, graded
from coordinator.protocols.wording import counted, duration, thousands, verb
from lake.delta.facts import LogObject, LogStoreEntry, Registration

Times = Callable[[LogObject], datetime | None]
"""When a file was written by what it says itself; None where S3's time is to be believed, as by every look."""


UNREAD = Fate(Proof.NEEDED, "not every entry of its version was kept when they were read")


def temp_fates(view: LogView, seen: Sequence[SeenEntry], times: Times | None = None) -> list[tuple[LogObject, Fate]]:
    """Every listed temp file with what is known of it; `seen` are the entries of every lock domain."""
    by_version: dict[int, list[NamedFile]] = {}
    for one in seen:
        by_version.setdefault(one.version, []).append(NamedFile(one.entry, one.temp.object if one.temp else None))
    life = shortest_life(life_of_entry(one.entry, one.file.object) for one in seen)
    return [(file, _temp_fate(view, file, by_version, life, times)) for file in view.facts.listing.temp_files or ()]


def _temp_fate(
    view: LogView, file: LogObject, entries: Mapping[int, list[NamedFile]], life: float, times: Times | None
) -> Fate:
    version = temp_file_version(file.name)
    if version is None:
        return fate_of_temp(WrittenAside(file, None, None, None))
    if version < view.facts.entries_from:
        return UNREAD
    return fate_of_temp(
        WrittenAside(
            file,
            version,
            view.file(version).object,
            view.is_copy(file),
            entries.get(version, []),
            view.facts.provenance.get(version),
            life_seconds=life,
            written_at=times(file) if times else None,
        )
    )


def shortest_life(lives: Iterable[float | None]) -> float:
    """Seconds that an entry lives at least after its completion, by the lives that entries show."""
    return min([LEAST_LIFE, *(life for life in lives if life is not None and life > 0)])


def life_of_entry(entry: LogStoreEntry, published: LogObject | None) -> float | None:
    """Seconds from the publication of a complete entry's file to its end."""
    if not entry.complete or entry.expire_time is None or published is None:
        return None
    return entry.expire_time - published.modified_at.timestamp()


def unnamed_files(
    view: LogView, fates: Sequence[tuple[LogObject, Fate]], seen: Sequence[SeenEntry]
) -> list[tuple[LogObject, Fate]]:
    """Files that no entry names, of versions that another entry holds or that are not published.

    A file of a published version without any entry is not told from one whose entry has expired, so it is left out.
    """
    named, with_entry = {one.entry.temp_path for one in seen}, {one.version for one in seen}
    found = []
    for file, fate in fates:
        version = temp_file_version(file.name)
        is_told = version is None or version in with_entry
        is_gone = version is not None and version not in view.published and not view.is_cleaned(version)
        if file.name not in named and fate.proof is not Proof.NEEDED and (is_told or is_gone):
            found.append((file, fate))
    return found


def doubtful_orphans(view: LogView, seen: Sequence[SeenEntry]) -> list[LogObject]:
    """Unnamed files that are older than an entry lives: one that named each of them may have expired."""
    return [
        file
        for file, fate in unnamed_files(view, temp_fates(view, seen), seen)
        if fate.proof is Proof.UNPROVEN
        and temp_file_version(file.name) is not None
        and (view.age(file.modified_at) or 0) > view.facts.ttl_seconds
    ]


def contradicted_versions(view: LogView, seen: Sequence[SeenEntry]) -> tuple[tuple[int, bool], ...]:
    """Published versions without any entry, none of whose temp files holds the published bytes, ascending.

    Writers leave their temp files behind, so that one of them should; that of a writer that moves its own is gone.
    Beside each version stands whether one of these files was seen to be accepted.
    """
    found = []
    for version, of_it in sorted(_without_entry(view, seen).items()):
        if all(view.is_copy(one) is False for one in of_it):
            known = view.facts.provenance.get(version)
            if known is not None and known.disputed:
                continue  # more than one was accepted, which is a finding of its own
            named = [was_named(known, one.name) for one in of_it]
            if not all(one is False for one in named):
                found.append((version, True in named))
    return tuple(found)


def uncompared_temp_files(view: LogView, seen: Sequence[SeenEntry]) -> list[LogObject]:
    """Files of published versions without any entry that may or may not hold the published bytes."""
    return [file for of_it in _without_entry(view, seen).values() for file in of_it if view.is_copy(file) is None]


def _without_entry(view: LogView, seen: Sequence[SeenEntry]) -> dict[int, Sequence[LogObject]]:
    """The temp files of each published version that no entry speaks of, for certain."""
    decided = {one.version for one in seen}
    return {
        version: files
        for version, files in view.temp_by_version.items()
        if version >= view.facts.entries_from and version not in decided and version in view.published
    }


Tells = Callable[[LogObject], bool]
"""Whether witnesses show that a staged file lost against the published one (`survivors.Witnesses.tell`)."""


def staged_fates(view: LogView, tells: Tells | None = None) -> list[tuple[LogObject, Fate]]:
    """Every listed staged file with what is known of it."""
    versions, accepted, listed = view.staged_by_version, accepted_version(view), _listed(view)
    shared = _shared_versions(view, versions)
    fates = []
    for file in view.facts.listing.staged or ():
        version = staged_file_version(file.name)
        if version is None:
            fates.append((file, fate_of_staged(Staged(file, None, None, None))))
            continue
        is_copy = view.is_copy(file)
        staged = Staged(
            file,
            version,
            view.file(version).object,
            is_copy,
            [view.is_copy(one) for one in versions[version] if one is not file],
            accepted,
            is_listed=_name(file) in listed,
            other_is_listed=version in listed.values(),
            provenance=view.facts.provenance.get(version),
            witnessed=is_copy is False and tells is not None and tells(file),
            one_coordinator=version not in shared,
        )
        fates.append((file, fate_of_staged(staged)))
    return fates


def losing_files(view: LogView, fates: Sequence[tuple[LogObject, Fate]]) -> list[tuple[LogObject, Fate]]:
    """Files of accepted versions that hold other bytes than the published one, where another staged file holds those.

    Or where the registration lists, or was seen to list, another. Whether one may go is for its fate to say.
    """
    copied = {staged_file_version(file.name) for file, _ in fates if view.is_copy(file)}
    return [
        (file, fate)
        for file, fate in fates
        if view.is_copy(file) is False
        and (
            fate.proof is Proof.NEVER_ACCEPTED
            or (fate.proof is Proof.UNPROVEN and staged_file_version(file.name) in copied)
        )
    ]


def unaccepted_files(view: LogView) -> list[LogObject]:
    """Files above the newest accepted version: their writers died, or are about to commit."""
    accepted = accepted_version(view)
    if accepted is None:
        return []
    return [file for version, file in _unlisted(view) if version > accepted and version not in view.published]


def uncompared_staged_files(view: LogView) -> list[LogObject]:
    """Files of accepted and published versions that may or may not hold the published bytes."""
    accepted = accepted_version(view)
    if accepted is None:
        return []
    published = (file for version, file in _unlisted(view) if version <= accepted and version in view.published)
    return [file for file in published if view.is_copy(file) is None]


def _unlisted(view: LogView) -> Iterator[tuple[int, LogObject]]:
    """Staged files that no registration lists, with their versions."""
    listed = _listed(view)
    for version, files in view.staged_by_version.items():
        yield from ((version, file) for file in files if _name(file) not in listed)


def accepted_version(view: LogView) -> int | None:
    """The newest version that a registration of this path accepted a commit for."""
    versions = (one.table_version for one in _started(view))
    return max((version for version in versions if version is not None and is_version(version)), default=None)


def uncopied_versions(view: LogView) -> tuple[tuple[int, bool], ...]:
    """Accepted and published versions of which no staged file holds the published bytes, ascending.

    Beside each stands whether a coordinator accepted it for certain. A table that left its coordinator and came back
    has versions in between that none accepted, though staged files of refused commits may lie there. Only versions of
    the listing count: the folders are listed after the published files, and a file is staged before it is published.
    """
    accepted = accepted_version(view)
    if accepted is None:
        return ()
    files = view.staged_by_version
    copied = {version for version, of_it in files.items() if any(view.is_copy(one) for one in of_it)}
    elsewhere = {*copied, *_listed(view).values(), *(one.version for of in view.facts.entries.values() for one in of)}
    closed = [one.table_version or 0 for one in _started(view) if one.accepting_commits is False]
    found = []
    for version, of_it in sorted(files.items()):
        unknown = version in elsewhere or version > accepted or version not in view.facts.listing.commits
        if unknown or any(view.is_copy(one) is not False for one in of_it):
            continue
        seen = view.facts.provenance.get(version)
        if seen is not None and seen.disputed:
            continue  # more than one was accepted, which is a finding of its own
        named = [was_named(seen, one.name) for one in of_it]
        if not all(one is False for one in named):
            left = max((one for one in closed if one < version), default=-1)
            certain = left < 0 or True in named or any(left < one <= version for one in copied)
            found.append((version, certain))
    return tuple(found)


def _started(view: LogView) -> list[Registration]:
    here = [one for one in view.facts.registrations if same_place(one.path, view.facts.uri)]
    return [one for one in here if one.has_accepted_commits is not False]


def _shared_versions(view: LogView, versions: Iterable[int]) -> frozenset[int]:
    """Versions that more than one coordinator can have accepted, as far as registrations are or were seen.

    One that is closed accepted nothing above its version. One that is gone may have accepted anything: what Levee saw
    of it need not be all.
    """
    reach: dict[tuple[str, str], float] = {}
    for one in _started(view):
        closed_at = one.table_version if one.accepting_commits is False else None
        reach[one.store, one.table_id] = inf if closed_at is None else closed_at
    acceptances = (one for known in view.facts.provenance.values() for one in known.acceptances)
    for seen in acceptances:
        if not seen.is_of_log_store:
            reach.setdefault((seen.store, seen.lock_domain), inf)
    return frozenset(version for version in versions if sum(version <= last for last in reach.values()) > 1)


def _listed(view: LogView) -> dict[str, int]:
    """The files that any registration lists, with their versions."""
    return {
        commit.file_name: commit.version
        for one in view.facts.registrations
        for commit in one.commits
        if commit.file_name
    }


def _name(file: LogObject) -> str:
    return file.name.rpartition("/")[2]


# Findings

SPIN_FILES = 20
"""Files of one unpublished version within `SPIN_WINDOW` that no contention explains: one retry leaves one file."""

SPIN_WINDOW = timedelta(minutes=1)


def spin_finding(
    view: LogView, files: Sequence[LogObject], version_of: Callable[[str], int | None], what: str
) -> Finding | None:
    """Many files of one unpublished version within a minute: its writers are spinning."""
    if len(files) < SPIN_FILES:
        return None
    times: dict[int, list[datetime]] = {}
    for file in files:
        version = version_of(file.name)
        if version is not None and version not in view.published:
            times.setdefault(version, []).append(file.modified_at)
    crowded = {version: _most_within(moments) for version, moments in times.items()}
    version = max((v for v, count in crowded.items() if count >= SPIN_FILES), default=None)
    if version is None:
        return None
    return attention(
        "writers-spinning",
        f"{counted(crowded[version], what.removesuffix('s'), what)} of version {thousands(version)} were written "
        "within one minute: a writer retries that version without end.",
        version,
        "Each retry leaves one more file, up to 10,000,000 by default, until the version is published.",
        {
            "files_within_a_minute": crowded[version],
            "files": len(times[version]),
            "newest_at": max(times[version]).isoformat(),
        },
    )


def _most_within(moments: Sequence[datetime]) -> int:
    """The largest number of moments inside one window."""
    ordered = sorted(moments)
    first = most = 0
    for last, moment in enumerate(ordered):
        while moment - ordered[first] > SPIN_WINDOW:
            first += 1
        most = max(most, last - first + 1)
    return most


def orphans_finding(
    view: LogView,
    files: Sequence[LogObject],
    code: str,
    summary: str,
    quiet_seconds: float,
    *,
    removable: Sequence[LogObject] | None = None,
) -> Finding | None:
    """One finding for all files that no item names; `removable` ones (None: all) may go once they are quiet."""
    if not files:
        return None
    oldest = max(view.age(file.modified_at) or 0 for file in files)
    ages = [view.age(one.modified_at) or 0 for one in (files if removable is None else removable)]
    total = sum(file.size for file in files)
    return graded(State.HEALTHY)(
        code,
        summary,
        meaning="Writers that lost a race or stopped early leave such files. They take space and are never read; "
        "publishing one would invent a commit.",
        evidence={
            "count": len(files),
            "bytes": total,
            "oldest_age": duration(oldest),
            "names": [file.name for file in files[:20]],
        },
        repairs=("remove-orphans",) if any(age > quiet_seconds for age in ages) else (),
    )


def uncompared_finding(files: Sequence[LogObject], what: str) -> Finding | None:
    """Files of which it is not known whether they hold what is published: one look compares only so many."""
    if not files:
        return None
    named = counted(len(files), what)
    return note(
        "not-compared",
        f"{named} {verb(len(files), 'was', 'were')} not compared with what is published: one look compares only some.",
        "Sizes and ETags do not tell whether they are copies. None of them is deleted, and none is taken for a "
        "sign of a loss.",
        count=len(files),
        names=[file.name for file in files[:20]],
    )
