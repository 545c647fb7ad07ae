"""The two witnesses of a table's newest commits: the commit stores in DynamoDB and the log on S3."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from coordinator.observation.newest import read_newest
from coordinator.observation.surveys import (
    WRONG_KEYS,
    CoordinatorSurvey,
    LogStoreSurvey,
    Partition,
    Survey,
    read_partition,
    speaks_of,
)
from coordinator.observation.targets import KnownTable, TableTarget
from dashboard.storable import REPLACEMENT
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.s3 import ObjectSummary
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import (
    AskedStores,
    HeldElsewhere,
    LockDomain,
    LogStoreEntry,
    Mechanism,
    Provenance,
    ReadingProblem,
    Registration,
)
from lake.delta.names import commit_name
from lake.delta.uri import table_uri

TAIL = 10
"""Published versions below the newest one that each look lists again."""


RegistrationKey = tuple[str, str]
"""The DynamoDB table of a registration and its `tableId`."""


@dataclass(frozen=True, slots=True)
class DomainEntries:
    """Entries of one lock domain from `from_version` on; 0 where all of them were read."""

    entries: tuple[LogStoreEntry, ...]
    from_version: int = 0


@dataclass(frozen=True, slots=True)
class StoreWitness:
    """What the commit stores say of one table: entries by lock domain, and registrations of its path.

    `problems` names stores that refused and are not known to be this table's; `unread` those of them that can hold
    items of it. `singly` are the registrations that were asked for by their keys, there or not; `not_read` says of
    registrations that an earlier look has found why this one did not ask.
    """

    domains: Mapping[LockDomain, DomainEntries]
    registrations: tuple[Registration, ...] = ()
    problems: tuple[ReadingProblem, ...] = ()
    unread: tuple[ReadingProblem, ...] = ()
    singly: frozenset[RegistrationKey] = frozenset()
    not_read: Mapping[RegistrationKey, ReadingProblem] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not self.registrations and not any(domain.entries for domain in self.domains.values())


def tail_start(newest_version: int) -> int:
    """Return the version from which a look at a table known up to `newest_version` lists."""
    return max(0, newest_version - TAIL)


def list_tail(lake: Lake, target: TableTarget, from_version: int) -> tuple[ObjectSummary, ...]:
    """List the log from `from_version` on, one request while fewer than 1,000 objects follow. Raises AwsError."""
    log_key = target.uri.log_key
    pages = lake.s3.list(target.uri.bucket, log_key, start_after=f"{log_key}{from_version:020d}", delimiter="/")
    return tuple(found for page in pages for found in page.objects)


def list_whole_log(lake: Lake, target: TableTarget) -> tuple[ObjectSummary, ...]:
    """List everything under `_delta_log/`, its folders included. Raises AwsError."""
    pages = lake.s3.list(target.uri.bucket, target.uri.log_key)
    return tuple(found for page in pages for found in page.objects)


def newest_of_stores(lake: Lake, survey: Survey, target: TableTarget, known: KnownTable) -> StoreWitness:
    """Read the newest entry of each lock domain or the registration the table names: one request for each store.

    What the pass scanned is taken from the scan. Raises AwsError.
    """
    domains: dict[LockDomain, DomainEntries] = {}
    asked = asked_domains(known.mechanism, known.lock_domains)
    for store in survey.log_stores:
        if store.error is not None:
            _raise_if_its_own(store.error, store.name, known)
            continue
        paths = [domain.path for domain in asked if domain.store == store.name]
        if store_is_unknown(known):
            paths = list(target.uri.table_paths())
        if store.held is not None:
            domains.update(_scanned(store, target))
        elif paths:
            found = read_newest(lake.dynamodb, store.name, paths, known.newest_version)
            for path, entries in found.items():
                own = tuple(entry for entry in entries if speaks_of(entry, target.place))
                domains[LockDomain(store.name, path)] = DomainEntries(own)
    return read_singly(
        lake, _with_known_registration(lake, StoreWitness(domains), survey, target, known), survey, target
    )


def store_is_unknown(known: KnownTable) -> bool:
    """Whether the table's log store is known by its temp files alone: any store may take its next entry."""
    return known.mechanism is Mechanism.LOG_STORE and not known.lock_domains


