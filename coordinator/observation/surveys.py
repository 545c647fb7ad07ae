"""The commit stores of a connection: which are read whole, and which Delta tables have items in them."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from threading import Event
from typing import Generic, TypeVar

from coordinator.models import CommitStore
from coordinator.observation.workers import Stopped, Workers
from coordinator.protocols.mechanism import coordinator_store
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.dynamodb import DynamoDB, Item
from lake.aws.errors import AwsError
from lake.delta import coordinator_items, log_store
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import LogStoreEntry, Registration, TableProtocol
from lake.delta.log_store import place_of, read_entry
from lake.delta.uri import TableUri, lookable, table_uri
from lake.delta.wire import shown

NEWEST_KEPT = 500
"""Entries kept of one partition, newest by name (eight hours of a commit a minute), beside older incomplete ones."""
NEWEST_KEPT_OF_MANY = 50
MANY_PARTITIONS = 400
"""Partitions after which fewer entries of each are kept: an entry takes some 430 bytes of memory."""
OLDER_INCOMPLETE_KEPT = 100
MOST_STRAYS = 20
"""Items that name no place in S3, said singly."""

WRONG_KEYS = "WrongKeySchema"
"""Code of the error of a DynamoDB table whose keys show that it is no store of its kind."""


SMALL_STORE_ITEMS = 5_000
"""A store of up to this many items (about 1 MB) is scanned in every pass: cheaper than a query for each table."""
SCAN_EVERY = timedelta(hours=1)
"""How often a larger store is scanned for tables that nobody named."""

Held = TypeVar("Held")
Place = tuple[str, str]
"""Bucket and key: what all spellings of one table have in common."""


@dataclass(slots=True)
class Partition:
    """The entries of one `tablePath`. `truncated` says that older complete entries exist and were let go."""

    count: int = 0
    newest: deque[LogStoreEntry] = field(default_factory=lambda: deque(maxlen=NEWEST_KEPT))
    older_incomplete: list[LogStoreEntry] = field(default_factory=list)

    def add(self, entry: LogStoreEntry) -> None:
        """Take the next entry; entries of a partition come in the order of their names, as DynamoDB sorts them."""
        if len(self.newest) == self.newest.maxlen:
            oldest = self.newest[0]
            if (oldest.complete is not True or oldest.problems) and len(self.older_incomplete) < OLDER_INCOMPLETE_KEPT:
                self.older_incomplete.append(oldest)
        self.newest.append(entry)
        self.count += 1

    @property
    def truncated(self) -> bool:
        return self.count > len(self.newest)

    @property
    def entries(self) -> tuple[LogStoreEntry, ...]:
        return (*self.older_incomplete, *self.newest)

    def only(self, wanted: Callable[[LogStoreEntry], bool]) -> "Partition":
        """The wanted entries alone, of those that were kept."""
        newest = deque(filter(wanted, self.newest))
        left_out = len(self.newest) - len(newest)
        return Partition(self.count - left_out, newest, list(filter(wanted, self.older_incomplete)))


@dataclass(frozen=True)
class StoreSurvey(Generic[Held]):
    """A commit store in one pass. `held`, by table, is None where it was not scanned, or could not be (`error`).

    `items` counts what was read, `strays` are the sentences on items that name no table.
    """

    name: str
    held: Mapping[Place, Held] | None = None
    error: AwsError | None = None
    items: int = 0
    strays: tuple[str, ...] = ()


LogStoreSurvey = StoreSurvey[Mapping[str, Partition]]
"""Of a log store: its partitions, by `tablePath`."""
CoordinatorSurvey = StoreSurvey[tuple[Registration, ...]]


@dataclass(frozen=True, slots=True)
class Survey:
    """All commit stores of a connection in one pass."""

    log_stores: tuple[LogStoreSurvey, ...] = ()
    coordinators: tuple[CoordinatorSurvey, ...] = ()

    @property
    def stores(self) -> tuple[LogStoreSurvey | CoordinatorSurvey, ...]:
        return (*self.log_stores, *self.coordinators)

    def coordinator(self, name: str) -> CoordinatorSurvey | None:
        return next((store for store in self.coordinators if store.name == name), None)

    def places(self) -> set[Place]:
        """Every table that an item speaks of."""
        return {place for store in self.stores for place in store.held or ()}

    def strays(self) -> list[str]:
        """Sentences on items that speak of no table."""
        return [sentence for store in self.stores for sentence in store.strays]


def coordinator_of(survey: Survey, protocol: TableProtocol | None) -> str:
    """The coordinator that the properties name, where it is one of this connection; else ""."""
    named = coordinator_store(protocol) or ""
    return named if survey.coordinator(named) else ""


def scan_log_store(dynamodb: DynamoDB, name: str, stopping: Event | None = None) -> LogStoreSurvey:
    """Read every item and group it by `tablePath`. A refusal is part of the survey, not an exception.

    Raises Stopped between two pages once `stopping` is set.
    """
    partitions: dict[str, Partition] = {}
    try:
        for entry in map(read_entry, _items(dynamodb.scan(name), stopping)):
            partition = partitions.get(entry.table_path)
            if partition is None:
                most = NEWEST_KEPT if len(partitions) < MANY_PARTITIONS else NEWEST_KEPT_OF_MANY
                partition = partitions[entry.table_path] = Partition(newest=deque(maxlen=most))
            partition.add(entry)
    except AwsError as error:
        return LogStoreSurvey(name, error=error)
    return survey_of_partitions(name, partitions)


def _items(pages: Iterable[Sequence[Item]], stopping: Event | None) -> Iterator[Item]:
    for page in pages:
        if stopping is not None and stopping.is_set():
            raise Stopped
        yield from page


def survey_of_partitions(name: str, partitions: Mapping[str, Partition]) -> LogStoreSurvey:
    """Sort partitions by the table that their entries speak of: one text may be two tables, by who wrote it."""
    by_place: defaultdict[Place, dict[str, Partition]] = defaultdict(dict)
    strays: list[str] = []
    for path, partition in sorted(partitions.items()):
        found = tables_of(path, partition)
        if not found:
            strays.append(f"{name} holds entries of {shown(path)}, which is no place in S3.")
        for place, entries in found.items():
            by_place[place][path] = entries
    items = sum(partition.count for partition in partitions.values())
    return LogStoreSurvey(name, dict(by_place), items=items, strays=_bounded(strays, name))


def tables_of(path: str, partition: Partition) -> Mapping[Place, Partition]:
    """The entries of one `tablePath` by the table they speak of; those that name none are left out."""
    if "%" not in path:
        place = _place(table_uri(path))
        return {place: partition} if place else {}
    places = {place for entry in partition.entries if (place := _place(_table_of(entry)))}
    return {place: partition.only(partial(speaks_of, place=place)) for place in places}


def speaks_of(entry: LogStoreEntry, place: Place) -> bool:
    """Whether an entry under one of a table's paths is that table's: of an escaped path, another may be meant."""
    return "%" not in entry.table_path or _place(_table_of(entry)) == place


def scan_coordinator(dynamodb: DynamoDB, name: str, stopping: Event | None = None) -> CoordinatorSurvey:
    """Read every registration. A refusal is part of the survey, not an exception. Raises Stopped."""
    try:
        found = [read_registration(item, name) for item in _items(dynamodb.scan(name, segments=1), stopping)]
    except AwsError as error:
        return CoordinatorSurvey(name, error=error)
    return survey_of_registrations(name, found)


def survey_of_registrations(name: str, registrations: Iterable[Registration]) -> CoordinatorSurvey:
    """Sort registrations by the table that their path names."""
    by_place: defaultdict[Place, list[Registration]] = defaultdict(list)
    strays: list[str] = []
    for registration in registrations:
        uri = table_uri(registration.path)
        if uri is None:
            place = f"registration {shown(registration.table_id)} of {shown(registration.path)}"
            strays.append(f"{name} holds {place}, which is no place in S3.")
        else:
            by_place[uri.bucket, uri.key].append(registration)
    held = {place: tuple(found) for place, found in by_place.items()}
    return CoordinatorSurvey(name, held, items=sum(map(len, held.values())), strays=_bounded(strays, name))


def read_partition(dynamodb: DynamoDB, name: str, table_path: str, *, at_least: str = "") -> Partition:
    """Query one partition from file name `at_least` on, consistently. Raises AwsError."""
    partition = Partition()
    for page in dynamodb.query(name, "tablePath", table_path, range_name="fileName", at_least=at_least):
        for item in page:
            partition.add(read_entry(item))
    return partition


def _table_of(entry: LogStoreEntry) -> TableUri | None:
    try:
        return lookable(place_of(entry))
    except ValueError:
        return None


def _place(uri: TableUri | None) -> Place | None:
    return (uri.bucket, uri.key) if uri else None


def _bounded(strays: Sequence[str], name: str) -> tuple[str, ...]:
    more = len(strays) - MOST_STRAYS
    return (*strays[:MOST_STRAYS], *([f"{name} holds {more:,} more that name no place in S3."] if more > 0 else []))


def survey_stores(connection: Connection, lake: Lake, now: datetime, workers: Workers, *, in_full: bool) -> Survey:
    """Scan the stores that are due; one that cannot be one, by its keys, is not read at all."""

    def survey(store: CommitStore, scan: Callable[[DynamoDB, str, Event], StoreSurvey[Held]]) -> StoreSurvey[Held]:
        if error := unfit(store):
            return StoreSurvey(store.name, error=error)
        if not in_full and not _scan_is_due(store, now):
            return StoreSurvey(store.name)
        found = workers.run(partial(scan, lake.dynamodb, store.name, workers.stopping))
        if found.held is not None:
            CommitStore.objects.filter(pk=store.pk).update(scanned_at=now, scanned_items=found.items)
        return found

    log_stores = stores_of(connection, CommitStore.Kind.LOG_STORE)
    coordinators = stores_of(connection, CommitStore.Kind.COMMIT_COORDINATOR)
    return Survey(
        tuple(survey(store, scan_log_store) for store in log_stores),
        tuple(survey(store, scan_coordinator) for store in coordinators),
    )


def survey_for_one_table(connection: Connection, lake: Lake) -> Survey:
    """Return the stores of a connection for reading one table: log stores are asked for it, coordinators scanned.

    A table may have several registrations, and only a scan finds those that its properties do not name; a coordinator
    holds one item for each table.
    """

    def scanned(store: CommitStore) -> CoordinatorSurvey:
        error = unfit(store)
        return CoordinatorSurvey(store.name, error=error) if error else scan_coordinator(lake.dynamodb, store.name)

    log_stores = stores_of(connection, CommitStore.Kind.LOG_STORE)
    coordinators = stores_of(connection, CommitStore.Kind.COMMIT_COORDINATOR)
    return Survey(
        tuple(LogStoreSurvey(store.name, error=unfit(store)) for store in log_stores), tuple(map(scanned, coordinators))
    )


def stores_of(connection: Connection, kind: CommitStore.Kind) -> Iterator[CommitStore]:
    return CommitStore.objects.filter(connection=connection, kind=kind).order_by("name").iterator()


def unfit(store: CommitStore) -> AwsError | None:
    """Why the DynamoDB table, as last described, cannot be a store of its kind; scanning it could read anything."""
    read = log_store.expected_keys if store.kind == CommitStore.Kind.LOG_STORE else coordinator_items.expected_keys
    found = store.facts.get("key_schema")
    expected = [list(key) for key in read()]
    if not found or found == expected:
        return None
    names = " and ".join(str(key[0]) for key in found)
    wanted = " and ".join(key[0] for key in expected)
    return AwsError(
        WRONG_KEYS,
        f"its key is {names}, and a {store.get_kind_display().lower()} has {wanted}",
        operation="Reading",
        target=f"DynamoDB table {store.name}",
    )


def _scan_is_due(store: CommitStore, now: datetime) -> bool:
    if store.scanned_at is None or store.scanned_items is None:
        return True
    return store.scanned_items <= SMALL_STORE_ITEMS or now - store.scanned_at > SCAN_EVERY
