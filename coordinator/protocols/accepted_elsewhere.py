"""What the rows of other connections know to be accepted of this table, counted like rivals of what this one knows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from coordinator.protocols.provenance import is_another_table, remember
from lake.delta.facts import Acceptance, LockDomain, LogObject, Provenance, ReadingProblem, TableProtocol

_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KnownElsewhere:
    """What another connection knows of this place: `table_id` is the `metaData.id` that it read, "" for none."""

    connection: str
    table_id: str = ""
    provenance: Mapping[int, Provenance] = field(default_factory=dict)
    locks: tuple[LockDomain, ...] = ()


def with_acceptances_of(known: Provenance, others: Iterable[Provenance]) -> Provenance:
    """What is known of one version with what other rows know of it: another commit of theirs is a rival.

    What was given up here counts no more, whoever saw it besides. Nothing of it is to be stored.
    """
    rows = tuple(others)
    abandoned = (*known.abandoned, *(one for row in rows for one in row.abandoned))
    both = known
    for one in (one for row in rows for one in row.acceptances):
        both = _with(both, one)
    if not known.is_accepted:
        return replace(known, rivals=both.acceptances, disputed=len(both.acceptances) > 1, abandoned=abandoned)
    first, *rivals = sorted(both.acceptances, key=lambda one: one.accepted_at or _BEGINNING)
    return replace(_led_by(both, first), rivals=tuple(rivals), abandoned=abandoned)


def with_elsewhere(
    known: Mapping[int, Provenance],
    others: Iterable[KnownElsewhere],
    published: Mapping[int, LogObject],
    protocol: TableProtocol | None,
) -> tuple[Mapping[int, Provenance], tuple[ReadingProblem, ...]]:
    """All that is known of a table's versions, and what stays open: a row may be of a table that was here before."""
    both, problems = dict(known), list[ReadingProblem]()
    for other in others:
        another = is_another_table(other.provenance, published, other.table_id, protocol)
        if another:
            continue
        adding = {version: one for version, one in other.provenance.items() if one.acceptances}
        merged = {v: with_acceptances_of(both.get(v, Provenance(v)), [one]) for v, one in adding.items()}
        changed = {version: one for version, one in merged.items() if one != both.get(version)}
        if another is None and any(one.disputed for one in changed.values()):
            why = f"Without it this table is not told from the one that connection {other.connection} read here."
            problems.append(ReadingProblem("metaData.id", why))
        elif another is False:
            both |= changed
    return both, tuple(problems)


def _with(known: Provenance, one: Acceptance) -> Provenance:
    """What is known with one more acceptance, however many there are: a file that is not kept may be deleted."""
    both = remember(known, _led_by(Provenance(known.version), one))
    if one.file_name is None or both.accepted(one.file_name):
        return both
    return replace(both, rivals=(*both.rivals, one), disputed=True)


def _led_by(known: Provenance, first: Acceptance) -> Provenance:
    """The same with this acceptance as its first: of one lock, the order tells which came last."""
    return replace(
        known,
        store=first.store,
        region=first.region,
        lock_domain=first.lock_domain,
        file_name=first.file_name,
        accepted_size=first.size,
        accepted_etag=first.etag,
        accepted_timestamp=first.timestamp,
        accepted_at=first.accepted_at,
        differs_etag=first.differs_etag,
        expire_time=first.expire_time,
    )
