"""A model of Coordinated Commits with DynamoDB, request by request, and of what befalls its tables.

Source: `DynamoDBCommitCoordinatorClient` of delta-spark 3.3 to 4.4 (batch size 1: each commit backfills at once).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.builders.delta import coordinator_commit, registration_item
from tests.schedules import deltas
from tests.schedules.lake import Item
from tests.schedules.log_store import newest_version
from tests.schedules.place import BUCKET, COORDINATOR, ENDPOINT, PATH, STAGED, published
from tests.schedules.world import Program, Statement, World

MOST_CONFLICTS = 3


@dataclass(frozen=True)
class CoordinatedWriter:
    """One Spark application that holds the table under registration `table_id`, spelled as `path`."""

    world: World
    table_id: str
    path: str = PATH
    timestamp: int = 0
    """The in-commit timestamp of its next commit; 0 is the clock's."""

    def commit(self) -> Program:
        """Append once; refused for its version, it reads the table again and tries the next."""
        for _ in range(MOST_CONFLICTS):
            yield "look at the table"
            version = self._newest() + 1
            data = deltas.append(self.world.unique(), self._time())
            if (yield from self._commit(version, data)):
                yield from self.backfill()
                return

    def downgrade(self) -> Statement:
        """The two commits of DROP FEATURE: one through the coordinator that closes it, one on the file system."""
        yield "look at the table"
        version, properties = self._newest() + 1, {deltas.TIMESTAMPS: "true"}
        data = deltas.conversion("UNSET TBLPROPERTIES", properties, deltas.FEATURES, self._time())
        if not (yield from self._commit(version, data, closing=True)):
            return False
        yield from self.backfill()
        return (yield from self.remove_feature())

    def remove_feature(self) -> Statement:
        """The second commit of DROP FEATURE, which goes through the file system."""
        properties = {deltas.TIMESTAMPS: "true"}
        data = deltas.conversion("DROP FEATURE", properties, deltas.FEATURES[1:], self._time())
        return (yield from put_as_file(self.world, data))

    def backfill(self) -> Program:
        """Copy what is listed, oldest first; then clear the list, unless somebody moved on."""
        lake = self.world.lake
        yield "look at the registration"
        item = self._item()
        if item is None:
            return
        for listed in item["commits"]["L"]:
            version, name = int(listed["M"]["version"]["N"]), listed["M"]["fsName"]["S"]
            if not lake.has(BUCKET, STAGED + name):
                return
            data = lake.get(BUCKET, STAGED + name).data
            yield "backfill"
            lake.put(BUCKET, published(version), data)
        if item["commits"]["L"]:
            yield "clear"
            self._change(lambda now: now["tableVersion"] == item["tableVersion"], commits={"L": []})

    def _commit(self, version: int, data: bytes, *, closing: bool = False) -> Statement:
        """Stage and register; whether the commit is in."""
        name = f"{version:020d}.{self.world.unique()}.json"
        yield "stage"
        self.world.lake.put(BUCKET, STAGED + name, data)
        yield "register commit"
        held = self._item()
        if held is None:
            return False
        is_in = self._change(
            lambda now: now["tableVersion"] == _number(version - 1) and now["acceptingCommits"]["BOOL"],
            tableVersion=_number(version),
            tableTimestamp=_number(timestamp_of(data)),
            hasAcceptedCommits={"BOOL": True},
            acceptingCommits={"BOOL": not closing},
            commits={"L": [*held["commits"]["L"], _listed(version, name, data)]},
        )
        if is_in:
            self.world.ledger.accept(version, data, "registration")
        return is_in

    def _newest(self) -> int:
        """What `getCommits` and the listing say together; of an item that has accepted nothing only the listing."""
        item = self._item()
        listed = item["commits"]["L"] if item is not None else []
        return max([newest_version(self.world), *(int(one["M"]["version"]["N"]) for one in listed)])

    def _change(self, condition: Callable[[Item], bool], **attributes: Any) -> bool:
        """One conditional update; every one of them expects the path and the schema's version."""
        item = self._item()
        if item is None or item["path"]["S"] != self.path or item["schemaVersion"] != _number(1) or not condition(item):
            return False
        self.world.lake.put_item(COORDINATOR, {**item, **attributes})
        return True

    def _item(self) -> Item | None:
        return self.world.lake.get_item(COORDINATOR, {"tableId": {"S": self.table_id}})

    def _time(self) -> int:
        return self.timestamp or new_timestamp(self.world)


