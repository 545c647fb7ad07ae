"""What was read of one self-test of a writer: the scratch table's log, and the items that speak of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lake.aws.list_page import ObjectSummary
from lake.delta.facts import LogStoreEntry, Registration
from lake.delta.uri import TableUri


@dataclass(frozen=True, slots=True)
class Expected:
    """What the test was made for: `kind` and DynamoDB table of the store, and where DynamoDB answers.

    `endpoint` and `region` are those of the connection.
    """

    kind: str
    store: str
    uri: TableUri
    endpoint: str = ""
    region: str = ""

    @property
    def path(self) -> str:
        """The table to the letter: the `tablePath` that its writer locks."""
        return f"{self.uri.scheme}://{self.uri.bucket}/{self.uri.key}"


@dataclass(frozen=True, slots=True)
class ScratchCommit:
    """One published version. `read_version` is what its writer had read, as its commitInfo says; None where it does
    not. `equals_accepted` compares it with the copy that its entry names, None where there is none to compare.
    """

    version: int
    modified_at: datetime
    read_version: int | None = None
    equals_accepted: bool | None = None


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry with the DynamoDB table that holds it."""

    store: str
    entry: LogStoreEntry


@dataclass(frozen=True, slots=True)
class WriterTestFacts:
    """All that was read at `read_at`, items after the log.

    `objects` are those below the scratch folder, `staged` the versions that have a staged file, `properties` those of
    the newest metaData. `unread` names stores other than the expected one that refused. `is_cut` says that more lies
    there than a test leaves, and that not all of it was read.
    """

    expected: Expected
    read_at: datetime
    objects: tuple[ObjectSummary, ...] = ()
    commits: Mapping[int, ScratchCommit] = field(default_factory=dict)
    staged: frozenset[int] = frozenset()
    entries: tuple[StoredEntry, ...] = ()
    registrations: tuple[Registration, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    is_cut: bool = False

    @property
    def is_empty(self) -> bool:
        """Nothing of the test is there: neither an object nor an item."""
        return not (self.objects or self.entries or self.registrations)
