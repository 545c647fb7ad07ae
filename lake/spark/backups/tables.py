"""The Delta tables of a source: their roots, found by their logs, and the innermost table of each object."""

import io
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet
from pyspark.sql import functions as sql

from lake.aws.access import Access
from lake.backup.objects import BucketPrefix
from lake.spark.backups.places import s3_of
from lake.spark.backups.tasks import Batches, BatchStep

ROOT_COUNTS = "root string, objects bigint"
"""How many objects were seen in the log of a table; those of no log have a null root."""
_KEPT = "key string, objects bigint, tables bigint"
_LOG = "/_delta_log/"


@dataclass(frozen=True, slots=True)
class Roots:
    """Where the roots of all `tables` are kept, and how many `objects` the source has; without any, `key` is ""."""

    bucket: str
    key: str
    objects: int
    tables: int

    def frame(self, spark: Any) -> Any:
        """The roots as rows of `root`."""
        return spark.read.schema("root string").parquet(f"s3a://{self.bucket}/{self.key}")


def count_roots(batches: Batches) -> Batches:
    """The stage that turns a task's keys into rows of ROOT_COUNTS, one for each table whose log it saw."""
    counts: Counter[str | None] = Counter()
    for batch in batches:
        keys = batch["key"]
        at_top = pc.starts_with(keys, _LOG[1:])
        logs = keys.filter(pc.or_(at_top, pc.match_substring(keys, _LOG)))
        counts[None] += len(keys) - len(logs)
        # The first log in a key is that of the outermost table, whose files all below are.
        roots = pc.replace_substring_regex(logs, "^_delta_log/(?s:.*)|/_delta_log/(?s:.*)", "")
        counts.update({one["values"]: one["counts"] for one in pc.value_counts(roots).to_pylist()})
    yield pa.RecordBatch.from_arrays(
        [pa.array(counts.keys(), pa.string()), pa.array(counts.values(), pa.int64())], names=["root", "objects"]
    )


def keep_roots(counts: Any, access: Access, folder: BucketPrefix) -> Roots:
    """Write the roots, as many as there are tables, below `folder`; `counts` are rows of ROOT_COUNTS of all tasks."""

    def write(batches: Batches) -> Batches:
        held = list(batches)
        roots = pc.drop_null(pa.concat_arrays([batch["root"] for batch in held])) if held else pa.array([], pa.string())
        key, body = f"{folder.prefix}{uuid.uuid4().hex}.parquet", io.BytesIO()
        parquet.write_table(pa.table({"root": roots}), body)
        s3_of(access).put(folder.bucket, key, body.getvalue())
        objects = sum(pc.sum(batch["objects"]).as_py() or 0 for batch in held)
        told = [pa.array([value]) for value in (key, objects, len(roots))]
        yield pa.RecordBatch.from_arrays(told, names=["key", "objects", "tables"])

    whole = counts.groupBy("root").agg(sql.sum("objects").alias("objects"))
    kept = whole.coalesce(1).mapInArrow(write, _KEPT).first()
    return Roots(folder.bucket, *kept) if kept else Roots(folder.bucket, "", 0, 0)


def with_tables(access: Access, roots: Roots) -> BatchStep:
    """Add `table`, the prefix of the innermost Delta table around each key ("" at the bucket's root), null outside."""

    def add(batches: Batches) -> Batches:
        for rows in batches:
            depths = _by_depth(access, roots.bucket, roots.key)
            yield rows.append_column("table", tables_of(rows["key"], depths))

    return add


@lru_cache(maxsize=4)
def _by_depth(access: Access, bucket: str, key: str) -> Mapping[int, Any]:
    """The roots by their number of path parts, the deepest first."""
    body = s3_of(access).get(bucket, key).data
    return by_depth(parquet.read_table(io.BytesIO(body), use_threads=False)["root"].to_pylist())


def by_depth(roots: list[str]) -> dict[int, Any]:
    """Arrays of roots by their number of path parts, the deepest first; the bucket's own has none."""
    found: dict[int, list[str]] = {}
    for root in roots:
        found.setdefault(root.count("/") + 1 if root else 0, []).append(root)
    return {depth: pa.array(found[depth]) for depth in sorted(found, reverse=True)}


def tables_of(keys: Any, roots: Mapping[int, Any]) -> Any:
    """The innermost root above each key, or null; `roots` are those of `by_depth`."""
    tables = pa.nulls(len(keys), pa.string())
    for depth, at_depth in roots.items():
        if not depth:
            return pc.coalesce(tables, "")
        # The slash behind it: the root itself may be a key too, which then is a file beside the table.
        parts = pc.struct_field(pc.extract_regex(keys, f"^(?P<part>[^/]*(?:/[^/]*){{{depth - 1}}})/"), "part")
        tables = pc.coalesce(tables, at_depth.take(pc.index_in(parts, value_set=at_depth)))
    return tables