@dataclass(frozen=True)
class Upgrade:
    """One ALTER TABLE that puts the table under the coordinator; a conflict of its commit is not retried."""

    world: World
    table_id: str
    path: str = PATH
    endpoint: str = ENDPOINT
    store: str = COORDINATOR

    def run(self) -> Statement:
        yield from publish_closed(self.world)
        yield "look at the table"
        version = newest_version(self.world) + 1
        yield "register"
        self.world.lake.put_item(self.store, registration(self.table_id, version, self.path))
        properties = deltas.coordination(self.store, self.endpoint, self.table_id)
        data = deltas.conversion("SET TBLPROPERTIES", properties, deltas.FEATURES, new_timestamp(self.world))
        yield "put upgrade commit"
        return _put(self.world, version, data)


def registration(table_id: str, version: int, path: str = PATH) -> Item:
    """An item that has accepted nothing yet."""
    nothing = {"hasAcceptedCommits": {"BOOL": False}, "tableTimestamp": None}
    return registration_item(version, tableId={"S": table_id}, path={"S": path}, **nothing)


def put_as_file(world: World, data: bytes) -> Statement:
    """A commit through the file system alone, by a conditional put."""
    yield from publish_closed(world)
    yield "look for the newest version"
    version = newest_version(world) + 1
    yield "put commit"
    return _put(world, version, data)


def publish_closed(world: World) -> Program:
    """What every file system commit does first: publish what a closed registration still lists, and not clear it."""
    for item in world.lake.items(COORDINATOR):
        waiting = [] if item["acceptingCommits"]["BOOL"] else item["commits"]["L"]
        for listed in waiting:
            version, name = int(listed["M"]["version"]["N"]), listed["M"]["fsName"]["S"]
            if not world.lake.has(BUCKET, published(version)):
                yield "backfill"
                world.lake.put(BUCKET, published(version), world.lake.get(BUCKET, STAGED + name).data)


def _put(world: World, version: int, data: bytes) -> bool:
    if world.lake.has(BUCKET, published(version)):
        return False
    world.lake.put(BUCKET, published(version), data)
    world.ledger.accept(version, data, "file")
    return True


def timestamp_of(data: bytes) -> int:
    """The in-commit timestamp that stands at a commit file's beginning."""
    head = data.split(b'"inCommitTimestamp":', 1)[1]
    return int(head.split(b",", 1)[0])


def new_timestamp(world: World) -> int:
    """Milliseconds; strictly rising, as Delta has them."""
    return int(time.time() * 1_000) + next(world.numbers)


def _number(value: int) -> dict[str, str]:
    return {"N": str(value)}


def _listed(version: int, name: str, data: bytes) -> dict[str, Any]:
    file = {"fsName": {"S": name}, "fsLength": _number(len(data)), "fsTimestamp": _number(int(time.time() * 1_000))}
    return coordinator_commit(version, timestamp=_number(timestamp_of(data)), **file)


# What befalls a table


def remove_staged_files(world: World, versions: Sequence[int]) -> Program:
    """Delta's log clean-up: staged copies of commits that are published and older than the retention go."""
    for version in versions:
        for key in list(world.lake.keys(BUCKET, f"{STAGED}{version:020d}")):
            if world.lake.has(BUCKET, published(version)):
                yield "vacuum of a staged file"
                world.lake.delete(BUCKET, key)
