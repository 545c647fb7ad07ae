"""A model of delta-rs' DynamoDB log store (deltalake up to 1.6.0), request by request.

Source: `S3DynamoDbLogStore` of the crate deltalake-aws. One temp file in the log itself serves every try of a commit
and is moved; an entry is made only where none is, and completed only while it is incomplete.
"""

from tests.schedules import deltas
from tests.schedules.lake import Item
from tests.schedules.ledger import entry_of
from tests.schedules.log_store import MOST_CONFLICTS, LogStoreWriter, newest_version
from tests.schedules.place import BUCKET, LOG
from tests.schedules.world import Program


class DeltaRsWriter(LogStoreWriter):
    """One process of deltalake; it repairs what Spark left, and Spark repairs what it left."""

    def commit(self) -> Program:
        lake, temp = self.world.lake, f"_commit_{self.world.unique()}.json.tmp"
        data = deltas.append(self.world.unique(), engine="delta-rs:1.6.0")
        yield "put temp"
        lake.put(BUCKET, LOG + temp, data)
        for _ in range(MOST_CONFLICTS):
            yield from self.refresh()
            yield "look for the newest version"
            version = newest_version(self.world) + 1
            yield "put entry"
            if entry_of(lake, version, self.path, self.store) is None:
                lake.put_item(self.store, self._item(version, temp))
                self._accepted(version, data)
                yield from self._fix(self._item(version, temp))
                return
        yield "remove temp"
        lake.delete(BUCKET, LOG + temp)

    def _fix(self, item: Item) -> Program:
        """`repair_entry`: rename, which is a copy and a deletion; a temp file that is gone counts as moved."""
        lake, key, temp = self.world.lake, LOG + item["fileName"]["S"], LOG + item["tempPath"]["S"]
        if lake.has(BUCKET, temp):
            data = lake.get(BUCKET, temp).data
            yield "copy"
            lake.put(BUCKET, key, data)
            yield "remove temp"
            lake.delete(BUCKET, temp)
        yield "complete"
        held = lake.get_item(self.store, {name: item[name] for name in ("tablePath", "fileName")})
        if held is not None and held["complete"] == {"S": "false"}:
            lake.put_item(self.store, self._completed(held))
