"""What one reading adds to what is known of a table's versions, and whether it is still the same table.

What was seen first stays: a fact that is known is never replaced, so that what differs later can be told.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import TypeVar

from coordinator.protocols.log_store_entries import own_domains
from coordinator.protocols.log_view import LogView
from coordinator.protocols.mechanism import coordinator_store, registration_id
from coordinator.protocols.names import is_temp_of, is_version, same_place
from coordinator.protocols.published_log import is_no_commit
from coordinator.protocols.registrations import is_before_the_table, seen_commits
from lake.delta.facts import (
    Acceptance,
    LockDomain,
    LogObject,
    LogStoreEntry,
    Provenance,
    ReadingProblem,
    Registration,
    TableFacts,
    TableProtocol,
)

_OF_THE_FILE = ("digest", "in_commit_timestamp", "commit_timestamp")
_SHOWN = ("copy_etag", "differs_etag")
_OF_A_RIVAL = tuple(one.name for one in fields(Acceptance))
Known = TypeVar("Known", Provenance, Acceptance)
_BEGINNING = datetime.min.replace(tzinfo=UTC)
FOR_EVER = datetime.max.replace(tzinfo=UTC)
"""When an acceptance is given up that never was of this table."""
MOST_RIVALS = 5
"""Acceptances of one version that are kept besides the first."""
_OF_ITS_ACCEPTANCE = ("file_name", "accepted_size", "accepted_etag", "accepted_timestamp", "expire_time")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What facts do not hold of a reading: `region` is that of the connection's DynamoDB.

    `newest_before` is the newest version that the reading before this one found published, and `before` when that one
    began; both are None where there was none of this table.
    """

    region: str
    newest_before: int | None = None
    before: datetime | None = None


def provenance_of(view: LogView, around: Surroundings) -> dict[int, Provenance]:
    """What is known of each version after this reading: what was known before it, and what it adds."""
    known = dict(view.facts.provenance)
    for seen in (*_published(view, around, known), *acceptances(view, around)):
        known[seen.version] = remember(known.get(seen.version), seen)
    return known


def remember(known: Provenance | None, seen: Provenance) -> Provenance:
    """Add what is not known yet. Of a file or an item that is another than the known one, nothing is added.

    What was shown of the published file is of the one that is there now, so that a later proof takes its place.
    """
    if known is None:
        return seen
    if any(_is_given_up(one, gone) for one in seen.acceptances[:1] for gone in known.abandoned):
        return known
    both = _with_rivals(_with_acceptance(_with_file(known, seen), seen), seen)
    both = _filled(both, seen, _SHOWN, newest=_SHOWN)
    return replace(both, disputed=True) if seen.disputed and not both.disputed else both


def abandoned(known: Provenance, files: Collection[str], at: datetime) -> Provenance:
    """What is left of a version once what these files were accepted as is given up; "" stands for an unknown name.

    What was published as it is forgotten. A look that began later and finds an item of theirs lets it count again.
    """
    gone = [replace(one, abandoned_at=at) for one in known.acceptances if (one.file_name or "") in files]
    left = [one for one in known.acceptances if (one.file_name or "") not in files]
    bare = Provenance(known.version, abandoned=(*known.abandoned, *gone)[-MOST_RIVALS:])
    return _accepted_as(bare, left)


def of_an_earlier_table(known: Mapping[int, Provenance], entries: Iterable[LogStoreEntry]) -> dict[int, Provenance]:
    """What the table that was made in its place takes over: entries that are left speak of no commit of it."""
    left = {entry.version for entry in entries}
    named = (one for version, one in known.items() if version in left and one.is_accepted)
    return {one.version: abandoned(one, [of.file_name or "" for of in one.acceptances], FOR_EVER) for one in named}


def given_up_as(known: Provenance, name: str) -> Provenance:
    """The version as it was known when this file was given up; as it is known where it was not."""
    gone = next((one for one in reversed(known.abandoned) if one.names(name)), None)
    return known if gone is None or known.is_accepted else _accepted_as(known, [gone])


def _accepted_as(bare: Provenance, acceptances: Sequence[Acceptance]) -> Provenance:
    if not acceptances:
        return bare
    first, *rivals = acceptances
    return replace(led_by(bare, first), rivals=tuple(rivals), disputed=bool(rivals))


def led_by(known: Provenance, first: Acceptance) -> Provenance:
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
        expire_time=first.expire_time,
        accepted_at=first.accepted_at,
        differs_etag=first.differs_etag,
    )