def asked_domains(mechanism: Mechanism, known: tuple[LockDomain, ...]) -> tuple[LockDomain, ...]:
    """The lock domains whose newest entries each look reads where their store is not scanned."""
    return known if mechanism is Mechanism.LOG_STORE else ()


def _raise_if_its_own(error: AwsError, store: str, known: KnownTable | None) -> None:
    """Raise a store's error where the table commits through it, or is known to have entries in it.

    A store that does not exist holds none, so it matters only to a table that commits through it.
    """
    if known is None:
        return
    if known.store_name == store or (known.paths_in(store) and may_hold_items(error)):
        raise error


def all_of_stores(
    lake: Lake, survey: Survey, target: TableTarget, from_version: int, published: int | None
) -> StoreWitness:
    """Read entries from `from_version` on in every log store. Raises AwsError where one of the table's own refuses.

    The log was listed up to `published` before this: what the pass scanned earlier than that is read on.
    """
    domains: dict[LockDomain, DomainEntries] = {}
    refused: list[tuple[str, AwsError]] = []
    for store in survey.log_stores:
        try:
            if store.error is not None:
                raise store.error
            found = _entries_of(lake, store, target, from_version, published)
        except AwsError as error:
            _raise_if_its_own(error, store.name, target.known)
            refused.append((store.name, error))
            continue
        domains.update(found)
    problems = tuple(_refusal(name, error) for name, error in refused if may_hold_items(error))
    refused += [(store.name, store.error) for store in survey.coordinators if store.error]
    unread = tuple(_refusal(name, error) for name, error in refused if may_hold_items(error))
    return StoreWitness(domains, _scanned_registrations(survey, target), problems, unread)


def may_hold_items(error: AwsError) -> bool:
    """Whether a store that refused may hold items: not where it does not exist, or has other keys than such a store."""
    return not (error.is_missing or error.code == WRONG_KEYS)


def _refusal(store: str, error: AwsError) -> ReadingProblem:
    return ReadingProblem(f"DynamoDB table {store}", str(error))


def read_named_registration(
    lake: Lake, witness: StoreWitness, survey: Survey, store: str, table_id: str
) -> StoreWitness:
    """Read afresh the registration that the table's own properties name. Raises AwsError.

    The scan may be older than the listing that led here, and a registration made or moved on since would look lost.
    """
    others = tuple(one for one in witness.registrations if (one.store, one.table_id) != (store, table_id))
    coordinator = survey.coordinator(store)
    if coordinator is None:
        place = "registrations"
        reason = f"The table names the DynamoDB table {store or 'of no name'} as its coordinator's: declare it."
        return replace(witness, problems=(*witness.problems, ReadingProblem(place, reason)))
    named = read_registration_of(lake, store, table_id)
    registrations = (*others, *([named] if named else []))
    return replace(witness, registrations=registrations, singly=witness.singly | {(store, table_id)})


def read_singly(
    lake: Lake,
    witness: StoreWitness,
    survey: Survey,
    target: TableTarget,
    recalled: Mapping[int, Provenance] = MappingProxyType({}),
    published: int | None = None,
) -> StoreWitness:
    """Read by their keys, in coordinators that this pass did not scan, the registrations that earlier looks have found.

    A large coordinator is scanned now and then, and in between nothing else shows the registrations that the table does
    not name. Those that accepted a `recalled` version above the newest `published` one are asked for as well, though
    they may have been gone at the last look. What cannot be asked is told, and is not an error: the table may not
    commit through it.
    """
    known = target.known.registrations if target.known else ()
    for key in dict.fromkeys((*known, *_accepting(recalled, published, lake.dynamodb.region))):
        if key not in witness.singly and not _is_scanned(survey, key[0]):
            witness = _with_one(lake, witness, survey, target, key)
    return replace(witness, not_read={key: why for key, why in witness.not_read.items() if key in known})


