"""What two witnesses say of a table: DynamoDB on one side, S3 on the other, and whether they agree.

Pure functions over stored rows; a fact that was not read is called Unknown.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coordinator.models import CommitStore, DeltaTable, Entry
from coordinator.versions import UNPUBLISHED, VersionRow, VersionState
from dashboard.web.states import look_of
from lake.delta.facts import Mechanism
from lake.delta.names import commit_name

TROUBLED_SHOWN = 5
_VERSIONED = re.compile(r"[0-9]{20}\.")
_UUID = re.compile(r"([0-9a-f]{8})-[0-9a-f-]{4,27}")


@dataclass(frozen=True, slots=True)
class Mark:
    """A word with its shape and tone."""

    word: str
    shape: str
    tone: str
    differs: bool = False


AGREE = Mark("Agree", "s-ok", "ok")
UNKNOWN = Mark("Unknown", "s-unknown", "idle")
ONE_WITNESS = Mark("One witness", "s-published", "idle")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of what a witness says: a key or value in code, or plain words; strong where it decides."""

    text: str
    code: bool = False
    strong: bool = False


@dataclass(frozen=True, slots=True)
class WitnessStatement:
    """What one witness says, with a remark below."""

    parts: tuple[Part, ...]
    note: str = ""

    @property
    def words(self) -> str:
        """The same as plain text."""
        return " ".join(part.text for part in self.parts) + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """One fact, as DynamoDB and as S3 have it."""

    fact: str
    dynamodb: WitnessStatement
    s3: WitnessStatement
    together: Mark


def evidence(table: DeltaTable, versions: Sequence[VersionRow]) -> list[EvidenceRow]:
    """The rows that carry the verdict, oldest version first. `versions` are the newest ones, oldest first."""
    if table.mechanism == Mechanism.COORDINATED_COMMITS:
        return _coordinated(table, versions)
    if table.mechanism == Mechanism.LOG_STORE and table.lock_domains:
        return _log_store(table, versions)
    newest = _newest_published(versions)
    return [_single(newest, table)] if newest else []


def short(name: str) -> str:
    """A key cut to what differs: `.tmp/…1042.json.7f3c9b52`, `_staged_commits/…1042.7f3c9b52.json`."""
    folder, slash, file = name.rpartition("/")
    if not _VERSIONED.match(file):
        return name
    digits = file[:20].lstrip("0").rjust(4, "0")
    return f"{folder}{slash}…{digits}{_UUID.sub(_first_eight, file[20:])}"


def _first_eight(uuid: "re.Match[str]") -> str:
    return uuid[1]


def commit_file(version: int) -> str:
    return short(commit_name(version))


def _log_store(table: DeltaTable, versions: Sequence[VersionRow]) -> list[EvidenceRow]:
    published = [_published_row(row) for row in versions if row.file_present]
    odd = [row for row in published[:-1] if row.together.differs][-TROUBLED_SHOWN:]
    return [*_lock_domains(versions), *odd, *published[-1:], *_troubled(versions), *_above(table, versions)]


def _lock_domains(versions: Sequence[VersionRow]) -> list[EvidenceRow]:
    """Entries in several stores, or under several spellings of one path, which do not exclude each other."""
    held = sorted({(entry.store_id, entry.lock_domain) for row in versions for entry in row.entries})
    if len(held) < 2:
        return []
    names = dict(CommitStore.objects.filter(pk__in=[store for store, _ in held]).values_list("pk", "name"))
    told = [f"{path} in {names[store]}" if len(names) > 1 else path for store, path in held]
    together = Mark(f"{len(held)} locks", "s-unsafe", "crit", differs=True)
    return [
        EvidenceRow(
            "Lock domains", WitnessStatement(tuple(Part(one, code=True) for one in told)), _words("one table"), together
        )
    ]


def _coordinated(table: DeltaTable, versions: Sequence[VersionRow]) -> list[EvidenceRow]:
    newest = _newest_published(versions)
    published = [_single(newest, table)] if newest else []
    registrations = [_registration_row(item, table) for item in table.registrations]
    return [*published, *registrations, *_troubled(versions, absent="not in the item's list")]


def _published_row(row: VersionRow) -> EvidenceRow:
    said, together = _words("no entry", note="expired by TTL, or never written"), AGREE
    if row.entry:
        said = _said_complete(row.entry)
        if not row.entry.complete:
            together = Mark("Not completed", "s-pending", "held", differs=True)
        elif row.entry.commit_time is not None:
            together = Mark("Carries commitTime", "s-attention", "warn", differs=True)
    elif row.state == VersionState.FOREIGN_WRITER:
        said, together = _words("no entry", note="too young for TTL to explain it"), _mark(row.state)
    return EvidenceRow(f"Commit {row.version:,}", said, _file(row), together)


