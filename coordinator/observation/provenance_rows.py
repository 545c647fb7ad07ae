"""Provenance rows: what was seen of each version first. Facts are added to them and never replaced (decision 008)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any

from coordinator.models import DeltaTable, ProvenanceRow, StoreIdentity
from coordinator.observation.commit_rows import Told
from coordinator.observation.reading import Reading
from coordinator.observation.storable import make_storable
from coordinator.protocols.deadlines import read_moment
from coordinator.protocols.log_view import LogView
from coordinator.protocols.provenance import abandoned, remember
from lake.delta import facts

_BATCH = 500
_IDENTITY = ("store", "region", "lock_domain")
_TEXTS = ("etag", "digest", "copy_etag", "file_name", "accepted_etag", "differs_etag")
_MOSTLY_THE_ETAG = ("digest", "accepted_etag")
_THE_ETAG = "="
"""Stands for the ETag in a column that mostly holds the same: without encryption by KMS both are MD5s of the bytes."""
_LISTS = ("rivals", "abandoned")
_MOMENTS = ("accepted_at", "abandoned_at")
_PLAIN = tuple(one.name for one in fields(facts.Provenance) if one.name not in (*_IDENTITY, *_TEXTS, *_LISTS))
_FIELDS = [*(name for name in _PLAIN if name != "version"), *_TEXTS, *_LISTS, "identity"]

Identities = Mapping[tuple[int, str, str, str], StoreIdentity]


def recall_provenance(table_id: int, from_version: int) -> dict[int, facts.Provenance]:
    """What is known of a table's versions from that one on."""
    rows = ProvenanceRow.objects.filter(table=table_id, version__gte=from_version)
    return {row.version: provenance_of_row(row) for row in rows.select_related("identity").iterator()}


def save_provenance(told: Sequence[Told]) -> None:
    """Store what each reading has learned, and drop what log clean-up has taken from log and stores.

    The tables' rows have to be held meanwhile: what another reading has stored since is then added to as well.
    """
    _forget([table for table, reading, _ in told if reading.of_another_table])
    learned = [(table, one) for table, reading, _ in told for one in reading.learned]
    identities = _identities(learned)
    held = _held(told)
    new = [_row(table, one, identities) for table, one in learned if (table.pk, one.version) not in held]
    fuller = [
        _row(table, remember(held[table.pk, one.version], one), identities)
        for table, one in learned
        if (table.pk, one.version) in held
    ]
    ProvenanceRow.objects.bulk_create(new, ignore_conflicts=True, batch_size=_BATCH)
    _replace(fuller)
    for table, reading, facts_read in told:
        _prune(table, reading, facts_read)


def abandon_commits(table: DeltaTable, commits: Sequence[tuple[int, str]], now: datetime) -> None:
    """Give up what was accepted as these versions with these files. The table's row has to be held meanwhile."""
    files: defaultdict[int, list[str]] = defaultdict(list)
    for version, name in commits:
        files[version].append(name)
    rows = table.provenance.filter(version__in=files).select_related("identity")
    given_up = [(table, abandoned(provenance_of_row(row), files[row.version], now)) for row in rows]
    identities = _identities(given_up)
    _replace([_row(table, one, identities) for _, one in given_up])


def _replace(rows: Sequence[ProvenanceRow]) -> None:
    ProvenanceRow.objects.bulk_create(
        rows, update_conflicts=True, update_fields=_FIELDS, unique_fields=["table", "version"], batch_size=_BATCH
    )


def _forget(tables: Sequence[DeltaTable]) -> None:
    """Let go of another table that stood at this place before."""
    if tables:
        ProvenanceRow.objects.filter(table__in=tables).delete()
        StoreIdentity.objects.filter(table__in=tables).delete()