def _accepting(recalled: Mapping[int, Provenance], published: int | None, region: str) -> Iterator[RegistrationKey]:
    above = (one for version, one in recalled.items() if published is None or version > published)
    for accepted in (each for one in above for each in one.acceptances):
        if not accepted.is_of_log_store and accepted.region in ("", region):
            yield accepted.store, accepted.lock_domain


def _is_scanned(survey: Survey, store: str) -> bool:
    coordinator = survey.coordinator(store)
    return coordinator is not None and coordinator.held is not None


def _with_one(
    lake: Lake, witness: StoreWitness, survey: Survey, target: TableTarget, key: RegistrationKey
) -> StoreWitness:
    coordinator = survey.coordinator(key[0])
    if coordinator is None:
        reason = "It held a registration of this table and is not declared as a coordinator's: declare it."
        return _without(witness, key, ReadingProblem(f"DynamoDB table {key[0]}", reason))
    if REPLACEMENT in key[1]:
        reason = "It held a registration of this table whose tableId no database keeps: only a scan finds it."
        return _without(witness, key, ReadingProblem(f"DynamoDB table {key[0]}", reason))
    try:
        if coordinator.error is not None:
            raise coordinator.error
        found = read_registration_of(lake, *key)
    except AwsError as error:
        if not error.is_missing:
            return _without(witness, key, _refusal(key[0], error))
        found = None
    here = [found] if found is not None and _is_of(found, target) else []
    return replace(witness, registrations=(*witness.registrations, *here), singly=witness.singly | {key})


def _without(witness: StoreWitness, key: RegistrationKey, why: ReadingProblem) -> StoreWitness:
    return replace(witness, not_read={**witness.not_read, key: why})


def _is_of(registration: Registration, target: TableTarget) -> bool:
    uri = table_uri(registration.path)
    return uri is not None and (uri.bucket, uri.key) == target.place


def what_was_asked(survey: Survey, witness: StoreWitness) -> AskedStores:
    """Each store by its kind: what was declared as another kind than it is was not read."""
    scanned = (store.name for store in survey.coordinators if store.held is not None or _is_missing(store))
    asked = (store.name for store in survey.log_stores if store.error is None or _is_missing(store))
    return AskedStores(frozenset(asked), frozenset(scanned), witness.singly)


def _is_missing(store: LogStoreSurvey | CoordinatorSurvey) -> bool:
    return store.error is not None and store.error.is_missing


def fingerprint(
    witness: StoreWitness,
    newest: int,
    asked: Iterable[LockDomain],
    survey: Survey,
    tail: Iterable[ObjectSummary],
    elsewhere: Iterable[HeldElsewhere],
) -> str:
    """Return a short hash that changes whenever lock domains, newest entries, registrations or the log's tail change.

    It covers what the next look will see: entries from the `newest` accepted version on, of stores that are scanned
    and of the domains that are `asked` at each look; of those `elsewhere` that they are there.
    """
    digest = hashlib.sha256()
    scanned = {store.name for store in survey.log_stores if store.held is not None}
    for domain in sorted({*asked, *(one for one in witness.domains if one.store in scanned)}):
        digest.update(f"{domain!r}\n".encode(errors="replace"))
        held = witness.domains.get(domain)
        for entry in held.entries if held else ():
            if entry.version in (newest, newest + 1):
                digest.update(f"{entry!r}\n".encode(errors="replace"))
    for there in elsewhere:
        digest.update(f"{there.connection}\0{there.region}\0{there.domain!r}\n".encode(errors="replace"))
    for registration in sorted(witness.registrations, key=lambda one: (one.store, one.table_id)):
        digest.update(f"{registration!r}\n".encode(errors="replace"))
    for found in tail:
        digest.update(f"{found.key}\0{found.etag}\0{found.size}\n".encode(errors="replace"))
    return digest.hexdigest()[:32]


