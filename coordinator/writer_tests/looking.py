"""Looking at what a self-test of a writer left, and keeping what was seen; a look changes nothing in the lake.

Its log is read first, then the items, so that none is missed that is there.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from coordinator.models import CommitStore, WriterTest
from coordinator.protocols.coordinator_conf import aws_endpoint
from coordinator.scratch import StoresToAsk, read_leftovers
from coordinator.writer_tests.judging import (
    PROVEN,
    ScratchCommit,
    WriterTestFacts,
    WriterTestOutcome,
    WriterTestState,
    judge,
)
from coordinator.writer_tests.places import MOST_OBJECTS, folder_of
from dashboard.storable import clean_json, clean_text
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.actions import read_commit
from lake.delta.names import NameKind, commit_name, parse_name


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
    connection, is_log_store = test.connection, test.kind == CommitStore.Kind.LOG_STORE
    own = test.store_name  # even where it is no longer declared
    stores = StoresToAsk.of(connection, log_store=own if is_log_store else "", coordinator="" if is_log_store else own)
    found = read_leftovers(lake, folder_of(test), stores)
    for place, error in found.unread:
        if place in (test.bucket, own):
            raise error
    is_cut = len(found.objects) > MOST_OBJECTS
    objects = {} if is_cut else {one.key.removeprefix(test.place.log_key): one for one in found.objects}
    bodies = {version: _read(lake, test, commit_name(version)) for version in _versions(objects, NameKind.COMMIT)}
    copies = {entry.version: entry.temp_path or "" for store, entry in found.entries if store == own}
    commits = {
        version: ScratchCommit(
            version,
            objects[commit_name(version)].modified_at,
            _read_version(body),
            _read(lake, test, copy) == body if (copy := copies.get(version, "")) in objects else None,
        )
        for version, body in bodies.items()
    }
    return WriterTestFacts(
        test.kind,
        own,
        test.place,
        (connection.dynamodb_endpoint_url or connection.endpoint_url).rstrip("/") or aws_endpoint(connection.region),
        connection.region,
        now,
        len(found.objects),
        commits,
        frozenset(_versions(objects, NameKind.STAGED)),
        found.entries,
        found.registrations,
        _properties(bodies),
        tuple(f"{place}: {error}" for place, error in found.unread),
        is_cut,
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
