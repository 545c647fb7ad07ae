"""What the rows of other connections know to be accepted of this table, counted like rivals of what this one knows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from coordinator.protocols.provenance import is_another_table, led_by, remember
from lake.delta.facts import Acceptance, LockDomain, Provenance, ReadingProblem, TableFacts

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
    return replace(led_by(both, first), rivals=tuple(rivals), abandoned=abandoned)


def with_elsewhere(facts: TableFacts, others: Iterable[KnownElsewhere]) -> TableFacts:
    """The facts with all that is known of the versions anywhere, and with what stays open.

    A row may be of a table that stood here before: then it says nothing of this one.
    """
    known, problems = dict(facts.provenance), list(facts.problems)
    locks: set[LockDomain] = set()
    for other in others:
        another = is_another_table(other.provenance, facts.listing.commits, other.table_id, facts.protocol)
        if another:
            continue
        locks |= set(other.locks)
        adding = _added(known, other.provenance)
        if another is False:
            known |= adding
            continue
        known |= {version: _kept_alone(version, known.get(version), one) for version, one in adding.items()}
        if any(one.disputed for one in adding.values()):
            why = f"Without it this table is not told from the one that connection {other.connection} read here."
            problems.append(ReadingProblem("metaData.id", why))
    return replace(
        facts, provenance=known, problems=tuple(dict.fromkeys(problems)), locks_elsewhere=tuple(sorted(locks))
    )


def _added(known: Mapping[int, Provenance], other: Mapping[int, Provenance]) -> dict[int, Provenance]:
    """What another row adds, version by version."""
    accepted = {version: one for version, one in other.items() if one.acceptances}
    merged = {v: with_acceptances_of(known.get(v, Provenance(v)), [one]) for v, one in accepted.items()}
    return {v: _disputed_among_its_kind(one, known.get(v)) for v, one in merged.items() if one != known.get(v)}


def _kept_alone(version: int, known: Provenance | None, merged: Provenance) -> Provenance:
    """What is known here, and of what may be another table's nothing but that its files were accepted."""
    here = known or Provenance(version)
    return replace(here, abandoned=(*merged.abandoned, *merged.acceptances))


def _disputed_among_its_kind(merged: Provenance, known: Provenance | None) -> Provenance:
    """Entries beside a coordinator's list may be of one commit, and dispute nothing by themselves."""
    kinds = [one.is_of_log_store for one in merged.acceptances]
    was = known is not None and known.disputed
    return replace(merged, disputed=was or len(kinds) > len(set(kinds)))


def _with(known: Provenance, one: Acceptance) -> Provenance:
    """What is known with one more acceptance, however many there are: a file that is not kept may be deleted."""
    both = remember(known, led_by(Provenance(known.version), one))
    if one.file_name is None or both.accepted(one.file_name):
        return both
    return replace(both, rivals=(*both.rivals, one), disputed=True)
