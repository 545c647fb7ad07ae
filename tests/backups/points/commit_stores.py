"""Commit stores beside a backup, what writers leave of commits in them and in the log, and what is proven then."""

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.models import CommitStore
from dashboard.connections.models import Connection
from lake.delta.names import commit_name
from tests.backups.points.conftest import Backup
from tests.builders.copies import LOG, appended
from tests.builders.delta import (
    EPOCH_MS,
    UUID,
    add,
    commit_bytes,
    commit_info,
    coordinator_commit,
    coordinator_properties,
    metadata,
    protocol,
    registration_item,
)


class Stores:
    """A log store and a coordinator of their own beside a backup, declared for the connection of its plan."""

    def __init__(self, backup: Backup) -> None:
        self._backup = backup
        self._prod = Connection.objects.get(name="prod")
        unique = backup.source.removeprefix("source-")
        self.log_store, self.coordinator = f"log-{unique}", f"commits-{unique}"
        self.create(self.log_store, CommitStore.Kind.LOG_STORE, tablePath="HASH", fileName="RANGE")
        self.create(self.coordinator, CommitStore.Kind.COMMIT_COORDINATOR, tableId="HASH")

    def create(self, name: str, kind: CommitStore.Kind, **keys: str) -> None:
        CommitStore.objects.create(connection=self._prod, name=name, kind=kind)
        self._backup.lake.dynamodb(
            "CreateTable",
            TableName=name,
            KeySchema=[{"AttributeName": key, "KeyType": role} for key, role in keys.items()],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
            BillingMode="PAY_PER_REQUEST",
        )

    @property
    def path(self) -> str:
        return f"s3a://{self._backup.source}/t"

    @property
    def properties(self) -> dict[str, str]:
        return coordinator_properties(self.coordinator, self._backup.lake.origin, UUID)

    def put(self, store: str, item: dict[str, Any]) -> None:
        self._backup.lake.dynamodb("PutItem", TableName=store, Item=item)

    def register(self, version: int, staged: dict[str, bytes], **changed: Any) -> None:
        """The registration of the table, which stands at a version and lists these staged files."""
        listed = []
        for key, data in staged.items():
            name = key.rpartition("/")[2]
            number = int(name.partition(".")[0])
            facts = {"fsName": {"S": name}, "fsLength": {"N": str(len(data))}}
            listed.append(coordinator_commit(number, **facts))
        changes = {"path": {"S": self.path}, "commits": {"L": listed}}
        self.put(self.coordinator, registration_item(version, **(changes | changed)))


@pytest.fixture
def stores(backup) -> Stores:
    return Stores(backup)


@pytest.fixture
def proven(backup, prove) -> Callable[[], Any]:
    """Proves the one table of the backup with its plan."""
    return lambda: prove(backup.uri, "--plan", "warehouse-daily")[0]


def body(version: int) -> bytes:
    info = commit_info(in_commit_timestamp=EPOCH_MS + version, timestamp=EPOCH_MS + version)
    return commit_bytes(info, add(f"part-{version}.parquet"))


def temp(version: int, unique: str = UUID) -> str:
    return f"{LOG}.tmp/{commit_name(version)}.{unique}"


def staged(*versions: int, unique: str = UUID) -> dict[str, bytes]:
    return {f"{LOG}_staged_commits/{version:020d}.{unique}.json": body(version) for version in versions}


def part(version: int) -> dict[str, bytes]:
    return {f"t/part-{version}.parquet": b"x" * 500}


def old(backup: Backup, objects: dict[str, bytes], *, copied: bool = True) -> None:
    """At the source for longer than the plan's objective, and where it was copied in the backup."""
    backup.put(objects, copied=False, hours_ago=40)
    if copied:
        backup.put(objects, copied=True)


def coordinated(stores: Stores) -> dict[str, bytes]:
    """A table of versions 0 to 2 whose commits go through the coordinator."""
    features = protocol(3, 7, readerFeatures=[], writerFeatures=["coordinatedCommits-preview", "inCommitTimestamp"])
    first = commit_bytes(commit_info("CREATE TABLE"), features, metadata(properties=stores.properties))
    return appended(range(1, 3)) | {LOG + commit_name(0): first}


def shape(point: Any) -> tuple[Any, ...]:
    return point["state"], point["version"], point["accepted_version"], [one["version"] for one in point["unpublished"]]