def _held(told: Sequence[Told]) -> dict[tuple[int, int], facts.Provenance]:
    """The rows of now that readings know more of; rows that a reading did not know are told by their conflict."""
    held: dict[tuple[int, int], facts.Provenance] = {}
    for table, reading, _ in told:
        known = [one.version for one in reading.learned if one.version in reading.recalled]
        for start in range(0, len(known), _BATCH):
            rows = table.provenance.filter(version__in=known[start : start + _BATCH]).select_related("identity")
            held |= {(table.pk, row.version): provenance_of_row(row) for row in rows}
    return held


def _identities(learned: Sequence[tuple[DeltaTable, facts.Provenance]]) -> Identities:
    """The row of every identity that was learned of; those that are new are made."""
    wanted: dict[tuple[int, str, str, str], StoreIdentity] = {}
    for table, one in learned:
        if one.store is not None:
            wanted.setdefault((table.pk, one.store, one.region or "", one.lock_domain or ""), _identity(table, one))
    StoreIdentity.objects.bulk_create(wanted.values(), ignore_conflicts=True)
    rows = StoreIdentity.objects.filter(table__in={table_id for table_id, *_ in wanted})
    by_key = {(row.table_id, row.store, row.region, row.lock_domain): row for row in rows}
    return {key: by_key[row.table_id, row.store, row.region, row.lock_domain] for key, row in wanted.items()}


def _identity(table: DeltaTable, one: facts.Provenance) -> StoreIdentity:
    row = StoreIdentity(table=table, store=one.store or "", region=one.region or "", lock_domain=one.lock_domain or "")
    make_storable(row)
    return row


def _row(table: DeltaTable, one: facts.Provenance, identities: Identities) -> ProvenanceRow:
    identity = identities.get((table.pk, one.store or "", one.region or "", one.lock_domain or ""))
    values: dict[str, object] = {name: getattr(one, name) for name in _PLAIN}
    values |= {name: getattr(one, name) or "" for name in _TEXTS}
    values |= {name: _THE_ETAG for name in _MOSTLY_THE_ETAG if values[name] and values[name] == values["etag"]}
    values |= {name: [_stored(listed) for listed in getattr(one, name)] or None for name in _LISTS}
    row = ProvenanceRow(table=table, identity=identity, **values)
    make_storable(row)
    return row


def provenance_of_row(row: ProvenanceRow) -> facts.Provenance:
    """What a row says; its identity has to be read with it."""
    values: dict[str, Any] = {name: getattr(row, name) for name in _PLAIN}
    values |= {name: getattr(row, name) or None for name in _TEXTS}
    values |= {name: values["etag"] for name in _MOSTLY_THE_ETAG if values[name] == _THE_ETAG}
    values |= {name: tuple(_read(listed) for listed in getattr(row, name) or ()) for name in _LISTS}
    fact = facts.Provenance(**values)
    if row.identity is None:
        return fact
    return replace(fact, **{name: getattr(row.identity, name) for name in _IDENTITY})


def _stored(rival: facts.Acceptance) -> dict[str, object]:
    stored = asdict(rival) | {name: _written(getattr(rival, name)) for name in _MOMENTS}
    return {name: value for name, value in stored.items() if value is not None}


def _read(stored: Mapping[str, Any]) -> facts.Acceptance:
    return facts.Acceptance(**{**stored, **{name: read_moment(stored.get(name)) for name in _MOMENTS}})


def _written(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _prune(table: DeltaTable, reading: Reading, facts_read: facts.TableFacts) -> None:
    """Drop what log clean-up explains: versions below the log that a checkpoint covers and no item names any more.

    A version that is gone without such an explanation is kept: it may come back, or be lost.
    """
    if not reading.whole_log or not reading.recalled:
        return
    view = LogView(facts_read)
    named = {entry.version for entries in view.facts.entries.values() for entry in entries}
    named |= {commit.version for one in view.facts.registrations for commit in one.commits}
    gone = [version for version in reading.recalled if view.is_cleaned(version) and version not in named]
    for start in range(0, len(gone), _BATCH):
        table.provenance.filter(version__in=gone[start : start + _BATCH]).delete()
