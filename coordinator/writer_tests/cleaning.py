"""The plan that removes what a self-test of a writer left below its scratch folder and in the stores, nothing else."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from changes.calls import Answer, LakeCall, Permission, Sending, Stop, already, bucket_arn, done, table_arn
from changes.plan import NOTHING_TO_DO, ChangePlan, Equivalents
from coordinator.models import WriterTest
from coordinator.scratch import Leftovers, ScratchFolder, StoresToAsk, read_leftovers, remove_leftovers
from coordinator.settings.requests import CleanWriterTest, NotPlanned
from coordinator.writer_tests.places import FOLDER, MOST_OBJECTS, folder_of
from dashboard.connections.models import Connection
from lake.aws.access import Lake

QUIET = timedelta(minutes=1)
"""A script that wrote within this time may be at work."""


@dataclass(frozen=True, slots=True)
class RemoveScratch(LakeCall):
    """Look again, delete what was found of one scratch table, items first, and look again. What came since stops it.

    Raises ValueError where the folder is none of a writer's self-test, or an object lies outside it.
    """

    operation: ClassVar[str] = "dynamodb:DeleteItem, s3:DeleteObject, s3:ListObjectsV2"
    folder: ScratchFolder
    stores: StoresToAsk
    found: Leftovers

    def __post_init__(self) -> None:
        is_scratch = self.folder.prefix.split("/")[-2:] == [FOLDER, ""] and len(self.folder.token) == 32
        if not is_scratch or not all(self.folder.holds(one.key) for one in self.found.objects):
            raise ValueError(f"{self.folder.listed} is no scratch folder of a writer test, or does not hold all of it.")

    @property
    def says(self) -> str:
        return f"Deletes {self.found.sentence} of {self.folder.listed}, and reads all of it again."

    @property
    def condition(self) -> str:
        return "each object has the ETag that was read, and each item names this path; nothing is left afterwards"

    @property
    def permissions(self) -> tuple[Permission, ...]:
        items = {one.store for one in self.found.items}
        return (
            Permission("s3:DeleteObject", f"{bucket_arn(self.folder.bucket)}/{self.folder.listed}*"),
            Permission("s3:ListBucket", bucket_arn(self.folder.bucket)),
            *(Permission("dynamodb:DeleteItem", table_arn(store)) for store in sorted(items)),
        )

    def send(self, sending: Sending) -> Answer:
        now = read_leftovers(sending.lake, self.folder, self.stores)
        if now.is_empty:
            return already(f"Nothing is left of {self.folder.listed}.")
        if now.unread:
            raise Stop(f"Not all of it could be looked at, and nothing was deleted: {'; '.join(now.refused)}")
        planned = self.found.all
        if came := [one.name for one in now.all if one not in planned]:
            raise Stop(f"{came[0]} came or changed since it was read: the script is at work. Plan it again.")
        refused = remove_leftovers(sending.lake, self.found, sending.took)
        left = read_leftovers(sending.lake, self.folder, self.stores)
        if not left.is_empty:
            raise Stop(f"This is left: {'; '.join([*refused, *left.names])}. Plan it again.")
        return done(f"{self.found.sentence} were deleted; nothing is left of {self.folder.listed}.")


def plan_clean(change: CleanWriterTest, connection: Connection, lake: Lake, now: datetime) -> ChangePlan:
    """Read and plan; nothing is changed. Raises NotPlanned."""
    test = test_of(connection, change)
    if test is None:
        raise NotPlanned("unknown", f"{connection.name} has no writer test {change.token} of {change.name}.")
    folder = folder_of(test)
    stores = StoresToAsk.of(connection, log_store="", coordinator="")
    found = read_leftovers(lake, folder, stores)
    if found.is_empty:
        told = f"Nothing is left of this test: {test.uri} is empty, and no item names it."
        raise NotPlanned(NOTHING_TO_DO, told)
    _require_quiet(test, found, now)
    return ChangePlan(
        change.ACT,
        change.name,
        f"Remove what the writer test left in {test.bucket} and {change.name}",
        (RemoveScratch(folder, stores, found),),
        (
            f"{found.sentence} go; no other table knows them.",
            "In a bucket with versioning, older versions of these objects stay until a lifecycle rule takes them.",
            "What the test showed is kept.",
        ),
        equivalents=Equivalents("\n".join(_commands(folder, found))),
    )


def test_of(connection: Connection, change: CleanWriterTest) -> WriterTest | None:
    tests = WriterTest.objects.select_related("connection")
    return tests.filter(connection=connection, token=change.token, store_name=change.name).first()


def _require_quiet(test: WriterTest, found: Leftovers, now: datetime) -> None:
    told = ""
    if found.unread:
        told = f"Not all of it could be looked at: {'; '.join(found.refused)}"
    elif len(found.objects) > MOST_OBJECTS:
        told = f"More lies at {test.uri} than a test leaves: look at it before you delete it with your own tools."
    elif any(now - one.modified_at < QUIET for one in found.objects):
        told = f"The script wrote to {test.uri} less than a minute ago and may be at work: clean up when it has ended."
    if told:
        raise NotPlanned("not-now", told)


def _commands(folder: ScratchFolder, found: Leftovers) -> Iterator[str]:
    yield f"aws s3 rm --recursive {shlex.quote(f's3://{folder.bucket}/{folder.listed}')}"
    for one in found.items:
        store, key = shlex.quote(one.store), shlex.quote(json.dumps(one.key))
        yield f"aws dynamodb delete-item --table-name {store} --key {key}"
