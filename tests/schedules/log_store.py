"""A model of S3DynamoDBLogStore's writers and readers, request by request, and of what befalls its tables.

Source: `BaseExternalLogStore` and `S3DynamoDBLogStore` of delta-storage-s3-dynamodb 2.4 to 4.4, on S3A, whose
create(overwrite=false) looks and then writes without a condition.
"""

import time
from dataclasses import dataclass

from tests.builders.delta import incomplete_item
from tests.schedules import deltas
from tests.schedules.lake import Item
from tests.schedules.ledger import Breach, data_of, entry_of
from tests.schedules.place import BUCKET, LOG, LOG_STORE, LOG_STORES, PATH, published
from tests.schedules.world import Program, Statement, World

LIFE = 86_400
MOST_CONFLICTS = 3


@dataclass(frozen=True)
class LogStoreWriter:
    """One Spark application: `path` is how it spells the table, `store` the DynamoDB table of its settings.

    `life` is `ddb.ttl` in seconds.
    """

    world: World
    path: str = PATH
    store: str = LOG_STORE
    life: int = LIFE

    def commit(self) -> Program:
        """Append once; a conflict makes it try the next version, as Delta does."""
        for _ in range(MOST_CONFLICTS):
            yield from self.refresh()
            yield "look for the newest version"
            version = newest_version(self.world) + 1
            if (yield from self._write(version, self._data(version))):
                return

    def refresh(self) -> Program:
        """`listFrom`: the newest entry is repaired where it is incomplete."""
        yield "look at the newest entry"
        newest = self._newest_entry()
        if newest is not None and newest["complete"] == {"S": "false"}:
            yield from self._fix(newest)

    def _write(self, version: int, data: bytes) -> Statement:
        """`write` with overwrite=false; whether the commit is in."""
        lake = self.world.lake
        yield "look for the file"
        if lake.has(BUCKET, published(version)):
            return False
        if not (yield from self._previous_is_settled(version)):
            return False
        temp = f".tmp/{version:020d}.json.{self.world.unique()}"
        yield "put temp"
        lake.put(BUCKET, LOG + temp, data)
        item = self._item(version, temp)
        yield "put entry"
        if entry_of(lake, version, self.path, self.store) is not None:
            return False
        lake.put_item(self.store, item)
        self._accepted(version, data)
        yield "look before the copy"
        if lake.has(BUCKET, LOG + temp) and not lake.has(BUCKET, published(version)):
            yield "copy"
            lake.put(BUCKET, published(version), data)
            yield "complete"
            lake.put_item(self.store, self._completed(item))
        return True

    def _accepted(self, version: int, data: bytes) -> None:
        """Note the commit, and whether writers use another lock domain than this one."""
        world = self.world
        world.ledger.accept(version, data, "entry")
        domains = {(store, item["tablePath"]["S"]) for store in LOG_STORES for item in world.lake.items(store)}
        if len(domains) > 1:
            world.ledger.breaches.append(Breach("no lock keeps the writers of this table apart", lambda lake: True))

    def _previous_is_settled(self, version: int) -> Statement:
        lake = self.world.lake
        yield "look at the entry before"
        before = entry_of(lake, version - 1, self.path, self.store)
        if before is not None and before["complete"] == {"S": "false"}:
            yield from self._fix(before)
            return True
        return version == 0 or lake.has(BUCKET, published(version - 1))

    def _fix(self, item: Item) -> Program:
        """`fixDeltaLog`: copy where the file is absent, complete without a condition."""
        lake, key = self.world.lake, LOG + item["fileName"]["S"]
        yield "look before the copy"
        if not lake.has(BUCKET, key):
            if not lake.has(BUCKET, LOG + item["tempPath"]["S"]):
                return
            data = lake.get(BUCKET, LOG + item["tempPath"]["S"]).data
            yield "copy"
            lake.put(BUCKET, key, data)
        yield "complete"
        lake.put_item(self.store, self._completed(item))

    def _newest_entry(self) -> Item | None:
        held = [item for item in self.world.lake.items(self.store) if item["tablePath"]["S"] == self.path]
        return held[-1] if held else None

    def _data(self, version: int) -> bytes:
        unique = self.world.unique()
        return deltas.conversion("CREATE TABLE", {}, (), None) if version == 0 else deltas.append(unique)

    def _item(self, version: int, temp: str) -> Item:
        return incomplete_item(version, self.path, tempPath={"S": temp})

    def _completed(self, item: Item) -> Item:
        return {**item, "complete": {"S": "true"}, "expireTime": {"N": str(int(time.time()) + self.life)}}


def newest_version(world: World) -> int:
    """The newest version that a listing shows, -1 of an empty log."""
    names = [key.removeprefix(LOG) for key in world.lake.keys(BUCKET, f"{LOG}0")]
    return max((int(name[:20]) for name in names if name.endswith(".json")), default=-1)


# What befalls a table


def expire(world: World) -> Program:
    """TTL removes every finished entry that has expired, one after the other, oldest first."""
    for item in world.lake.items(LOG_STORE):
        if int(item.get("expireTime", {"N": "9" * 12})["N"]) <= time.time():
            yield "TTL removal"
            world.lake.delete_item(LOG_STORE, {name: item[name] for name in ("tablePath", "fileName")})


def put_past_the_store(world: World) -> Program:
    """A writer that takes no lock commits the next version by a conditional put (deltalake from 1.6.1 on)."""
    yield "look for the newest version"
    version = newest_version(world) + 1
    data = deltas.append(world.unique(), engine="delta-rs:1.6.6")
    yield "foreign put"
    if not world.lake.has(BUCKET, published(version)):
        world.lake.put(BUCKET, published(version), data)
        world.ledger.accept(version, data, "file")
        what = f"version {version} was written without the log store"
        world.ledger.breaches.append(Breach(what, lambda lake: data_of(lake, published(version)) == data))
