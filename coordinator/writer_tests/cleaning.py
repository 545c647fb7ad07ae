"""The plan that removes what a self-test of a writer left below its scratch folder and in the stores, nothing else."""

import json
import shlex
from collections.abc import Iterator
from datetime import datetime, timedelta

from changes.calls import Call
from changes.plan import NOTHING_TO_DO, ChangePlan, Equivalents, Refusal
from coordinator.models import WriterTest
from coordinator.protocols.wording import counted
from coordinator.repairs.item_calls import entry_key, registration_key
from coordinator.settings.requests import CleanWriterTest
from coordinator.writer_tests.clean_calls import RemoveScratch, RemoveScratchEntry, RemoveScratchRegistration
from coordinator.writer_tests.facts import WriterTestFacts
from coordinator.writer_tests.reading import read_test
from dashboard.connections.models import Connection
from lake.aws.access import Lake

QUIET = timedelta(minutes=1)
"""A script that wrote within this time may be at work."""


def plan_clean(change: CleanWriterTest, connection: Connection, lake: Lake, now: datetime) -> ChangePlan | Refusal:
    """Read and plan; nothing is changed. Raises AwsError."""
    test = test_of(connection, change)
    if test is None:
        return _refuse(change, "unknown", f"{connection.name} has no writer test {change.token} of {change.name}.")
    return plan_of(change, test, read_test(connection, lake, test, now))


def test_of(connection: Connection, change: CleanWriterTest) -> WriterTest | None:
    tests = WriterTest.objects.select_related("connection")
    return tests.filter(connection=connection, token=change.token, store_name=change.name).first()


def plan_of(change: CleanWriterTest, test: WriterTest, facts: WriterTestFacts) -> ChangePlan | Refusal:
    """The plan, from what was read. Raises nothing."""
    if facts.is_empty:
        return _refuse(
            change, NOTHING_TO_DO, f"Nothing is left of this test: {test.uri} is empty, and no item names it."
        )
    if reason := _why_not(test, facts):
        return _refuse(change, "not-now", reason)
    calls = tuple(_calls(test, facts))
    return ChangePlan(
        change.ACT,
        change.name,
        f"Remove what the writer test left in {test.bucket} and {change.name}",
        calls,
        (
            f"{counted(len(facts.objects), 'object')} below {test.uri} and {counted(len(calls) - 1, 'item')} go; no "
            "other table knows them.",
            "In a bucket with versioning, older versions of these objects stay until a lifecycle rule takes them.",
            "What the test showed is kept.",
        ),
        equivalents=_equivalents(test, calls),
    )


def _why_not(test: WriterTest, facts: WriterTestFacts) -> str:
    if facts.is_cut:
        return f"More lies at {test.uri} than a test leaves: look at it before you delete it with your own tools."
    if any(facts.read_at - one.modified_at < QUIET for one in facts.objects):
        return f"The script wrote to {test.uri} less than a minute ago and may be at work: clean up when it has ended."
    odd = [one.entry.file_name for one in facts.entries if one.entry.temp_path is None or one.entry.complete is None]
    odd += [one.table_id for one in facts.registrations if one.table_version is None]
    return f"The item {odd[0]} is none that a script leaves: look at it before you delete it." if odd else ""


def _calls(test: WriterTest, facts: WriterTestFacts) -> Iterator[Call]:
    """Objects first: a writer that met an empty log and no item would begin the table anew."""
    yield RemoveScratch(test.bucket, f"{test.prefix}/", tuple((one.key, one.etag) for one in facts.objects))
    for one in facts.entries:
        entry = one.entry
        if entry.temp_path is not None and entry.complete is not None:
            yield RemoveScratchEntry(one.store, entry.table_path, entry.file_name, entry.temp_path, entry.complete)
    for held in facts.registrations:
        if held.table_version is not None:
            yield RemoveScratchRegistration(held.store, held.table_id, held.path, held.table_version)


def _equivalents(test: WriterTest, calls: tuple[Call, ...]) -> Equivalents:
    lines = [f"aws s3 rm --recursive {shlex.quote(f's3://{test.bucket}/{test.prefix}/')}"]
    for call in calls:
        if isinstance(call, RemoveScratchEntry):
            key = json.dumps(entry_key(call.table_path, call.file_name))
            lines.append(f"aws dynamodb delete-item --table-name {shlex.quote(call.table)} --key {shlex.quote(key)}")
        if isinstance(call, RemoveScratchRegistration):
            key = json.dumps(registration_key(call.table_id))
            lines.append(f"aws dynamodb delete-item --table-name {shlex.quote(call.table)} --key {shlex.quote(key)}")
    return Equivalents("\n".join(lines))


def _refuse(change: CleanWriterTest, why: str, reason: str) -> Refusal:
    return Refusal(change.ACT, change.name, reason, why, "Remove what the writer test left")
