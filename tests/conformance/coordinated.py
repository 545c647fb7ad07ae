"""A table that real Spark commits to through Delta's own commit coordinator, and what may befall its newest commit."""

import time
import uuid
from dataclasses import dataclass, field

from sandbox.client import Body, Client
from sandbox.coordinated import STAGED, in_commit_timestamp, lose_published, lose_staged, take_back_backfill
from sandbox.ground import DELTA_COMMITS
from sandbox.log_store_writer import file_name
from sandbox.spark_tables import SparkLake, delta_path
from tests.conformance.old_deltalake import storage_options

ROWS = 20
"""Rows of each append."""
OTHER_STAGED = "_commits"
"""The folder in which Delta 3.3 stages."""
TEN_MINUTES = 600
TWO_DAYS = 2 * 86_400


@dataclass
class Coordinated:
    """One table at `bucket`/`key`. `version` and `rows` follow every append that Spark says it made."""

    lake: SparkLake
    bucket: str
    key: str
    version: int = -1
    rows: int = 0
    select: str = "id"
    into: str = ""
    aside: dict[str, bytes] = field(default_factory=dict)

    @property
    def client(self) -> Client:
        return self.lake.client

    @property
    def uri(self) -> str:
        return f"s3a://{self.bucket}/{self.key}"

    def create(self, *, coordinated: bool = True) -> None:
        self.lake.create(self.uri, "id BIGINT", self.lake.coordinator() if coordinated else None)
        self.version = 0

    def append(self, times: int = 1) -> None:
        """Commits of 20 rows each; raises what Spark raises."""
        for _ in range(times):
            self.lake.insert(self.uri, self.select, into=self.into)
            self.version += 1
            self.rows += ROWS

    def enable(self) -> None:
        self.lake.enable(self.uri)
        self.version += 1

    def drop(self) -> None:
        """Leave the coordinator, which takes two commits."""
        self.lake.drop(self.uri)
        self.version += 2

    def count(self) -> int:
        """The rows that an application sees that starts now; raises what Spark raises."""
        self.forget()
        return int(self.lake.sql(f"SELECT count(*) FROM {delta_path(self.uri)}")[0][0])  # noqa: S608 - quoted

    def forget(self) -> None:
        """Take from Spark what it remembers of every table's log."""
        self.lake.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()

    def published(self) -> list[int]:
        names = (name for name in self.names() if "/" not in name)
        return sorted(int(name[:20]) for name in names if name[20:] == ".json")

    def names(self) -> list[str]:
        """Every object below `_delta_log/`."""
        prefix = f"{self.key}/_delta_log/"
        return [found.removeprefix(prefix) for found, _ in self.client.list(self.bucket, prefix)]

    def items(self) -> list[Body]:
        """The registrations of this path."""
        items: list[Body] = self.client.dynamodb("Scan", TableName=DELTA_COMMITS, ConsistentRead=True)["Items"]
        return [item for item in items if item["path"]["S"] == self.uri]

    def item(self) -> Body:
        """The only registration of this path."""
        (item,) = self.items()
        return item

    def put_item(self, item: Body) -> None:
        self.client.dynamodb("PutItem", TableName=DELTA_COMMITS, Item=item)

    def staged(self, version: int) -> str:
        """Name of the one staged file of a version."""
        (name,) = (name for name in self.names() if name.startswith(f"{STAGED}/{version:020d}."))
        return name

    def log_key(self, name: str) -> str:
        return f"{self.key}/_delta_log/{name}"

    def read(self, name: str) -> bytes:
        return self.client.get(self.bucket, self.log_key(name))

    def write(self, name: str, data: bytes, *, age: float = 0) -> None:
        modified_at = time.time() - age if age else None
        self.client.put(self.bucket, self.log_key(name), data, modified_at=modified_at)

    def remove(self, name: str) -> None:
        self.client.delete(self.bucket, self.log_key(name))

    def bring_back(self) -> None:
        """Put what is kept aside where it was."""
        for name, data in self.aside.items():
            self.write(name, data)

    def version_seen_outside(self) -> int:
        """The newest version for the newest deltalake, which asks no coordinator."""
        from deltalake import DeltaTable

        return int(DeltaTable(self.uri, storage_options=storage_options(self.client)).version())


def orphaned_registration(table: Coordinated) -> None:
    """K0: what an upgrade left that lost its race for the newest version two days ago."""
    published = file_name(table.version)
    table.write(published, table.read(published), age=TWO_DAYS)
    table.put_item(
        table.item()
        | {
            "tableId": {"S": str(uuid.uuid4())},
            "tableVersion": {"N": str(table.version)},
            "hasAcceptedCommits": {"BOOL": False},
        }
    )


def staged_and_dead(table: Coordinated) -> None:
    """K2: a writer staged the next version two days ago and died before the coordinator heard of it."""
    name = f"{STAGED}/{table.version + 1:020d}.{uuid.uuid4()}.json"
    table.write(name, table.read(table.staged(table.version)), age=TWO_DAYS)


def unbackfilled(table: Coordinated) -> None:
    """K3: accepted, and its writer died before it was backfilled."""
    take_back_backfill(table.client, table.bucket, table.key, [table.version])


def list_left(table: Coordinated) -> None:
    """K4: backfilled ten minutes ago, and its writer died before the list was cleared."""
    published = table.read(file_name(table.version))
    unbackfilled(table)
    table.write(file_name(table.version), published, age=TEN_MINUTES)


def cleared_too_early(table: Coordinated) -> None:
    """K6: the list is cleared and the published file is not there."""
    lose_published(table.client, table.bucket, table.key, table.version)


def staged_lost(table: Coordinated) -> None:
    """K7: accepted, not backfilled, and its staged file is gone; `aside` keeps it as a backup would."""
    name = table.staged(table.version)
    table.aside[name] = table.read(name)
    unbackfilled(table)
    lose_staged(table.client, table.bucket, table.key, table.version)


def item_lost(table: Coordinated) -> None:
    """K8: somebody deleted the registration."""
    table.client.dynamodb("DeleteItem", TableName=DELTA_COMMITS, Key={"tableId": table.item()["tableId"]})


def item_restored(table: Coordinated) -> None:
    """K9: the registration came back from a backup taken when the table was one version younger."""
    older = table.version - 1
    stamp = in_commit_timestamp(table.read(file_name(older)))
    table.put_item(table.item() | {"tableVersion": {"N": str(older)}, "tableTimestamp": {"N": str(stamp)}})


def staged_by_other_release(table: Coordinated) -> None:
    """K12: the newest commit waits in the folder in which Delta 3.3 stages."""
    name = table.staged(table.version)
    unbackfilled(table)
    table.write(name.replace(STAGED, OTHER_STAGED), table.read(name))
    table.remove(name)
