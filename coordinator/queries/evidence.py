"""What two witnesses say of a table: DynamoDB on one side, S3 on the other, and whether they agree.

Pure functions over stored rows; a fact that was not read is called Unknown. Keys and values stand in back-ticks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coordinator.models import CommitStore, DeltaTable, Entry
from coordinator.protocols.names import commit_name
from coordinator.versions import UNPUBLISHED, VersionRow, VersionState, short
from lake.delta.facts import Mechanism

TROUBLED_SHOWN = 5
_DIFFERENCES = {
    VersionState.FOREIGN_WRITER: "Foreign writer",
    VersionState.MISSING: "Missing",
    VersionState.PENDING: "Not published",
    VersionState.UNBACKFILLED: "Not backfilled",
}


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """One fact, as DynamoDB with a note and as S3 have it; together they are `word`, which looks as that state does."""

    fact: str
    dynamodb: str
    s3: str
    word: str = "Agree"
    state: str = "healthy"
    note: str = ""

    @property
    def differs(self) -> bool:
        return self.word not in ("Agree", "Unknown", "One witness")


def evidence(table: DeltaTable, versions: Sequence[VersionRow]) -> list[EvidenceRow]:
    """The rows that carry the verdict, oldest version first. `versions` are the newest ones, oldest first."""
    if table.mechanism == Mechanism.LOG_STORE and table.lock_domains:
        return _log_store(table, versions)
    newest = next((_single(row, table) for row in reversed(versions) if row.file_present), None)
    published = [newest] if newest else []
    if table.mechanism != Mechanism.COORDINATED_COMMITS:
        return published
    registrations = [_registration_row(item, table) for item in table.registrations]
    return [*published, *registrations, *_troubled(versions, absent="not in the item's list")]


def _log_store(table: DeltaTable, versions: Sequence[VersionRow]) -> list[EvidenceRow]:
    published = [_published_row(row) for row in versions if row.file_present]
    odd = [row for row in published[:-1] if row.differs][-TROUBLED_SHOWN:]
    above = []
    if versions and table.observed_at is not None:
        above = [EvidenceRow(f"Above {versions[-1].version:,}", "no entry", "no file")]
    return [*_lock_domains(versions), *odd, *published[-1:], *_troubled(versions), *above]


def _lock_domains(versions: Sequence[VersionRow]) -> list[EvidenceRow]:
    """Entries in several stores, or under several spellings of one path, which do not exclude each other."""
    held = sorted({(entry.store_id, entry.lock_domain) for row in versions for entry in row.entries})
    if len(held) < 2:
        return []
    names = dict(CommitStore.objects.filter(pk__in=[store for store, _ in held]).values_list("pk", "name"))
    told = [f"`{path} in {names[store]}`" if len(names) > 1 else f"`{path}`" for store, path in held]
    return [EvidenceRow("Lock domains", " ".join(told), "one table", f"{len(held)} locks", "unsafe")]


def _published_row(row: VersionRow) -> EvidenceRow:
    fact, file = f"Commit {row.version:,}", _file(row)
    if row.entry and not row.entry.complete:
        return EvidenceRow(fact, _complete(row.entry), file, "Not completed", "pending")
    if row.entry and row.entry.commit_time is not None:
        return EvidenceRow(fact, _complete(row.entry), file, "Carries commitTime", "attention")
    if row.entry:
        return EvidenceRow(fact, _complete(row.entry), file)
    if row.state == VersionState.FOREIGN_WRITER:
        note = "too young for TTL to explain it"
        return EvidenceRow(fact, "no entry", file, _DIFFERENCES[row.state], row.state, note)
    return EvidenceRow(fact, "no entry", file, note="expired by TTL, or never written")


def _troubled(versions: Sequence[VersionRow], absent: str = "no entry") -> Iterator[EvidenceRow]:
    """The newest versions that are not published, each with the files that its entries name."""
    for row in [row for row in versions if row.state in UNPUBLISHED][-TROUBLED_SHOWN:]:
        said, note = absent, ""
        if row.entry and row.entry.is_coordinated:
            said, note = absent if row.entry.code == "K6" else "in the item's list", "accepted"
        elif row.entry:
            said, note = _complete(row.entry), "" if row.entry.complete else "no expireTime yet"
        yield EvidenceRow(f"Commit {row.version:,}", said, _file(row), _DIFFERENCES[row.state], row.state, note)
        yield from (_temp_row(entry) for entry in row.entries if entry.code != "K6")


def _temp_row(entry: Entry) -> EvidenceRow:
    kind = "Staged file" if entry.is_coordinated else "Temp file"
    named = f"`{short(entry.file)}`" if entry.file else "names no file"
    if entry.file_present is None:
        return EvidenceRow(kind, named, "Unknown: not looked at", "Unknown", "not_checked")
    if entry.file_present:
        size = f", {entry.file_size:,} B" if entry.file_size is not None else ""
        return EvidenceRow(kind, named, f"present{size}")
    return EvidenceRow(kind, named, "absent", _DIFFERENCES[VersionState.MISSING], VersionState.MISSING)


def _registration_row(item: Mapping[str, Any], table: DeltaTable) -> EvidenceRow:
    """The coordinator's item beside the newest file of the log."""
    version, newest = item.get("table_version"), table.published_version
    several = len(table.registrations) > 1
    label = f"Registration {str(item.get('table_id', ''))[:8]}" if several else "Registration"
    said = f"tableVersion = `{'Unknown' if version is None else f'{version:,}'}`"
    file = "no commit file" if newest is None else f"newest file `{short(commit_name(newest))}`"
    note = "accepts commits" if item.get("accepting_commits") else "accepts no commits"
    if version is None or newest is None:
        return EvidenceRow(label, said, file, "Unknown", "not_checked", note)
    if version > newest:
        return EvidenceRow(label, said, file, f"{version - newest:,} behind", "unbackfilled", note)
    if version < newest:
        return EvidenceRow(label, said, file, "Item is behind", "attention", note)
    return EvidenceRow(label, said, file, note=note)


def _single(row: VersionRow, table: DeltaTable) -> EvidenceRow:
    fact, file = f"Commit {row.version:,}", _file(row)
    if table.mechanism == Mechanism.COORDINATED_COMMITS:
        return EvidenceRow(fact, "not in the item's list", file, note="cleared once backfilled")
    unknown = table.mechanism == Mechanism.LOG_STORE
    note = "in any store that is asked" if unknown else "nothing shows a commit store"
    return EvidenceRow(fact, "no entry", file, "One witness", "published", note)


def _file(row: VersionRow) -> str:
    name = f"`{short(row.file_name)}`"
    if not row.file_present:
        return f"{name} absent"
    size = row.commit.size if row.commit else None
    return f"{name} {f'{size:,} B' if size is not None else 'size unknown'}"


def _complete(entry: Entry) -> str:
    value = "Unknown" if entry.complete is None else f'"{str(entry.complete).lower()}"'
    return f"complete = `{value}`"
