"""Reading whole commit stores: which Delta tables have entries or registrations in them."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event

from lake.aws.dynamodb import DynamoDB
from lake.aws.errors import AwsError
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import LogStoreEntry, Registration
from lake.delta.log_store import read_entry
from lake.delta.uri import TableUri
from lake.delta.wire import shown

NEWEST_KEPT = 500
"""Entries kept of one partition, newest by name (eight hours of a commit a minute), beside older incomplete ones."""
NEWEST_KEPT_OF_MANY = 50
MANY_PARTITIONS = 400
"""Partitions after which fewer entries of each are kept: an entry takes some 430 bytes of memory."""
OLDER_INCOMPLETE_KEPT = 100
MOST_STRAYS = 20
"""Items that name no place in S3, said singly."""

LONGEST_BUCKET = 63
"""Characters of a bucket's name, by S3's own rules."""

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


@dataclass(frozen=True, slots=True)
class LogStoreSurvey:
    """A log store in one pass. `partitions` is None where it was not scanned, or could not be (`error`).

    `paths` are the `tablePath`s of each table, `strays` the sentences on those that name none.
    """

    name: str
    partitions: Mapping[str, Partition] | None = None
    error: AwsError | None = None
    paths: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)
    strays: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CoordinatorSurvey:
    """A coordinator's DynamoDB table in one pass; `registrations`, by table, is None where it was not scanned."""

    name: str
    registrations: Mapping[Place, tuple[Registration, ...]] | None = None
    error: AwsError | None = None
    strays: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Survey:
    """All commit stores of a connection in one pass."""

    log_stores: tuple[LogStoreSurvey, ...] = ()
    coordinators: tuple[CoordinatorSurvey, ...] = ()

    def failed(self) -> tuple[LogStoreSurvey | CoordinatorSurvey, ...]:
        stores: tuple[LogStoreSurvey | CoordinatorSurvey, ...] = (*self.log_stores, *self.coordinators)
        return tuple(store for store in stores if store.error)

    def coordinator(self, name: str) -> CoordinatorSurvey | None:
        return next((store for store in self.coordinators if store.name == name), None)

    def places(self) -> set[Place]:
        """Every table that an item speaks of."""
        places = {place for store in self.log_stores for place in store.paths}
        return places | {place for store in self.coordinators for place in store.registrations or ()}

    def strays(self) -> list[str]:
        """Sentences on items that speak of no table."""
        stores: tuple[LogStoreSurvey | CoordinatorSurvey, ...] = (*self.log_stores, *self.coordinators)
        return [sentence for store in stores for sentence in store.strays]


class Stopped(Exception):
    """The pass has ended: nobody wants what is being read, and nobody answers."""


def scan_log_store(dynamodb: DynamoDB, name: str, stopping: Event | None = None) -> LogStoreSurvey:
    """Read every item and group it by `tablePath`. A refusal is part of the survey, not an exception.

    Raises Stopped between two pages once `stopping` is set.
    """
    partitions: dict[str, Partition] = {}
    try:
        for page in dynamodb.scan(name):
            if stopping is not None and stopping.is_set():
                raise Stopped
            for item in page:
                entry = read_entry(item)
                partition = partitions.get(entry.table_path)
                if partition is None:
                    most = NEWEST_KEPT if len(partitions) < MANY_PARTITIONS else NEWEST_KEPT_OF_MANY
                    partition = partitions[entry.table_path] = Partition(newest=deque(maxlen=most))
                partition.add(entry)
    except AwsError as error:
        return LogStoreSurvey(name, error=error)
    paths: defaultdict[Place, list[str]] = defaultdict(list)
    strays: list[str] = []
    for path in partitions:
        uri = table_uri(path)
        if uri is None:
            strays.append(f"{name} holds entries of {shown(path)}, which is no place in S3.")
        else:
            paths[uri.bucket, uri.key].append(path)
    by_place = {place: tuple(sorted(found)) for place, found in paths.items()}
    return LogStoreSurvey(name, partitions, None, by_place, _bounded(strays, name))


def scan_coordinator(dynamodb: DynamoDB, name: str, stopping: Event | None = None) -> CoordinatorSurvey:
    """Read every registration. A refusal is part of the survey, not an exception. Raises Stopped."""
    found: list[Registration] = []
    try:
        for page in dynamodb.scan(name, segments=1):
            if stopping is not None and stopping.is_set():
                raise Stopped
            found += map(read_registration, page)
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
    return CoordinatorSurvey(
        name, {place: tuple(found) for place, found in by_place.items()}, None, _bounded(strays, name)
    )


def read_partition(dynamodb: DynamoDB, name: str, table_path: str, *, at_least: str = "") -> Partition:
    """Query one partition from file name `at_least` on, consistently. Raises AwsError."""
    partition = Partition()
    for page in dynamodb.query(name, "tablePath", table_path, range_name="fileName", at_least=at_least):
        for item in page:
            partition.add(read_entry(item))
    return partition


def table_uri(path: str) -> TableUri | None:
    """The place that a `tablePath` or a registration names; None for one that Levee cannot look at."""
    try:
        uri = TableUri.parse(path)
    except ValueError:
        return None
    return uri if len(uri.bucket) <= LONGEST_BUCKET else None


def _bounded(strays: Sequence[str], name: str) -> tuple[str, ...]:
    more = len(strays) - MOST_STRAYS
    return (*strays[:MOST_STRAYS], *([f"{name} holds {more:,} more that name no place in S3."] if more > 0 else []))