def _is_given_up(one: Acceptance, gone: Acceptance) -> bool:
    """Whether it is the same item's word of the same commit, read by a look that began before that was given up."""
    if one.identity != gone.identity or one.file_name != gone.file_name:
        return False
    if one.file_name is None and one.timestamp != gone.timestamp:
        return False
    at, until = one.accepted_at, gone.abandoned_at
    return at is not None and until is not None and at <= until


def is_same_file(known: Provenance, size: int | None, etag: str | None) -> bool:
    """Whether a published file is the one that was seen first, or a later copy of it that was proven equal."""
    return known.size == size and etag is not None and etag in (known.etag, known.copy_etag)


def is_another_table(
    known: Mapping[int, Provenance], published: Mapping[int, LogObject], old_id: str, new: TableProtocol | None
) -> bool | None:
    """Whether the log at this place is that of another table than the known versions: dropped and made again.

    Another `metaData.id` and not one known file left says so; an id may also be changed by a commit of the same log.
    Where the old one was never read, a table that was made after one of the known versions was seen is another one.
    None where an id is not known and no file of the log is a known one.
    """
    seen = {version: one for version, one in known.items() if one.seen_at}
    in_place = [version for version in seen if version in published]
    if not known or any(is_same_file(seen[v], published[v].size, published[v].etag) for v in in_place):
        return False
    if old_id and new is not None and new.table_id:
        return old_id != new.table_id
    made_at = new.created_at if new is not None else None
    if made_at is not None and any(one.seen_at and one.seen_at < made_at for one in seen.values()):
        return True
    return None if in_place else False


def acceptances(view: LogView, around: Surroundings) -> Iterator[Provenance]:
    """Every version that an item of a commit store accepts, with the file it names.

    The domain that has come furthest is the first: of an item and its copy that are seen in one look, it is the one in
    use that is remembered.
    """
    accepted_at = view.facts.observed_at
    for domain, entries in sorted(own_domains(view).items(), key=_furthest_first):
        for entry in entries:
            if entry.version is None or not is_version(entry.version):
                continue
            name = entry.temp_path if entry.temp_path and is_temp_of(entry.temp_path, entry.version) else None
            found = view.temp(name).object if name else None
            yield Provenance(
                entry.version,
                store=domain.store,
                region=around.region,
                lock_domain=domain.path,
                file_name=name,
                accepted_size=found.size if found else None,
                accepted_etag=found.etag if found else None,
                expire_time=entry.expire_time if entry.complete else None,
                accepted_at=accepted_at,
            )
    for registration in _registrations(view):
        yield from _registered(view, around, registration)


def _furthest_first(held: tuple[LockDomain, Sequence[LogStoreEntry]]) -> tuple[int, LockDomain]:
    domain, entries = held
    return -max((one.version for one in entries if one.version is not None), default=-1), domain


def _registrations(view: LogView) -> list[Registration]:
    """Every registration that has accepted commits of this place, first the one that the newest metadata names.

    Another one may have accepted the same versions as other commits (docs/decisions/008), and is removed by somebody
    before long. One that no metadata names any more has accepted at least the commit that says so.
    """
    table_id = registration_id(view.facts.protocol)
    here = [one for one in view.facts.registrations if one.has_accepted_commits is True]
    here = [one for one in here if same_place(one.path, view.facts.uri)]
    return sorted(here, key=lambda one: (one.table_id != table_id, one.store, one.table_id))


def _registered(view: LogView, around: Surroundings, registration: Registration) -> Iterator[Provenance]:
    store = registration.store or coordinator_store(view.facts.protocol)
    if store is None:
        return
    at = view.facts.observed_at
    bare = Provenance(0, store=store, region=around.region, lock_domain=registration.table_id, accepted_at=at)
    for seen in seen_commits(view, registration):
        if is_before_the_table(view, registration, seen.commit.in_commit_timestamp):
            continue
        staged = seen.staged.object if seen.staged and not seen.size_differs else None
        yield replace(
            bare,
            version=seen.version,
            file_name=seen.commit.file_name if seen.staged else None,
            accepted_size=None if seen.size_differs else seen.commit.size,
            accepted_etag=staged.etag if staged else None,
            accepted_timestamp=seen.commit.in_commit_timestamp,
        )
    version = registration.table_version
    before = is_before_the_table(view, registration, registration.table_timestamp)
    if version is not None and is_version(version) and not before:
        yield replace(bare, version=version, accepted_timestamp=registration.table_timestamp)