def _version_row(row: VersionRow, absent: str) -> EvidenceRow:
    said = _words(absent, strong=True)
    if row.entry and row.entry.code.startswith("K"):
        said = _words("in the item's list", note="accepted")
    elif row.entry:
        said = _said_complete(row.entry, strong=True, note="" if row.entry.complete else "no expireTime yet")
    words = {VersionState.PENDING: "Not published", VersionState.UNBACKFILLED: "Not backfilled"}
    return EvidenceRow(f"Commit {row.version:,}", said, _file(row), _mark(row.state, words.get(row.state)))


def _temp_row(entry: Entry) -> EvidenceRow:
    kind = "Staged file" if entry.code.startswith("K") else "Temp file"
    named = _code(short(entry.file)) if entry.file else _words("names no file", strong=True)
    if entry.file_present is None:
        return EvidenceRow(kind, named, _words("Unknown", note="not looked at"), UNKNOWN)
    if entry.file_present:
        size = f", {entry.file_size:,} B" if entry.file_size is not None else ""
        return EvidenceRow(kind, named, _words(f"present{size}"), AGREE)
    return EvidenceRow(kind, named, _words("absent", strong=True), _mark(VersionState.MISSING))


def _registration_row(item: Mapping[str, Any], table: DeltaTable) -> EvidenceRow:
    """The coordinator's item beside the newest file of the log."""
    version, newest = item.get("table_version"), table.published_version
    note = "accepts commits" if item.get("accepting_commits") else "accepts no commits"
    said = WitnessStatement(
        (Part("tableVersion ="), Part("Unknown" if version is None else f"{version:,}", code=True)), note
    )
    file = _words("no commit file")
    if newest is not None:
        file = WitnessStatement((Part("newest file"), Part(commit_file(newest), code=True)))
    several = len(table.registrations) > 1
    label = f"Registration {str(item.get('table_id', ''))[:8]}" if several else "Registration"
    return EvidenceRow(label, said, file, _together(version, newest))


def _together(version: int | None, newest: int | None) -> Mark:
    """A registration's tableVersion against the newest published file."""
    if version is None or newest is None:
        return UNKNOWN
    if version > newest:
        return Mark(f"{version - newest:,} behind", "s-unbackfilled", "held", differs=True)
    return AGREE if version == newest else Mark("Item is behind", "s-attention", "warn", differs=True)


def _above(table: DeltaTable, versions: Sequence[VersionRow]) -> list[EvidenceRow]:
    if not versions or table.observed_at is None:
        return []
    return [EvidenceRow(f"Above {versions[-1].version:,}", _words("no entry"), _words("no file"), AGREE)]


def _single(row: VersionRow, table: DeltaTable) -> EvidenceRow:
    if table.mechanism == Mechanism.COORDINATED_COMMITS:
        said = _words("not in the item's list", note="cleared once backfilled")
        return EvidenceRow(f"Commit {row.version:,}", said, _file(row), AGREE)
    unknown = table.mechanism == Mechanism.LOG_STORE
    said = _words("no entry", note="in any store that is asked" if unknown else "nothing shows a commit store")
    return EvidenceRow(f"Commit {row.version:,}", said, _file(row), ONE_WITNESS)


def _file(row: VersionRow) -> WitnessStatement:
    name = Part(commit_file(row.version), code=True)
    if not row.file_present:
        return WitnessStatement((name, Part("absent", strong=True)))
    size = row.commit.size if row.commit else None
    return WitnessStatement((name, Part(f"{size:,} B" if size is not None else "size unknown")))


def _said_complete(entry: Entry, *, strong: bool = False, note: str = "") -> WitnessStatement:
    value = "Unknown" if entry.complete is None else f'"{str(entry.complete).lower()}"'
    return WitnessStatement((Part("complete ="), Part(value, code=True, strong=strong)), note)


def _words(text: str, *, note: str = "", strong: bool = False) -> WitnessStatement:
    return WitnessStatement((Part(text, strong=strong),), note)


def _code(text: str) -> WitnessStatement:
    return WitnessStatement((Part(text, code=True),))


def _mark(state: VersionState, word: str | None = None) -> Mark:
    look = look_of(state)
    return Mark(word or look.word, look.shape, look.tone, differs=True)


def _newest_published(versions: Sequence[VersionRow]) -> VersionRow | None:
    return next((row for row in reversed(versions) if row.file_present), None)


def _troubled(versions: Sequence[VersionRow], absent: str = "no entry") -> Iterator[EvidenceRow]:
    """The newest versions that are not published, each with the files that its entries name."""
    for version in [row for row in versions if row.state in UNPUBLISHED][-TROUBLED_SHOWN:]:
        yield _version_row(version, absent)
        yield from map(_temp_row, version.entries)