def in_tail(found: ObjectSummary, log_key: str, from_version: int) -> bool:
    """Whether `list_tail` from that version would list the object."""
    name = found.key.removeprefix(log_key)
    return "/" not in name and name > f"{from_version:020d}"


def _entries_of(
    lake: Lake, store: LogStoreSurvey, target: TableTarget, from_version: int, published: int | None
) -> dict[LockDomain, DomainEntries]:
    if store.held is not None:
        return _scanned(store, target, lambda path, partition: _read_on(lake, store.name, path, partition, published))
    found: dict[LockDomain, DomainEntries] = {}
    for path in _paths_to_ask(store, target, whole=from_version == 0):
        at_least = commit_name(from_version) if from_version else ""
        asked = read_partition(lake.dynamodb, store.name, path, at_least=at_least)
        partition = asked.only(partial(speaks_of, place=target.place))
        if partition.entries:
            found[LockDomain(store.name, path)] = _domain(partition, partition.entries, from_version)
    return found


def _paths_to_ask(store: LogStoreSurvey, target: TableTarget, *, whole: bool) -> list[str]:
    """The paths that are known, and with the whole log every other one under which the table may be held."""
    paths = target.known.paths_in(store.name) if target.known else []
    return [*paths, *(path for path in target.uri.table_paths() if whole and path not in paths)]


ReadOn = Callable[[str, Partition], tuple[LogStoreEntry, ...]]


def _scanned(
    store: LogStoreSurvey, target: TableTarget, read_on: ReadOn | None = None
) -> dict[LockDomain, DomainEntries]:
    found: dict[LockDomain, DomainEntries] = {}
    for path, partition in (store.held or {}).get(target.place, {}).items():
        entries = read_on(path, partition) if read_on else partition.entries
        own = tuple(entry for entry in entries if speaks_of(entry, target.place))
        found[LockDomain(store.name, path)] = _domain(partition, own, 0)
    return found


def _read_on(
    lake: Lake, store: str, path: str, partition: Partition, published: int | None
) -> tuple[LogStoreEntry, ...]:
    """The scanned entries, read again from where they can have moved: the log was listed after them."""
    versions = [entry.version for entry in partition.newest if entry.version is not None]
    incomplete = [entry.version for entry in partition.newest if not entry.complete and entry.version is not None]
    newest = max(versions, default=-1)
    if not incomplete and (published is None or published <= newest):
        return partition.entries
    start = min([*incomplete, max(newest, 0)])
    fresh = read_partition(lake.dynamodb, store, path, at_least=commit_name(start))
    kept = (entry for entry in partition.entries if entry.file_name < commit_name(start))
    return (*kept, *fresh.entries)


def _domain(partition: Partition, entries: tuple[LogStoreEntry, ...], from_version: int) -> DomainEntries:
    versions = [entry.version for entry in partition.newest if entry.version is not None]
    first = min(versions, default=0) if partition.truncated else from_version
    return DomainEntries(entries, first)


def _scanned_registrations(survey: Survey, target: TableTarget) -> tuple[Registration, ...]:
    return tuple(
        registration
        for store in survey.coordinators
        if store.held is not None
        for registration in store.held.get(target.place, ())
    )


def _with_known_registration(
    lake: Lake, witness: StoreWitness, survey: Survey, target: TableTarget, known: KnownTable
) -> StoreWitness:
    witness = replace(witness, registrations=_scanned_registrations(survey, target))
    store = survey.coordinator(known.store_name)
    if known.mechanism is not Mechanism.COORDINATED_COMMITS or store is None or store.held is not None:
        return witness
    if store.error is not None:
        raise store.error
    if not known.coordinator_table_id:
        return witness
    return read_named_registration(lake, witness, survey, store.name, known.coordinator_table_id)


def read_registration_of(lake: Lake, store: str, table_id: str) -> Registration | None:
    """GetItem of one registration, consistently. Raises AwsError."""
    item = lake.dynamodb.get_item(store, {"tableId": {"S": table_id}})
    return read_registration(item, store) if item else None