def _published(view: LogView, around: Surroundings, known: Mapping[int, Provenance]) -> Iterator[Provenance]:
    """The published files that are not known, or of which this reading read more.

    A file that is no commit is not what was committed: the one that takes its place is seen for the first time.
    """
    for version, found in view.published.items():
        held, info = known.get(version), view.info(version)
        if (held is not None and held.seen_at is not None and info is None) or is_no_commit(view, version):
            continue
        appeared = around.newest_before is not None and version > around.newest_before
        yield Provenance(
            version,
            size=found.size,
            etag=found.etag,
            digest=info.digest if info else None,
            in_commit_timestamp=info.in_commit_timestamp if info else None,
            commit_timestamp=info.timestamp if info else None,
            seen_at=view.facts.observed_at,
            absent_at=around.before if appeared else None,
        )


def _with_file(known: Provenance, seen: Provenance) -> Provenance:
    if seen.seen_at is None:
        return known
    if known.seen_at is None:
        names = ("size", "etag", *_OF_THE_FILE, "seen_at", "absent_at")
        return replace(known, **{name: getattr(seen, name) for name in names})
    return _filled(known, seen, _OF_THE_FILE) if is_same_file(known, seen.size, seen.etag) else known


def _with_acceptance(known: Provenance, seen: Provenance) -> Provenance:
    if seen.store is None:
        return known
    if known.store is None:
        return led_by(known, replace(seen.acceptances[0], differs_etag=known.differs_etag))
    if _is_another_commit(known.acceptances[0], seen.acceptances[0]):
        return replace(known, disputed=True)
    same = (known.store, known.region, known.lock_domain) == (seen.store, seen.region, seen.lock_domain)
    return _filled(known, seen, _OF_ITS_ACCEPTANCE) if same else known


def _with_rivals(known: Provenance, seen: Provenance) -> Provenance:
    """Keep each acceptance of another commit than the first one; of one that is known, add what was not."""
    rivals = list(known.rivals)
    disputed = known.disputed
    for other in seen.acceptances:
        if known.store is None:
            continue
        is_another = _is_another_commit(known.acceptances[0], other)
        if _is_one_commit(known.acceptances[0], other):
            continue
        disputed = disputed or is_another
        at = next((i for i, one in enumerate(rivals) if _is_one_commit(one, other)), None)
        if at is not None:
            rivals[at] = _filled(rivals[at], other, _OF_A_RIVAL, newest=("differs_etag",))
        elif len(rivals) < MOST_RIVALS:
            rivals.append(other)
    return known if tuple(rivals) == known.rivals else replace(known, rivals=tuple(rivals), disputed=disputed)


def _is_another_commit(one: Acceptance, other: Acceptance) -> bool:
    """Whether two items accepted different commits: by the files they name, else by the times that coordinators hold.

    Each try of a writer has a file of its own name. An item that is put back or raised may hold another time.
    """
    if one.file_name is not None and other.file_name is not None:
        return one.file_name != other.file_name
    times = (one.timestamp, other.timestamp)
    return one.identity != other.identity and None not in times and times[0] != times[1]


def _has_another_time(one: Acceptance, other: Acceptance) -> bool:
    """Whether one item says another time of a version than before, and no file tells whether it is another commit."""
    unnamed = one.file_name is None or other.file_name is None
    times = (one.timestamp, other.timestamp)
    return one.identity == other.identity and unnamed and None not in times and times[0] != times[1]


def _is_one_commit(one: Acceptance, other: Acceptance) -> bool:
    return not _is_another_commit(one, other) and not _has_another_time(one, other)


def _filled(known: Known, seen: Known, names: Iterable[str], newest: Collection[str] = ()) -> Known:
    """What was not known is added; of a proof the newest counts, while first times and places stay."""
    wanted = {name: getattr(seen, name) for name in names if name in newest or getattr(known, name) is None}
    new = {name: value for name, value in wanted.items() if value not in (None, getattr(known, name))}
    return replace(known, **new) if new else known


# What other connections know, counted like rivals of what this one does


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
        both = _with_one(both, one)
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


def _with_one(known: Provenance, one: Acceptance) -> Provenance:
    """What is known with one more acceptance, however many there are: a file that is not kept may be deleted."""
    both = remember(known, led_by(Provenance(known.version), one))
    if one.file_name is None or both.accepted(one.file_name):
        return both
    return replace(both, rivals=(*both.rivals, one), disputed=True)
