"""A log store table while it grows: laid-down history, commits through the protocol, and what befalls them."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sandbox.delta_files import IN_COMMIT_TIMESTAMP, Shape, append, commit_bytes, creation, data_file
from sandbox.log_store_writer import CommitExistsError, Entry, LogStoreTable, Step, file_name, item


@dataclass
class Growth:
    """Adds commits to one table; `next_version` is the version the next one takes."""

    table: LogStoreTable
    shape: Shape
    next_version: int = 0

    def history(self, times: Sequence[float], *, ttl_works: bool, keep_temp_files_after: float) -> None:
        """Lay down commits at these epoch seconds as they look long after: published, complete, partly cleaned away.

        Items past their expireTime are left out where the store's TTL works, temp files older than
        `keep_temp_files_after` where a lifecycle rule clears them. A table of no store has neither.
        """
        items = []
        for at in times:
            data = self.next_commit(at)
            self.put(file_name(self.next_version), data, at)
            self.next_version += 1
            if not self.table.store:
                continue
            entry = self._settled_entry(self.next_version - 1, at)
            if at > keep_temp_files_after:
                self.put(entry.temp_path, data, at)
            if not ttl_works or (entry.expire_time or 0) > time.time():
                items.append(item(self.table.table_path, entry))
        for first in range(0, len(items), 25):
            puts = [{"PutRequest": {"Item": stored}} for stored in items[first : first + 25]]
            self.table.client.dynamodb("BatchWriteItem", RequestItems={self.table.store: puts})

    def commit(self, age: float, *, stop_after: Step = Step.COMPLETED) -> None:
        """Commit through the protocol as a writer did `age` seconds ago, or die after a step."""
        at = time.time() - age
        replace(self.table, now=at).commit(self.next_version, self.next_commit(at), stop_after=stop_after)
        self.next_version += 1

    def bypass(self, age: float) -> None:
        """Commit as a writer without the log store does: the file alone."""
        at = time.time() - age
        self.put(file_name(self.next_version), self.next_commit(at), at)
        self.next_version += 1

    def next_commit(self, at: float) -> bytes:
        """Write the data files of the next commit and return the bytes of its log file."""
        version, seed = self.next_version, hash_of(self.table.key) + self.next_version
        if version == 0:
            actions = creation(self.shape, self.table.key.rpartition("/")[2], at)
        else:
            added = data_file(self.shape, at, 20, seed)
            self.table.client.put(self.table.bucket, f"{self.table.key}/{added.path}", added.data, modified_at=at)
            actions = append(version, [added], at)
        if IN_COMMIT_TIMESTAMP in self.shape.features:
            actions[0] = {"commitInfo": {"inCommitTimestamp": int(at * 1000), **actions[0]["commitInfo"]}}
        return commit_bytes(actions)

    def put(self, name: str, data: bytes, at: float) -> None:
        self.table.client.put(self.table.bucket, f"{self.table.key}/_delta_log/{name}", data, modified_at=at)

    def delete(self, name: str) -> None:
        self.table.client.delete(self.table.bucket, f"{self.table.key}/_delta_log/{name}")

    def newest(self) -> Entry:
        entry = self.table.entry(self.next_version - 1)
        if entry is None:
            raise LookupError(f"version {self.next_version - 1} of {self.table.table_path} has no entry")
        return entry

    def _settled_entry(self, version: int, at: float) -> Entry:
        name = file_name(version)
        return Entry(name, f".tmp/{name}.{uuid.uuid4()}", complete=True, expire_time=int(at) + self.table.ttl)


def hash_of(text: str) -> int:
    """A number that is the same in every process, for seeds."""
    return int.from_bytes(text.encode()) % 1_000_000


Mishap = Callable[[Growth], None]


def none(growth: Growth) -> None:
    """A healthy table: one more ordinary commit."""
    growth.commit(age=240)


def without_store(growth: Growth) -> None:
    """Another ordinary commit of a writer that asks no store: the file alone."""
    growth.bypass(age=240)


def known_by_temp_files_alone(growth: Growth) -> None:
    """Commits through a log store whose DynamoDB table is in another account: its temp files are all that shows it."""
    for age in (5000, 240):
        name, data = file_name(growth.next_version), growth.next_commit(time.time() - age)
        growth.put(f".tmp/{name}.{uuid.uuid4()}", data, time.time() - age)
        growth.put(name, data, time.time() - age)
        growth.next_version += 1


def emptied_log(growth: Growth) -> None:
    """Somebody deleted the commits; the checksum that a writer had left is all that names a version."""
    for version in range(growth.next_version):
        growth.delete(file_name(version))
    growth.put(f"{growth.next_version - 1:020d}.crc", b"{}\n", time.time() - 240)


def pending_unpublished(growth: Growth) -> None:
    """C2: the writer died once its entry was in; the temp file waits to be published."""
    growth.commit(age=75, stop_after=Step.ENTRY_PREPARED)


def pending_published(growth: Growth) -> None:
    """C4: the writer died between publishing and completing."""
    growth.commit(age=130, stop_after=Step.PUBLISHED)


def lost_file(growth: Growth) -> None:
    """C6: a complete commit whose file someone deleted; the temp file survives."""
    growth.commit(age=5400)
    growth.delete(file_name(growth.next_version - 1))


def lost_commit(growth: Growth) -> None:
    """C7: a complete commit whose file and temp file are both gone."""
    lost_file(growth)
    growth.delete(growth.newest().temp_path)


def spinning_writer(growth: Growth) -> None:
    """C7, and a writer that tries the same version over and over, leaving a temp file each time."""
    lost_commit(growth)
    growth.next_version -= 1
    name, data = file_name(growth.next_version), growth.next_commit(time.time())
    for attempt in range(30):
        growth.put(f".tmp/{name}.{attempt:08x}-5eed-4bad-8bad-{attempt:012x}", data, time.time() - 60 + 2 * attempt)


def lost_temp_file(growth: Growth) -> None:
    """C11: the newest entry is incomplete and a rule has already cleared its temp file."""
    growth.commit(age=4 * 86_400, stop_after=Step.ENTRY_PREPARED)
    growth.delete(growth.newest().temp_path)


def foreign_writer(growth: Growth) -> None:
    """C8 within the entries' life: a job without the log store wrote among the others."""
    growth.commit(age=7200)
    growth.bypass(age=2400)
    growth.commit(age=900)


