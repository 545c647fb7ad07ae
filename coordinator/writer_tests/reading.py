"""Reading what a self-test of a writer left: its log first, then the items, so that none is missed that is there."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice

from coordinator.models import CommitStore, WriterTest
from coordinator.protocols.coordinator_conf import aws_endpoint
from coordinator.writer_tests.facts import Expected, ScratchCommit, StoredEntry, WriterTestFacts
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.list_page import ObjectSummary
from lake.delta.actions import read_commit
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import LogStoreEntry, Registration
from lake.delta.log_store import read_entry
from lake.delta.names import NameKind, commit_name, parse_name
from lake.delta.uri import same_table, table_uri

MOST_OBJECTS = 1_000
"""A test leaves about sixty."""


def read_test(connection: Connection, lake: Lake, test: WriterTest, now: datetime) -> WriterTestFacts:
    """Everything below the scratch folder, and its items in every store of the connection. Changes nothing.

    Raises AwsError where the folder, a commit or the expected store cannot be read.
    """
    uri = test.place
    found = list(islice(_objects(lake, test), MOST_OBJECTS + 1))
    objects = {one.key.removeprefix(uri.log_key): one for one in found}
    bodies = {version: _read(lake, test, commit_name(version)) for version in _versions(objects, NameKind.COMMIT)}
    entries, unread = _entries(connection, lake, test)
    registrations, unread_coordinators = _registrations(connection, lake, test)
    copies = {one.entry.version: one.entry.temp_path for one in entries if one.store == test.store_name}
    commits = {
        version: ScratchCommit(
            version,
            objects[commit_name(version)].modified_at,
            _read_version(body),
            _equals(lake, test, body, copies.get(version), objects),
        )
        for version, body in bodies.items()
    }
    return WriterTestFacts(
        Expected(test.kind, test.store_name, uri, _origin(connection), connection.region),
        now,
        tuple(found[:MOST_OBJECTS]),
        commits,
        frozenset(_versions(objects, NameKind.STAGED)),
        entries,
        registrations,
        _properties(bodies),
        (*unread, *unread_coordinators),
        is_cut=len(found) > MOST_OBJECTS,
    )


def _origin(connection: Connection) -> str:
    """Where the connection reaches DynamoDB, as a coordinator's property would name it."""
    own = connection.dynamodb_endpoint_url or connection.endpoint_url
    return own.rstrip("/") or aws_endpoint(connection.region)


def _objects(lake: Lake, test: WriterTest) -> Iterator[ObjectSummary]:
    pages = lake.s3.list(test.bucket, f"{test.prefix}/")
    return (one for page in pages for one in page.objects)


def _versions(names: Iterable[str], kind: NameKind) -> list[int]:
    parsed = (parse_name(name) for name in names)
    return sorted({one.version for one in parsed if one.kind is kind and one.version is not None})


def _read(lake: Lake, test: WriterTest, name: str) -> bytes:
    return lake.s3.get(test.bucket, test.place.log_key + name).data


def _equals(
    lake: Lake, test: WriterTest, body: bytes, copy: str | None, objects: Mapping[str, ObjectSummary]
) -> bool | None:
    return _read(lake, test, copy) == body if copy and copy in objects else None


def _read_version(body: bytes) -> int | None:
    """`readVersion` of the commitInfo, which stands in the first line; None where it does not say."""
    try:
        found = json.loads(body.partition(b"\n")[0])["commitInfo"]["readVersion"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return found if isinstance(found, int) else None


def _properties(bodies: Mapping[int, bytes]) -> Mapping[str, str]:
    """Those of the newest metaData; {} where none was read."""
    for version in sorted(bodies, reverse=True):
        if metadata := read_commit(version, bodies[version]).metadata:
            return metadata.properties
    return {}


def _entries(connection: Connection, lake: Lake, test: WriterTest) -> tuple[tuple[StoredEntry, ...], list[str]]:
    """Entries under every spelling of the path, in every log store of the connection."""
    found: list[StoredEntry] = []
    unread: list[str] = []
    for store in _stores(connection, CommitStore.Kind.LOG_STORE, test):
        try:
            found += (StoredEntry(store, one) for one in _entries_in(lake, store, test))
        except AwsError as error:
            if store == test.store_name:
                raise
            unread.append(f"{store}: {error}")
    return tuple(found), unread


def _entries_in(lake: Lake, store: str, test: WriterTest) -> list[LogStoreEntry]:
    paths = test.place.table_paths()
    pages = (page for path in paths for page in lake.dynamodb.query(store, "tablePath", path, range_name="fileName"))
    return [read_entry(item) for page in pages for item in page]


def _registrations(connection: Connection, lake: Lake, test: WriterTest) -> tuple[tuple[Registration, ...], list[str]]:
    """Registrations of the path in every coordinator of the connection; each is scanned."""
    found: list[Registration] = []
    unread: list[str] = []
    for store in _stores(connection, CommitStore.Kind.COMMIT_COORDINATOR, test):
        try:
            found += _registrations_in(lake, store, test)
        except AwsError as error:
            if store == test.store_name:
                raise
            unread.append(f"{store}: {error}")
    return tuple(found), unread


def _registrations_in(lake: Lake, store: str, test: WriterTest) -> list[Registration]:
    items = (item for page in lake.dynamodb.scan(store, segments=1) for item in page)
    read = (read_registration(item, store) for item in items)
    return [one for one in read if table_uri(one.path) and same_table(one.path, test.place)]


def _stores(connection: Connection, kind: CommitStore.Kind, test: WriterTest) -> list[str]:
    """The names of that kind, the expected one even where it is no longer declared."""
    names = set(CommitStore.objects.filter(connection=connection, kind=kind).values_list("name", flat=True))
    return sorted(names | ({test.store_name} if test.kind == kind else set()))
