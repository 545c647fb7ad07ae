"""The two witnesses of a table's newest commits: the commit stores in DynamoDB and the log on S3."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coordinator.observation.surveys import LogStoreSurvey, Partition, Survey, newest_item, read_partition
from coordinator.observation.targets import Target
from lake.aws.access import Lake
from lake.aws.dynamodb import Item
from lake.aws.s3 import ObjectSummary
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import LogStoreEntry, Mechanism, Registration
from lake.delta.log_store import read_entry
from lake.delta.names import commit_name

TAIL = 10
"""Published versions below the newest one that each look lists again."""


@dataclass(frozen=True, slots=True)
class DomainEntries:
    """Entries of one lock domain from `from_version` on; 0 where all of them were read."""

    store: str
    entries: tuple[LogStoreEntry, ...]
    from_version: int = 0


@dataclass(frozen=True, slots=True)
class StoreWitness:
    """What the commit stores say of one table: entries by lock domain, and registrations of its path."""

    domains: Mapping[str, DomainEntries]
    registrations: tuple[Registration, ...]

    def newest_entries(self) -> tuple[LogStoreEntry, ...]:
        return tuple(domain.entries[-1] for domain in self.domains.values() if domain.entries)


def tail_start(newest_version: int) -> int:
    """Return the version from which a look at a table known up to `newest_version` lists."""
    return max(0, newest_version - TAIL)


def list_tail(lake: Lake, target: Target, from_version: int) -> tuple[ObjectSummary, ...]:
    """List the log from `from_version` on, one request while fewer than 1,000 objects follow. Raises AwsError."""
    log_key = target.uri.log_key
    pages = lake.s3.list(target.uri.bucket, log_key, start_after=f"{log_key}{from_version:020d}", delimiter="/")
    return tuple(found for page in pages for found in page.objects)


def list_whole_log(lake: Lake, target: Target) -> tuple[ObjectSummary, ...]:
    """List everything under `_delta_log/`, its folders included. Raises AwsError."""
    pages = lake.s3.list(target.uri.bucket, target.uri.log_key)
    return tuple(found for page in pages for found in page.objects)


def newest_of_stores(lake: Lake, survey: Survey, target: Target) -> StoreWitness:
    """Read the newest entry of each lock domain and the registration the table names: at most one request each.

    What the pass scanned is taken from the scan. Raises AwsError.
    """
    domains: dict[str, DomainEntries] = {}
    for store in survey.log_stores:
        scanned = _scanned_domains(store, target)
        if scanned is not None:
            domains.update(scanned)
            continue
        for path in _expected_paths(store, target, only_known=True):
            if item := newest_item(lake.dynamodb, store.name, path):
                entry = read_entry(item)
                domains[path] = DomainEntries(store.name, (entry,), entry.version or 0)
    return StoreWitness(domains, _registrations(lake, survey, target))


def all_of_stores(lake: Lake, survey: Survey, target: Target, from_version: int) -> StoreWitness:
    """Read entries from `from_version` on in every log store and under every spelling of the path. Raises AwsError."""
    domains: dict[str, DomainEntries] = {}
    for store in survey.log_stores:
        scanned = _scanned_domains(store, target)
        if scanned is not None:
            domains.update(scanned)
            continue
        for path in _expected_paths(store, target, only_known=False):
            partition = read_partition(lake.dynamodb, store.name, path, at_least=commit_name(from_version))
            if not partition.entries and from_version:
                # The newest entry may be older than the window; the next look will ask for it and must find it known.
                _add_newest(partition, newest_item(lake.dynamodb, store.name, path))
            if partition.entries:
                domains[path] = _domain(store.name, partition, from_version)
    return StoreWitness(domains, _registrations(lake, survey, target))


def fingerprint(witness: StoreWitness, tail: Iterable[ObjectSummary]) -> str:
    """Return a short hash that changes whenever the newest entries, the registrations or the log's tail change."""
    digest = hashlib.sha256()
    for path in sorted(witness.domains):
        digest.update(repr(witness.domains[path].entries[-1:]).encode())
    for registration in sorted(witness.registrations, key=lambda r: r.table_id):
        digest.update(repr(registration).encode())
    for found in tail:
        digest.update(f"{found.key}\0{found.etag}\0{found.size}\n".encode())
    return digest.hexdigest()[:32]


def in_tail(found: ObjectSummary, log_key: str, from_version: int) -> bool:
    """Whether `list_tail` from that version would list the object."""
    name = found.key.removeprefix(log_key)
    return "/" not in name and name > f"{from_version:020d}"


def read_named_registration(lake: Lake, store: str, table_id: str) -> Registration | None:
    """GetItem of one registration, consistently. Raises AwsError."""
    item = lake.dynamodb.get_item(store, {"tableId": {"S": table_id}})
    return read_registration(item) if item else None


def _scanned_domains(store: LogStoreSurvey, target: Target) -> dict[str, DomainEntries] | None:
    if store.error is not None:
        if target.known is not None and target.known.store_name == store.name:
            raise store.error
        return {}
    if store.partitions is None:
        return None
    spellings = target.uri.spellings()
    found = {
        path: partition
        for path, partition in store.partitions.items()
        if path in spellings or path.rstrip("/") in spellings
    }
    return {path: _domain(store.name, partition, 0) for path, partition in found.items()}


def _domain(store: str, partition: Partition, from_version: int) -> DomainEntries:
    entries = partition.entries
    versions = [entry.version for entry in partition.newest if entry.version is not None]
    first = min(versions, default=0) if partition.truncated else from_version
    return DomainEntries(store, entries, first)


def _add_newest(partition: Partition, item: Item | None) -> None:
    if item is not None:
        partition.add(read_entry(item))


def _expected_paths(store: LogStoreSurvey, target: Target, *, only_known: bool) -> tuple[str, ...]:
    known = target.known
    if known is not None and known.store_name == store.name and known.lock_domains:
        return known.lock_domains
    return () if only_known else target.uri.spellings()


def _registrations(lake: Lake, survey: Survey, target: Target) -> tuple[Registration, ...]:
    known = target.known
    found: list[Registration] = []
    for store in survey.coordinators:
        if store.registrations is not None:
            spellings = target.uri.spellings()
            found += [r for r in store.registrations if r.path.rstrip("/") in spellings]
        elif known is not None and known.mechanism is Mechanism.COORDINATED_COMMITS and known.coordinator_table_id:
            if store.error is not None:
                raise store.error
            named = read_named_registration(lake, store.name, known.coordinator_table_id)
            found += [named] if named else []
    return tuple(found)
