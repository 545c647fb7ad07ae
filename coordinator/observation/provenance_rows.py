"""Provenance rows: what was seen of each version first. Facts are added to them and never replaced (decision 008)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from coordinator.models import DeltaTable, ProvenanceRow
from coordinator.observation.commit_rows import Told
from coordinator.observation.reading import Reading
from coordinator.protocols.deadlines import read_moment
from coordinator.protocols.log_view import LogView
from coordinator.protocols.provenance import abandoned, remember
from dashboard.storable import make_storable
from lake.delta import facts

_BATCH = 500
_TEXTS = (
    "etag",
    "digest",
    "copy_etag",
    "store",
    "region",
    "lock_domain",
    "file_name",
    "accepted_etag",
    "differs_etag",
)
_LISTS = ("rivals", "abandoned")
_MOMENTS = ("accepted_at", "abandoned_at")
_ALL = [one.name for one in fields(facts.Provenance)]
"""A row has a column for each fact: of a text "" is not known, a list is JSON, and the others are as they are."""


def recall_provenance(table_id: int, from_version: int) -> dict[int, facts.Provenance]:
    """What is known of a table's versions from that one on."""
    rows = ProvenanceRow.objects.filter(table=table_id, version__gte=from_version)
    return {row.version: provenance_of_row(row) for row in rows.iterator()}


def save_provenance(told: Sequence[Told]) -> None:
    """Store what each reading has learned, and drop what log clean-up has taken from log and stores.

    The tables' rows have to be held meanwhile: what another reading has stored since is then added to as well.
    """
    # Another table that stood at this place before is let go of.
    ProvenanceRow.objects.filter(table__in=[table for table, reading, _ in told if reading.of_another_table]).delete()
    learned = [(table, one) for table, reading, _ in told for one in reading.learned]
    held = _held(told)
    new = [_row(table, one) for table, one in learned if (table.pk, one.version) not in held]
    fuller = [
        _row(table, remember(held[table.pk, one.version], one))
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
    rows = table.provenance.filter(version__in=files)
    _replace([_row(table, abandoned(provenance_of_row(row), files[row.version], now)) for row in rows])


def _replace(rows: Sequence[ProvenanceRow]) -> None:
    ProvenanceRow.objects.bulk_create(
        rows,
        update_conflicts=True,
        update_fields=[name for name in _ALL if name != "version"],
        unique_fields=["table", "version"],
        batch_size=_BATCH,
    )


def _held(told: Sequence[Told]) -> dict[tuple[int, int], facts.Provenance]:
    """The rows of now that readings know more of; rows that a reading did not know are told by their conflict."""
    held: dict[tuple[int, int], facts.Provenance] = {}
    for table, reading, _ in told:
        known = [one.version for one in reading.learned if one.version in reading.recalled]
        for start in range(0, len(known), _BATCH):
            rows = table.provenance.filter(version__in=known[start : start + _BATCH])
            held |= {(table.pk, row.version): provenance_of_row(row) for row in rows}
    return held


def _row(table: DeltaTable, one: facts.Provenance) -> ProvenanceRow:
    values: dict[str, object] = {name: getattr(one, name) for name in _ALL}
    values |= {name: values[name] or "" for name in _TEXTS}
    values |= {name: [_stored(listed) for listed in getattr(one, name)] or None for name in _LISTS}
    row = ProvenanceRow(table=table, **values)
    make_storable(row)
    return row


def provenance_of_row(row: ProvenanceRow) -> facts.Provenance:
    """What a row says."""
    values: dict[str, Any] = {name: getattr(row, name) for name in _ALL}
    values |= {name: values[name] or None for name in _TEXTS}
    values |= {name: tuple(_read(listed) for listed in values[name] or ()) for name in _LISTS}
    return facts.Provenance(**values)


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
