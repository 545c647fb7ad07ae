"""What one reading adds to what is known of a table's versions, and whether it is still the same table.

What was seen first stays: a fact that is known is never replaced, so that what differs later can be told.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from coordinator.protocols.log_store_entries import own_domains
from coordinator.protocols.log_view import LogView
from coordinator.protocols.mechanism import coordinator_store, registration_id
from coordinator.protocols.names import is_temp_of, is_version, same_place
from coordinator.protocols.registrations import seen_commits
from lake.delta.facts import LockDomain, LogObject, LogStoreEntry, Provenance, Registration

_OF_THE_FILE = ("digest", "in_commit_timestamp", "commit_timestamp")
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
    """Add what is not known yet. Of a file or an item that is another than the known one, nothing is added."""
    if known is None:
        return seen
    both = _with_acceptance(_with_file(known, seen), seen)
    if both.disputed >= seen.disputed and seen.copy_etag in (None, both.copy_etag):
        return both
    return replace(both, disputed=both.disputed or seen.disputed, copy_etag=seen.copy_etag or both.copy_etag)


def is_same_file(known: Provenance, size: int | None, etag: str | None) -> bool:
    """Whether a published file is the one that was seen first, or a later copy of it that was proven equal."""
    return known.size == size and etag is not None and etag in (known.etag, known.copy_etag)


def is_another_table(
    known: Mapping[int, Provenance], published: Mapping[int, LogObject], old_id: str, new_id: str
) -> bool | None:
    """Whether the log at this place is that of another table than the known versions: dropped and made again.

    Another `metaData.id` and not one known file left says so; an id may also be changed by a commit of the same log.
    None where an id is not known and no file of the log is a known one.
    """
    seen = {version: known[version] for version in published if version in known and known[version].seen_at}
    if not known or any(is_same_file(seen[v], published[v].size, published[v].etag) for v in seen):
        return False
    if old_id and new_id:
        return old_id != new_id
    return None if seen else False


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
    registration = _registration(view)
    if registration is not None:
        yield from _registered(view, around, registration)


def _furthest_first(held: tuple[LockDomain, Sequence[LogStoreEntry]]) -> tuple[int, LockDomain]:
    domain, entries = held
    return -max((one.version for one in entries if one.version is not None), default=-1), domain


def _registration(view: LogView) -> Registration | None:
    """The registration that the table's newest metadata names, if it has accepted commits of this place."""
    table_id = registration_id(view.facts.protocol)
    named = (one for one in view.facts.registrations if table_id is not None and one.table_id == table_id)
    found = next(named, None)
    if found is None or found.has_accepted_commits is not True or not same_place(found.path, view.facts.uri):
        return None
    return found


def _registered(view: LogView, around: Surroundings, registration: Registration) -> Iterator[Provenance]:
    store = coordinator_store(view.facts.protocol)
    bare = Provenance(
        0,
        store=store,
        region=around.region,
        lock_domain=registration.table_id,
        accepted_at=view.facts.observed_at,
    )
    if store is None:
        return
    for seen in seen_commits(view, registration):
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
    if version is not None and is_version(version):
        yield replace(bare, version=version, accepted_timestamp=registration.table_timestamp)


def _published(view: LogView, around: Surroundings, known: Mapping[int, Provenance]) -> Iterator[Provenance]:
    """The published files that are not known, or of which this reading read more."""
    for version, found in view.published.items():
        held, info = known.get(version), view.info(version)
        if held is not None and held.seen_at is not None and info is None:
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
        return replace(
            known,
            size=seen.size,
            etag=seen.etag,
            digest=seen.digest,
            in_commit_timestamp=seen.in_commit_timestamp,
            commit_timestamp=seen.commit_timestamp,
            seen_at=seen.seen_at,
            absent_at=seen.absent_at,
        )
    return _filled(known, seen, _OF_THE_FILE) if is_same_file(known, seen.size, seen.etag) else known


def _with_acceptance(known: Provenance, seen: Provenance) -> Provenance:
    if seen.store is None:
        return known
    if known.store is None:
        return replace(
            known,
            store=seen.store,
            region=seen.region,
            lock_domain=seen.lock_domain,
            file_name=seen.file_name,
            accepted_size=seen.accepted_size,
            accepted_etag=seen.accepted_etag,
            accepted_timestamp=seen.accepted_timestamp,
            expire_time=seen.expire_time,
            accepted_at=seen.accepted_at,
        )
    if None not in (known.file_name, seen.file_name) and known.file_name != seen.file_name:
        return replace(known, disputed=True)
    same = (known.store, known.region, known.lock_domain) == (seen.store, seen.region, seen.lock_domain)
    return _filled(known, seen, _OF_ITS_ACCEPTANCE) if same else known


def _filled(known: Provenance, seen: Provenance, names: Collection[str]) -> Provenance:
    new = {name: getattr(seen, name) for name in names if getattr(known, name) is None}
    new = {name: value for name, value in new.items() if value is not None}
    return replace(known, **new) if new else known
