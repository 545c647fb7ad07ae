"""Temp files of the log store beside the entries of their versions: which of them may be the last copy of a commit."""

from collections.abc import Iterable, Mapping, Sequence

from coordinator.protocols.log_store_entries import SeenEntry
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import temp_file_version
from coordinator.protocols.survivors import Fate, NamedFile, Proof, WrittenAside, fate_of_temp, was_named
from lake.delta.facts import LogObject, LogStoreEntry

UNREAD = Fate(Proof.NEEDED, "not every entry of its version was kept when they were read")


def temp_fates(view: LogView, seen: Iterable[SeenEntry]) -> list[tuple[LogObject, Fate]]:
    """Every listed temp file with what is known of it; `seen` are the entries of every lock domain."""
    by_version: dict[int, list[NamedFile]] = {}
    for one in seen:
        by_version.setdefault(one.version, []).append(NamedFile(one.entry, one.temp.object if one.temp else None))
    return [(file, _fate(view, file, by_version)) for file in view.facts.listing.temp_files or ()]


def _fate(view: LogView, file: LogObject, entries: Mapping[int, list[NamedFile]]) -> Fate:
    version = temp_file_version(file.name)
    if version is None:
        return fate_of_temp(WrittenAside(file, None, None, None))
    if version < view.facts.entries_from:
        return UNREAD
    named = entries.get(version, [])
    return fate_of_temp(
        WrittenAside(
            file,
            version,
            view.file(version).object,
            view.is_copy(file),
            named,
            view.facts.provenance.get(version),
            life_seconds=shortest_life((one.entry for one in named), view.file(version).object, view.facts.ttl_seconds),
        )
    )


def shortest_life(entries: Iterable[LogStoreEntry], published: LogObject | None, assumed_seconds: float) -> float:
    """Seconds that an entry of the version lives at least, by those that are there; never above what is assumed."""
    if published is None:
        return assumed_seconds
    written = published.modified_at.timestamp()
    lives = [one.expire_time - written for one in entries if one.complete and one.expire_time is not None]
    return max(0.0, min([assumed_seconds, *lives]))


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


def contradicted_versions(view: LogView, seen: Sequence[SeenEntry]) -> tuple[tuple[int, bool], ...]:
    """Published versions without any entry, none of whose temp files holds the published bytes, ascending.

    Writers leave their temp files behind, so that one of them should; that of a writer that moves its own is gone.
    Beside each version stands whether one of these files was seen to be accepted.
    """
    decided = {one.version for one in seen}
    files: dict[int, list[LogObject]] = {}
    for file in view.facts.listing.temp_files or ():
        version = temp_file_version(file.name)
        if version is None or version < view.facts.entries_from or version in decided:
            continue
        if version in view.published:
            files.setdefault(version, []).append(file)
    found = []
    for version, of_it in sorted(files.items()):
        if all(view.is_copy(one) is False for one in of_it):
            named = [was_named(view.facts.provenance.get(version), one.name) for one in of_it]
            if not all(one is False for one in named):
                found.append((version, True in named))
    return tuple(found)