def two_domains(growth: Growth) -> None:
    """Two writers, one under s3a:// and one under s3://, that do not exclude each other."""
    growth.commit(age=5000)
    growth.table = replace(growth.table, scheme="s3")
    growth.commit(age=3000)
    growth.commit(age=1500)


def stale_entry(growth: Growth) -> None:
    """C9: an older entry that an edit left incomplete; nothing upstream ever repairs it."""
    growth.commit(age=3600)
    edited = replace(growth.newest(), complete=False, expire_time=None)
    growth.commit(age=1800)
    growth.commit(age=700)
    growth.table.client.dynamodb("PutItem", TableName=growth.table.store, Item=item(growth.table.table_path, edited))


def losing_writers(growth: Growth) -> None:
    """C1: writers that lost their race and left their temp files."""
    for age in (8000, 4000, 2000):
        at = time.time() - age
        loser = replace(growth.table, now=at).write(growth.next_version, growth.next_commit(at))
        while next(loser) is not Step.PREVIOUS_SETTLED:
            continue
        growth.commit(age=age)
        try:
            list(loser)
        except CommitExistsError:
            continue


def old_writer(growth: Growth) -> None:
    """Entries of a writer of release 2.1 or older: `commitTime` instead of `expireTime`."""
    for age in (9000, 6000, 3000):
        growth.commit(age=age)
        stored = item(growth.table.table_path, replace(growth.newest(), expire_time=None))
        stored["commitTime"] = {"N": str(int(time.time() - age))}
        growth.table.client.dynamodb("PutItem", TableName=growth.table.store, Item=stored)


def never_created(growth: Growth) -> None:
    """C10: the first entry is incomplete, its temp file gone and the log empty."""
    growth.commit(age=86_400, stop_after=Step.ENTRY_PREPARED)
    growth.delete(growth.newest().temp_path)
