"""Looking at what a self-test of a writer left, and keeping what was seen; a look changes nothing in the lake.

Its log is read first, then the items, so that none is missed that is there.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice

from django.db.models import Q
from django.utils import timezone

from coordinator.models import CommitStore, WriterTest
from coordinator.observation.storable import clean_json, clean_text
from coordinator.observation.surveys import read_partition, stores_of
from coordinator.protocols.coordinator_conf import aws_endpoint
from coordinator.writer_tests.judging import (
    PROVEN,
    ScratchCommit,
    StoredEntry,
    WriterTestFacts,
    WriterTestOutcome,
    WriterTestState,
    judge,
)
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.actions import read_commit
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import Registration
from lake.delta.names import NameKind, commit_name, parse_name
from lake.delta.uri import same_table, table_uri

MOST_OBJECTS = 1_000
"""A test leaves about sixty."""


def look_at(test: WriterTest, lake: Lake) -> WriterTestOutcome:
    """Read one test, judge it, keep the outcome. Raises AwsError; what was seen before then stays."""
    now = timezone.now()
    try:
        facts = read_test(lake, test, now)
    except AwsError as error:
        WriterTest.objects.filter(pk=test.pk).update(error_text=clean_text(str(error)))
        raise
    outcome = judge(facts)
    _keep(test, outcome, now)
    if facts.is_empty and test.state != WriterTestState.NOT_SEEN:
        return replace(outcome, sentence=f"Nothing is left of this test. What it had shown: {test.sentence}")
    return outcome


def _keep(test: WriterTest, outcome: WriterTestOutcome, now: datetime) -> None:
    """One UPDATE, unless a later look was faster."""
    rows = WriterTest.objects.filter(pk=test.pk).filter(Q(checked_at=None) | Q(checked_at__lt=now))
    seen = ~Q(state=WriterTestState.NOT_SEEN)
    if outcome.state is WriterTestState.NOT_SEEN:
        rows.filter(seen, cleaned_at=None).update(cleaned_at=now)
        rows.update(checked_at=now, error_text="")
        return
    if outcome.state is WriterTestState.NOT_KNOWN:
        rows = rows.exclude(state__in=PROVEN)  # what was proven in time is not made unsaid by looking too late
    rows.update(
        state=outcome.state.value,
        sentence=clean_text(outcome.sentence),
        evidence=clean_json(outcome.evidence),
        checked_at=now,
        error_text="",
        cleaned_at=None,
    )


def read_test(lake: Lake, test: WriterTest, now: datetime) -> WriterTestFacts:
    """Everything below the scratch folder, and its items in every store of the connection. Changes nothing.

    Raises AwsError where the folder, a commit or the expected store cannot be read.
    """
    pages = lake.s3.list(test.bucket, f"{test.prefix}/")
    found = list(islice((one for page in pages for one in page.objects), MOST_OBJECTS + 1))
    objects = {one.key.removeprefix(test.place.log_key): one for one in found}
    bodies = {version: _read(lake, test, commit_name(version)) for version in _versions(objects, NameKind.COMMIT)}
    entries, registrations, unread = _items(lake, test)
    copies = {one.entry.version: one.entry.temp_path or "" for one in entries if one.store == test.store_name}
    commits = {
        version: ScratchCommit(
            version,
            objects[commit_name(version)].modified_at,
            _read_version(body),
            _read(lake, test, copy) == body if (copy := copies.get(version, "")) in objects else None,
        )
        for version, body in bodies.items()
    }
    connection = test.connection
    return WriterTestFacts(
        test.kind,
        test.store_name,
        test.place,
        (connection.dynamodb_endpoint_url or connection.endpoint_url).rstrip("/") or aws_endpoint(connection.region),
        connection.region,
        now,
        len(found),
        commits,
        frozenset(_versions(objects, NameKind.STAGED)),
        entries,
        registrations,
        _properties(bodies),
        unread,
        is_cut=len(found) > MOST_OBJECTS,
    )


def _versions(names: Iterable[str], kind: NameKind) -> list[int]:
    parsed = (parse_name(name) for name in names)
    return sorted({one.version for one in parsed if one.kind is kind and one.version is not None})


def _read(lake: Lake, test: WriterTest, name: str) -> bytes:
    return lake.s3.get(test.bucket, test.place.log_key + name).data


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


def _items(lake: Lake, test: WriterTest) -> tuple[tuple[StoredEntry, ...], tuple[Registration, ...], tuple[str, ...]]:
    """Entries and registrations of the path in every store of the connection, and what other stores refused."""
    entries: list[StoredEntry] = []
    registrations: list[Registration] = []
    unread: list[str] = []
    for kind in CommitStore.Kind:
        own = {test.store_name} if test.kind == kind else set()  # even where it is no longer declared
        for store in sorted({one.name for one in stores_of(test.connection, kind)} | own):
            try:
                if kind == CommitStore.Kind.LOG_STORE:
                    entries += _entries_in(lake, store, test)
                else:
                    registrations += _registrations_in(lake, store, test)
            except AwsError as error:
                if store == test.store_name:
                    raise
                unread.append(f"{store}: {error}")
    return tuple(entries), tuple(registrations), tuple(unread)


def _entries_in(lake: Lake, store: str, test: WriterTest) -> Iterator[StoredEntry]:
    """Entries under every spelling of the path."""
    for path in test.place.table_paths():
        yield from (StoredEntry(store, one) for one in read_partition(lake.dynamodb, store, path).entries)


def _registrations_in(lake: Lake, store: str, test: WriterTest) -> Iterator[Registration]:
    for page in lake.dynamodb.scan(store, segments=1):
        read = (read_registration(item, store) for item in page)
        yield from (one for one in read if table_uri(one.path) and same_table(one.path, test.place))
