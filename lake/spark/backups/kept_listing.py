"""A listing that is kept in the form of an inventory, so that it is asked for once and read as often as is wanted."""

import io
import uuid
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from lake.aws.access import Access
from lake.backup.objects import BucketPrefix
from lake.spark.backups.inventory import STORED, InventoryFiles
from lake.spark.backups.places import s3_of
from lake.spark.backups.tasks import Batches, BatchStep

FILES = "key string, bytes bigint"
MOST_OBJECTS = 500_000


def keep_listing(access: Access, folder: BucketPrefix) -> BatchStep:
    """The stage that writes rows of OBJECTS below `folder`, and tells of the files (FILES), each of many objects."""

    def write(batches: Batches) -> Batches:
        held: list[Any] = []
        for batch in batches:
            held.append(batch)
            if sum(one.num_rows for one in held) >= MOST_OBJECTS:
                yield _put(access, folder, held)
                held = []
        if held:
            yield _put(access, folder, held)

    return write


def kept_inventory(files: Any, folder: BucketPrefix) -> InventoryFiles:
    """The inventory that those FILES are; only those count that a task which ended well has told of."""
    told = files.collect()
    return InventoryFiles(folder.uri, "PARQUET", tuple((folder.bucket, row["key"], row["bytes"]) for row in told))


def _put(access: Access, folder: BucketPrefix, batches: list[Any]) -> Any:
    rows = pa.Table.from_batches(batches)
    body, key = io.BytesIO(), f"{folder.prefix}{uuid.uuid4().hex}.parquet"
    names = [STORED.get(name, name) for name in rows.schema.names]
    parquet.write_table(rows.rename_columns(names), body, row_group_size=100_000, compression="zstd")
    s3_of(access).put(folder.bucket, key, body.getvalue())
    return pa.RecordBatch.from_arrays([pa.array([key]), pa.array([body.tell()])], names=["key", "bytes"])
