"""Temp files of the log store beside the entries of their versions: which of them may be the last copy of a commit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from coordinator.protocols.log_store_entries import SeenEntry
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import temp_file_version
from coordinator.protocols.survivors import LEAST_LIFE, Fate, NamedFile, Proof, WrittenAside, fate_of_temp, was_named
from lake.delta.facts import LogObject, LogStoreEntry

Times = Callable[[LogObject], datetime | None]
"""When a file was written by what it says itself; None where S3's time is to be believed."""


def as_s3_says(file: LogObject) -> datetime | None:
    """A look reads no temp file for its time; whoever plans a deletion does."""
    return None


UNREAD = Fate(Proof.NEEDED, "not every entry of its version was kept when they were read")


def temp_fates(view: LogView, seen: Sequence[SeenEntry], times: Times = as_s3_says) -> list[tuple[LogObject, Fate]]:
    """Every listed temp file with what is known of it; `seen` are the entries of every lock domain."""
    by_version: dict[int, list[NamedFile]] = {}
    for one in seen:
        by_version.setdefault(one.version, []).append(NamedFile(one.entry, one.temp.object if one.temp else None))
    life = shortest_life(life_of_entry(one.entry, one.file.object) for one in seen)
    return [(file, _fate(view, file, by_version, life, times)) for file in view.facts.listing.temp_files or ()]


def _fate(view: LogView, file: LogObject, entries: Mapping[int, list[NamedFile]], life: float, times: Times) -> Fate:
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
            written_at=times(file),
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


def uncompared_files(view: LogView, seen: Sequence[SeenEntry]) -> list[LogObject]:
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
