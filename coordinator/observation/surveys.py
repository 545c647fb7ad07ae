"""Reading whole commit stores: which Delta tables have entries or registrations in them."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from lake.aws.dynamodb import DynamoDB, Item
from lake.aws.errors import AwsError
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import LogStoreEntry, Registration
from lake.delta.log_store import read_entry
from lake.delta.uri import TableUri

NEWEST_KEPT = 500
"""Entries kept of one partition, newest by name (eight hours of a commit a minute), beside older incomplete ones."""
OLDER_INCOMPLETE_KEPT = 100


@dataclass(slots=True)
class Partition:
    """The entries of one `tablePath`. `truncated` says that older complete entries exist and were let go."""

    count: int = 0
    newest: deque[LogStoreEntry] = field(default_factory=lambda: deque(maxlen=NEWEST_KEPT))
    older_incomplete: list[LogStoreEntry] = field(default_factory=list)

    def add(self, entry: LogStoreEntry) -> None:
        """Take the next entry; entries of a partition come in the order of their names, as DynamoDB sorts them."""
        if len(self.newest) == NEWEST_KEPT:
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
    """A log store in one pass. `partitions` is None where it was not scanned, or could not be (`error`)."""

    name: str
    partitions: Mapping[str, Partition] | None = None
    error: AwsError | None = None

    def places(self) -> dict[str, TableUri | None]:
        """Each tablePath with the table it names; None where it names no place in S3."""
        return {path: _table_uri(path) for path in self.partitions or {}}


@dataclass(frozen=True, slots=True)
class CoordinatorSurvey:
    """A coordinator's DynamoDB table in one pass; `registrations` is None where it was not scanned or could not be."""

    name: str
    registrations: tuple[Registration, ...] | None = None
    error: AwsError | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """All commit stores of a connection in one pass."""

    log_stores: tuple[LogStoreSurvey, ...] = ()
    coordinators: tuple[CoordinatorSurvey, ...] = ()

    def failed(self) -> tuple[LogStoreSurvey | CoordinatorSurvey, ...]:
        stores: tuple[LogStoreSurvey | CoordinatorSurvey, ...] = (*self.log_stores, *self.coordinators)
        return tuple(store for store in stores if store.error)


def scan_log_store(dynamodb: DynamoDB, name: str) -> LogStoreSurvey:
    """Read every item and group it by `tablePath`. A refusal is part of the survey, not an exception."""
    partitions: dict[str, Partition] = {}
    try:
        for page in dynamodb.scan(name):
            for item in page:
                entry = read_entry(item)
                partition = partitions.get(entry.table_path)
                if partition is None:
                    partition = partitions[entry.table_path] = Partition()
                partition.add(entry)
    except AwsError as error:
        return LogStoreSurvey(name, error=error)
    return LogStoreSurvey(name, partitions)


def scan_coordinator(dynamodb: DynamoDB, name: str) -> CoordinatorSurvey:
    """Read every registration. A refusal is part of the survey, not an exception."""
    try:
        registrations = tuple(read_registration(item) for page in dynamodb.scan(name, segments=1) for item in page)
    except AwsError as error:
        return CoordinatorSurvey(name, error=error)
    return CoordinatorSurvey(name, registrations)


def read_partition(dynamodb: DynamoDB, name: str, table_path: str, *, at_least: str = "") -> Partition:
    """Query one partition from file name `at_least` on, consistently. Raises AwsError."""
    partition = Partition()
    for page in dynamodb.query(name, "tablePath", table_path, range_name="fileName", at_least=at_least):
        for item in page:
            partition.add(read_entry(item))
    return partition


def newest_item(dynamodb: DynamoDB, name: str, table_path: str) -> Item | None:
    """Query the newest item of one partition, consistently: one read unit. Raises AwsError."""
    for page in dynamodb.query(name, "tablePath", table_path, newest_first=True, limit=1):
        return page[0] if page else None
    return None


def _table_uri(path: str) -> TableUri | None:
    try:
        return TableUri.parse(path)
    except ValueError:
        return None
