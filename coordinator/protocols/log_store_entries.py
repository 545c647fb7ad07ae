"""Log store entries beside the two files each of them speaks of."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from coordinator.protocols.judgement import MOST_FINDINGS, malformed
from coordinator.protocols.log_view import LogView, ObjectPresence
from coordinator.protocols.names import is_entry_of, is_temp_of, is_version, names_place
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import thousands
from lake.delta.facts import LockDomain, LogStoreEntry
from lake.delta.wire import shown


@dataclass(frozen=True, slots=True)
class SeenEntry:
    """A sound entry: `temp` is None where it names no usable temp file, `newest` is of its lock domain."""

    domain: LockDomain
    entry: LogStoreEntry
    version: int
    file: ObjectPresence
    temp: ObjectPresence | None
    newest: bool

    @property
    def has_temp(self) -> bool | None:
        """Whether the temp file is there; None where that is not known."""
        return self.temp.present if self.temp else None

    @property
    def written_at(self) -> datetime | None:
        """When the writer wrote the temp file, else when the published file was written."""
        return (self.temp.modified_at if self.temp else None) or self.file.modified_at

    @property
    def evidence(self) -> dict[str, object]:
        """The item and its files as read."""
        item = {
            "tablePath": self.entry.table_path,
            "fileName": self.entry.file_name,
            "tempPath": self.entry.temp_path,
            "complete": self.entry.complete,
            "expireTime": self.entry.expire_time,
        }
        looks = [look for look in (self.file, self.temp) if look]
        return {"store": self.domain.store, "dynamodb": item, "s3": [look_evidence(look) for look in looks]}


def look_evidence(look: ObjectPresence) -> dict[str, object]:
    """One object as JSON: its name, whether it is there, its size in bytes and when it was written."""
    written = look.modified_at.isoformat() if look.modified_at else None
    return {"name": look.name, "present": look.present, "size": look.size, "modified_at": written}


def own_domains(view: LogView) -> dict[LockDomain, tuple[LogStoreEntry, ...]]:
    """Entries by lock domain, without those of other tables; a domain of which none was kept is one all the same."""
    return {
        domain: own
        for domain, entries in view.facts.entries.items()
        if (own := _own(domain, entries, view.facts.uri)) is not None
    }


def _own(domain: LockDomain, entries: tuple[LogStoreEntry, ...], uri: str) -> tuple[LogStoreEntry, ...] | None:
    """Those of the table; None where the domain is of another. An escaped path may be two tables, by who wrote it."""
    if "%" not in domain.path or not entries:
        return entries if names_place(domain.path, uri) else None
    return tuple(entry for entry in entries if is_entry_of(entry, uri)) or None


def seen_entries(view: LogView) -> list[SeenEntry]:
    """Entries that can be looked up, of every lock domain of the table."""
    return [one for domain, entries in own_domains(view).items() for one in _seen(view, domain, entries)]


def _seen(view: LogView, domain: LockDomain, entries: Iterable[LogStoreEntry]) -> Iterator[SeenEntry]:
    """Of two with one version the first counts, the other is reported as malformed."""
    sound: dict[int, LogStoreEntry] = {}
    for entry in entries:
        if entry.version is not None and is_version(entry.version):
            sound.setdefault(entry.version, entry)
    newest = max(sound, default=None)
    for version, entry in sorted(sound.items()):
        temp = view.temp(entry.temp_path) if entry.temp_path and is_temp_of(entry.temp_path, version) else None
        yield SeenEntry(domain, entry, version, view.file(version), temp, version == newest)


def malformed_items(view: LogView) -> list[Finding]:
    """Items whose attributes are not as the protocol has them, the newest; partitions of other tables."""
    own = own_domains(view)
    found = []
    for domain in view.facts.entries:
        if domain not in own:
            problem = "tablePath is not this table, so its entries are left out"
            found.append(malformed(f"Partition {domain.path}", [problem]))
    for domain, entries in own.items():
        versions: set[int] = set()
        for entry in entries:
            said = {problem.partition(" ")[0] for problem in entry.problems}
            problems = [*entry.problems, *(p for p in _problems(entry, versions) if p.partition(" ")[0] not in said)]
            if problems:
                named = thousands(entry.version) if entry.version is not None else shown(entry.file_name)
                place = f"Entry {named} of {domain.path} in {domain.store}"
                found.append(malformed(place, problems, entry.version if is_version(entry.version) else None))
            if entry.version is not None:
                versions.add(entry.version)
    return sorted(found, key=lambda one: -1 if one.version is None else one.version)[-MOST_FINDINGS:]


def _problems(entry: LogStoreEntry, versions: set[int]) -> Iterator[str]:
    if not is_version(entry.version) or entry.version is None:
        yield f"fileName {shown(entry.file_name)} is not the name of a commit file"
        return
    if entry.version in versions:
        yield "a second item holds the same version"
    if entry.temp_path is None:
        yield "tempPath is absent"
    elif not is_temp_of(entry.temp_path, entry.version):
        yield f"tempPath {shown(entry.temp_path)} is not a temp file of this version"
    if entry.complete is None:
        yield 'complete is neither the text "true" nor "false"'
