"""What a rehearsal or a writer's self-test has left below its folder and in the stores: read, removed, read again."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TypeVar

from coordinator.models import CommitStore
from coordinator.observation.surveys import stores_of
from coordinator.protocols.wording import counted
from coordinator.repairs.item_calls import entry_key, registration_key, text
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.dynamodb import Item
from lake.aws.errors import AwsError
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import LogStoreEntry, Registration
from lake.delta.log_store import read_entry
from lake.delta.uri import TableUri, table_uri

MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class ScratchFolder:
    """Scratch tables: all whose key is `prefix` and a token, or the only one of a `token`. `prefix` ends in a slash,
    and nobody else has tables or objects there.
    """

    bucket: str
    prefix: str
    token: str = ""

    @property
    def listed(self) -> str:
        """What the keys of all its objects begin with."""
        return f"{self.prefix}{self.token}/" if self.token else self.prefix

    def holds(self, key: str) -> bool:
        """Whether an object is of one of these tables."""
        return key.startswith(self.listed)

    def holds_table(self, key: str) -> bool:
        return key == f"{self.prefix}{self.token}" if self.token else key.startswith(self.prefix)

    def table(self, scheme: str, token: str) -> TableUri:
        return TableUri(scheme, self.bucket, f"{self.prefix}{token}")


@dataclass(frozen=True, slots=True)
class LeftObject:
    """An object below the folder, by key and ETag."""

    bucket: str
    key: str
    etag: str
    modified_at: datetime

    @property
    def name(self) -> str:
        return f"s3://{self.bucket}/{self.key}"

    def remove(self, lake: Lake) -> str:
        """Returns the id of the request."""
        return lake.s3.delete(self.bucket, self.key, etag=self.etag).request_id


@dataclass(frozen=True, slots=True)
class LeftItem:
    """An item of a store; it is deleted while its attribute `attribute` is the path of the copy, as it was read."""

    store: str
    key: Item = field(hash=False)
    attribute: str
    path: str
    shown: str

    @property
    def name(self) -> str:
        return f"{self.shown} of {self.path} in {self.store}"

    def remove(self, lake: Lake) -> str:
        """Returns the id of the request."""
        condition, values = f"#{self.attribute} = :path", {":path": text(self.path)}
        return lake.dynamodb.delete_item(self.store, self.key, condition=condition, values=values).request_id


StoredEntry = tuple[str, LogStoreEntry]
"""An entry behind the DynamoDB table that holds it."""
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Leftovers:
    """All that is there now; `unread` are the bucket and stores that could not be looked at, so that nothing is known
    of them, and why.
    """

    objects: tuple[LeftObject, ...] = ()
    registrations: tuple[Registration, ...] = ()
    entries: tuple[StoredEntry, ...] = ()
    unread: tuple[tuple[str, AwsError], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Nothing is left, and all of it was looked at."""
        return not (self.objects or self.registrations or self.entries or self.unread)

    @property
    def all(self) -> "tuple[LeftItem | LeftObject, ...]":
        """Items first: while objects are there, they tell of items."""
        return (*self.items, *self.objects)

    @property
    def refused(self) -> list[str]:
        """Why what could not be looked at was not."""
        return [str(error) for _, error in self.unread]

    @property
    def items(self) -> tuple[LeftItem, ...]:
        held = [
            LeftItem(one.store, registration_key(one.table_id), "path", one.path, f"registration {one.table_id}")
            for one in self.registrations
        ]
        logged = [
            LeftItem(store, entry_key(one.table_path, one.file_name), "tablePath", one.table_path, one.file_name)
            for store, one in self.entries
        ]
        return (*held, *logged)

    @property
    def names(self) -> list[str]:
        """What is there or not known, by name, the first twenty."""
        found = [one.name for one in self.all]
        more = len(found) - MOST_NAMED
        return [*self.refused, *found[:MOST_NAMED], *([f"{more:,} more"] if more > 0 else [])]

    @property
    def sentence(self) -> str:
        objects, items = counted(len(self.objects), "object"), counted(len(self.registrations), "registration")
        return f"{objects}, {items} and {counted(len(self.entries), 'log store item')}"


@dataclass(frozen=True, slots=True)
class StoresToAsk:
    """The stores that a copy may have items in: all that are declared, and those that the act names."""

    log_stores: tuple[str, ...]
    coordinators: tuple[str, ...]

    @classmethod
    def of(cls, connection: Connection, *, log_store: str, coordinator: str) -> "StoresToAsk":
        def names(kind: CommitStore.Kind, more: str) -> tuple[str, ...]:
            return tuple(sorted({store.name for store in stores_of(connection, kind)} | ({more} - {""})))

        return cls(
            names(CommitStore.Kind.LOG_STORE, log_store), names(CommitStore.Kind.COMMIT_COORDINATOR, coordinator)
        )


def read_leftovers(lake: Lake, folder: ScratchFolder, stores: StoresToAsk, tokens: Iterable[str] = ()) -> Leftovers:
    """List the folder and read the stores consistently; `tokens` are copies that may have items and no object.

    What AWS refuses is part of the answer.
    """
    unread: list[tuple[str, AwsError]] = []
    objects = _read(unread, folder.bucket, partial(_objects, lake, folder))
    copies = {one.key.removeprefix(folder.prefix).partition("/")[0] for one in objects} | set(tokens)
    copies |= {folder.token} - {""}
    entries, held = [], []
    for name in stores.log_stores:
        entries += _read(unread, name, partial(_entries, lake, name, folder, copies))
    for name in stores.coordinators:
        held += _read(unread, name, partial(_registrations, lake, name, folder))
    return Leftovers(tuple(objects), tuple(held), tuple(entries), tuple(unread))


def remove_leftovers(
    lake: Lake, found: Leftovers, took: Callable[[str], object] = lambda request_id: None
) -> list[str]:
    """Remove each by its own name, in that order. Returns what was refused; `took` hears the id of each that was not.

    An item that is gone is as it should be; whoever wants to know what is left reads again.
    """
    refused: list[str] = []
    for one in found.all:
        try:
            took(one.remove(lake))
        except AwsError as error:
            if not error.is_condition_failed:
                refused.append(f"{one.name}: {error}")
    return refused


def _read(unread: list[tuple[str, AwsError]], place: str, read: Callable[[], Iterator[Found]]) -> list[Found]:
    try:
        return list(read())
    except AwsError as error:
        unread.append((place, error))
        return []


def _objects(lake: Lake, folder: ScratchFolder) -> Iterator[LeftObject]:
    for page in lake.s3.list(folder.bucket, folder.listed):
        for one in page.objects:
            if folder.holds(one.key):
                yield LeftObject(folder.bucket, one.key, one.etag, one.modified_at)


def _registrations(lake: Lake, store: str, folder: ScratchFolder) -> Iterator[Registration]:
    for item in (item for page in lake.dynamodb.scan(store, segments=1) for item in page):
        one = read_registration(item, store)
        if (uri := table_uri(one.path)) and uri.bucket == folder.bucket and folder.holds_table(uri.key):
            yield one


def _entries(lake: Lake, store: str, folder: ScratchFolder, copies: set[str]) -> Iterator[StoredEntry]:
    for path in (path for token in sorted(copies) for path in folder.table("s3a", token).table_paths()):
        for page in lake.dynamodb.query(store, "tablePath", path, range_name="fileName"):
            yield from ((store, read_entry(item)) for item in page)
