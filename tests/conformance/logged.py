"""A table whose commits go through the log store, written by our own step-by-step writer, and what may befall it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sandbox.client import Client
from sandbox.delta_files import Shape, append, commit_bytes, creation, data_file
from sandbox.ground import DELTA_LOG
from sandbox.log_store_writer import Entry, LogStoreTable, Step, file_name, item
from tests.conformance.old_deltalake import Read, storage_options

ROWS = 5
"""Rows of each append."""
SHAPE = Shape(("id long",))
TEN_MINUTES = 600


@dataclass
class Logged:
    """One table at `bucket`/`key`. `version` and `rows` follow every commit that was accepted."""

    client: Client
    bucket: str
    key: str
    version: int = -1
    rows: int = 0
    aside: dict[str, bytes] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        return f"s3a://{self.bucket}/{self.key}"

    @property
    def store(self) -> LogStoreTable:
        return LogStoreTable(self.client, DELTA_LOG, self.bucket, self.key)

    def create(self) -> None:
        self.store.commit(0, commit_bytes(creation(SHAPE, "conformance", time.time())))
        self.version = 0

    def append(self, times: int = 1, *, stop_after: Step = Step.COMPLETED, age: float = 0) -> None:
        """Commits of 5 rows each; the writer of the last one dies after `stop_after`, `age` seconds ago."""
        for left in reversed(range(times)):
            version = self.version + 1
            dated = replace(self.store, now=time.time() - age) if age else self.store
            dated.commit(version, self.next_commit(version), stop_after=Step.COMPLETED if left else stop_after)
            if left or stop_after not in (Step.PREVIOUS_SETTLED, Step.TEMP_FILE_WRITTEN):
                self.accepted(ROWS)

    def accepted(self, rows: int) -> None:
        self.version += 1
        self.rows += rows

    def gave_up(self, rows: int) -> None:
        """The newest commit was abandoned, with its rows."""
        self.version -= 1
        self.rows -= rows

    def next_commit(self, version: int) -> bytes:
        """Write the data file of a commit, and return the bytes of its log file."""
        now = time.time()
        file = data_file(SHAPE, now, ROWS, version)
        self.client.put(self.bucket, f"{self.key}/{file.path}", file.data)
        return commit_bytes(append(version, [file], now))

    def entry(self, version: int) -> Entry:
        found = self.store.entry(version)
        assert found is not None, f"no entry {version} of {self.uri}"
        return found

    def put_entry(self, entry: Entry) -> None:
        self.client.dynamodb("PutItem", TableName=DELTA_LOG, Item=item(self.uri, entry))

    def published(self) -> list[int]:
        prefix = f"{self.key}/_delta_log/"
        names = [found.removeprefix(prefix) for found, _ in self.client.list(self.bucket, prefix)]
        return sorted(int(name[:20]) for name in names if name[20:] == ".json")

    def remove(self, name: str) -> None:
        """Delete an object below `_delta_log/`; `aside` keeps it as a backup would."""
        self.aside[name] = self.store.read(name)
        self.client.delete(self.bucket, f"{self.key}/_delta_log/{name}")

    def read_by_newest(self) -> Read:
        """What the newest deltalake sees, which knows no log store."""
        from deltalake import DeltaTable

        table = DeltaTable(self.uri, storage_options=storage_options(self.client))
        return Read(table.version(), table.to_pyarrow_table().num_rows)


Mishap = Callable[[Logged], None]


def temp_file_of_a_loser(table: Logged) -> None:
    """C1: its writer died before DynamoDB heard of it."""
    table.append(stop_after=Step.TEMP_FILE_WRITTEN)


def unpublished(table: Logged) -> None:
    """C2: accepted, and its writer died before the file was there."""
    table.append(stop_after=Step.ENTRY_PREPARED)


def not_completed(table: Logged) -> None:
    """C4: its writer died ten minutes ago before it called the entry complete."""
    table.append(stop_after=Step.PUBLISHED, age=TEN_MINUTES)


def file_lost(table: Logged) -> None:
    """C6: complete, and the file is gone while its temp file is left."""
    table.append()
    table.remove(file_name(table.version))


def commit_lost(table: Logged) -> None:
    """C7: complete, and both files are gone."""
    table.append()
    table.remove(file_name(table.version))
    table.remove(table.entry(table.version).temp_path)


def temp_file_restored(table: Logged) -> None:
    """A backup brings the temp file of the newest commit back."""
    name = table.entry(table.version).temp_path
    table.client.put(table.bucket, f"{table.key}/_delta_log/{name}", table.aside[name])


def stale_entry(table: Logged) -> None:
    """C9: an older entry is incomplete, as an edit or a foreign writer leaves it."""
    table.append(2)
    table.put_entry(replace(table.entry(table.version - 1), complete=False, expire_time=None))


def temp_file_lost(table: Logged) -> None:
    """C11: accepted, and a lifecycle rule took the temp file before anybody published it."""
    table.append(stop_after=Step.ENTRY_PREPARED)
    table.remove(table.entry(table.version).temp_path)
