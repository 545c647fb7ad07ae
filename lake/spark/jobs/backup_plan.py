"""Plan a backup: what an inventory or a listing holds, what of it is to be copied, and manifests that say so."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from lake.aws.access import Access
from lake.delta.live_files import CLOCKS_APART
from lake.delta.state import EPOCH
from lake.spark.backups.difference import without_pool
from lake.spark.backups.inventory import read_inventory
from lake.spark.backups.keys import table_roots, with_tables
from lake.spark.backups.listing import headed, listed
from lake.spark.backups.live import Logs
from lake.spark.backups.manifests import (
    MOST_OBJECTS,
    PlannedFile,
    planned_files,
    read_manifest,
    write_manifests,
    write_planned,
)
from lake.spark.backups.places import Place, access_of, place, slots
from lake.spark.backups.selection import LEFT_OUT, live_only
from lake.spark.backups.tuning import bulk_settings, divide
from lake.spark.errors import SparkRefused
from lake.spark.jobs.parameters import text
from lake.spark.jobs.report import Report
from lake.spark.messages import SparkJob

KIND = "backup_plan"
COPY_LIMIT = 5 * 1024**3
LARGEST_TABLES = 50
UNLISTED = ("storage_class", "access_tier", "encryption_status")
LANES = ("copy", "multipart")
LEAST_OBJECTS = 500_000
ARCHIVE_CLASSES = ("GLACIER", "DEEP_ARCHIVE")
ARCHIVE_TIERS = ("ARCHIVE", "DEEP_ARCHIVE", "ARCHIVE_ACCESS", "DEEP_ARCHIVE_ACCESS")
"""INTELLIGENT_TIERING's tiers that have to be restored first; ARCHIVE_INSTANT_ACCESS is read at once."""


@dataclass(frozen=True, slots=True)
class _Work:
    """One planning, and where it writes: a folder of this attempt's own, as nothing is overwritten."""

    spark: Any
    access: Access
    source: Place
    destination: Place
    folder: Place
    attempt: str
    parallel: int

    def below(self, name: str) -> Place:
        return Place(self.folder.bucket, f"{self.folder.prefix}{name}/{self.attempt}/")


def job(params: Mapping[str, Any]) -> SparkJob:
    """Ask for it by the parameters that `run` names; SparkRefused where they cannot be met."""
    for name in ("source", "destination", "folder"):
        place(params, name)
    _require_selection(params)
    _cut_off(params)
    return SparkJob(KIND, dict(params))


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Plan, and write what was planned below `folder`: Parquet of all objects, and a manifest or more per lane.

    `source`, `destination`, `folder` and optionally `pool` are {"bucket", "prefix"}; `inventory_bucket` and
    `inventory_manifest` name an inventory, without which the source is listed; `retry` {"bucket", "key"} names a
    manifest that takes the place of both. `cut_off` is ISO 8601: what is newer is too new. `selection` is "all" or
    "incremental", which leaves out what the destination has with size and ETag, but never a Delta log. An object above
    `copy_limit` bytes goes to the lane "multipart", others to "copy".

    `files` is "all" or "live": then of each table whose log can be read, beside the log itself, only what was live at
    some moment of the `window_hours` before the cut-off, or since; what is left out counts as not listed.

    `pool` is where an earlier reconciliation wrote its outcomes (its `facts.reconciled`): what it proved counts as
    there as long as the destination's ETag is the same, also where that differs from the source's, as after a copy in
    parts or to another encryption key.

    Returns `listed`, `already_there`, `too_new`, `archived`, `manifests`, `tables` and `facts`, which reconciling wants
    back; `listed` is the sum of the others with the manifests' objects. For live files `tables` has `left_out` also,
    `unread` tables, which are copied whole, and `references` to files by absolute paths.
    """
    _require_selection(params)
    with bulk_settings(spark):
        work = _Work(
            spark,
            access_of(spark),
            place(params, "source"),
            place(params, "destination"),
            place(params, "folder"),
            uuid.uuid4().hex[:12],
            slots(spark),
        )
        return _plan(work, params, report)


def _plan(work: _Work, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    began = datetime.now(UTC)
    report.step("Read the inventory" if params.get("inventory_manifest") else "List the source")
    objects = _objects(work, params)
    report.step("Find the tables")
    found = table_roots(objects).cache()
    try:
        roots = found.where("root is not null").select("root", "depth")
        count = int(found.selectExpr("sum(objects)").first()[0] or 0)
        tasks = _tasks(count, work.parallel)
        divide(work.spark, count)
        laned = _with_lanes(with_tables(objects, roots), params)
        told_live: dict[str, Any] = {}
        if params.get("files") == "live" and not params.get("retry"):
            report.step("Read the tables' logs")
            logs = Logs(work.access, work.source.bucket, _live_since(params, began))
            laned, told_live = live_only(laned, roots, logs, work.below("live"), parallel=work.parallel)
        if params.get("selection") == "incremental" and not params.get("retry"):
            laned = without_pool(laned, _pool(work, params), lanes=LANES)
        report.step("Select what to copy")
        planned = work.below("planned")
        most = int(params.get("manifest_objects") or MOST_OBJECTS)
        written = write_planned(laned.coalesce(tasks), work.access, planned, work.below("tables"), most=most)
    finally:
        found.unpersist()
    report.step("Write the manifests")
    files = planned_files(written)
    manifests = [
        manifest.document()
        for lane in LANES
        for manifest in write_manifests(
            work.spark,
            work.access,
            work.source.bucket,
            [file for file in files if file.lane == lane],
            work.below(f"manifest/{lane}"),
            most=most,
        )
    ]
    lanes = _by_lane(files)
    counts = {lane: lanes.get(lane, (0, 0))[0] for lane in ("already_there", "too_new", "archived")}
    facts = {
        "planned": {"bucket": planned.bucket, "files": [file.key for file in files if file.lane != LEFT_OUT]},
        "began": began.isoformat(),
        "pool": dict(params.get("pool") or {}),
    }
    listed_all = sum(objects for lane, (objects, _) in lanes.items() if lane != LEFT_OUT)
    told = _tables(written) | _left_out(lanes, told_live)
    return {"listed": listed_all, **counts, "manifests": manifests, "tables": told, "facts": facts}


def _tasks(objects: int, parallel: int) -> int:
    """How many tasks write: whole rounds of all slots, but each with enough for a manifest that is worth a job."""
    wanted = -(-objects // MOST_OBJECTS)
    rounds = -(-wanted // parallel) * parallel
    return max(1, wanted, min(rounds, objects // LEAST_OBJECTS))


def _objects(work: _Work, params: Mapping[str, Any]) -> Any:
    from pyspark.sql import functions as sql

    retry, manifest = params.get("retry") or {}, str(params.get("inventory_manifest") or "")
    if manifest and not retry:
        return read_inventory(work.spark, text(params, "inventory_bucket"), manifest, work.source.prefix)
    if retry:
        rows = read_manifest(work.spark, str(retry["bucket"]), str(retry["key"]))
        found = headed(rows.repartition(work.parallel), work.access, work.source.bucket)
    else:
        found = listed(work.spark, work.access, work.source, parallel=work.parallel)
    unknown = (
        sql.lit(None).cast("string").alias(name) for name in ("storage_class", "access_tier", "encryption_status")
    )
    # A listing is asked for once, however often its rows are read afterwards.
    kept = work.below("listing").uri()
    found.select("*", *unknown).write.parquet(kept)
    return work.spark.read.parquet(kept)


def _with_lanes(objects: Any, params: Mapping[str, Any]) -> Any:
    """Add `lane`; archived goes before too_new, as it has to be restored whatever its age."""
    from pyspark.sql import functions as sql

    archived = sql.col("storage_class").isin(*ARCHIVE_CLASSES) | sql.col("access_tier").isin(*ARCHIVE_TIERS)
    limit = int(params.get("copy_limit") or COPY_LIMIT)
    lane = (
        sql.when(sql.coalesce(archived, sql.lit(False)), sql.lit("archived"))
        .when(sql.col("modified_at") > sql.lit(_cut_off(params)), sql.lit("too_new"))
        .when(sql.col("size") > limit, sql.lit("multipart"))
        .otherwise(sql.lit("copy"))
    )
    return objects.withColumn("lane", lane).drop("storage_class", "access_tier")


def _pool(work: _Work, params: Mapping[str, Any]) -> Any:
    """What the destination has, by source keys: `pool_key`, `pool_size` and the `pool_etag` that the source has."""
    from pyspark.sql import functions as sql

    there = listed(work.spark, work.access, work.destination, parallel=work.parallel)
    key = sql.substring(sql.col("key"), sql.lit(len(work.destination.prefix) + 1), sql.length("key"))
    own = there.select(key.alias("pool_key"), sql.col("size").alias("pool_size"), sql.col("etag").alias("pool_etag"))
    if work.source.prefix:
        own = own.where(sql.col("pool_key").startswith(work.source.prefix))
    if not params.get("pool"):
        return own
    proved = work.spark.read.parquet(place(params, "pool").uri()).where(
        sql.col("outcome").isin("copied", "already_there") & (sql.col("etag") != sql.col("destination_etag"))
    )
    held = own.join(
        proved.select("key", "size", "etag", "destination_etag"),
        (own["pool_key"] == proved["key"])
        & (own["pool_size"] == proved["size"])
        & (own["pool_etag"] == proved["destination_etag"]),
    )
    return own.union(held.select("pool_key", "pool_size", proved["etag"].alias("pool_etag")))


def _by_lane(files: Iterable[PlannedFile]) -> dict[str, tuple[int, int]]:
    """Objects and bytes by lane."""
    lanes: dict[str, tuple[int, int]] = {}
    for file in files:
        objects, size = lanes.get(file.lane, (0, 0))
        lanes[file.lane] = (objects + file.objects, size + file.bytes)
    return lanes


def _tables(written: Any) -> dict[str, Any]:
    """How many tables there are, and the largest by bytes with their objects by lane; `written` is of WRITTEN."""
    from pyspark.sql import functions as sql

    named = written.where(sql.col("table").isNotNull() & (sql.col("lane") != LEFT_OUT))
    by_lane = (
        sql.sum(sql.when(sql.col("lane") == lane, sql.col("objects")).otherwise(0)).alias(lane)
        for lane in (*LANES, "archived", "too_new", "already_there")
    )
    whole = named.groupBy("table").agg(sql.sum("objects").alias("objects"), sql.sum("bytes").alias("bytes"), *by_lane)
    largest = whole.orderBy(sql.desc("bytes"), "table").limit(LARGEST_TABLES).collect()
    return {"count": int(whole.count()), "largest": [row.asDict() for row in largest]}


def _left_out(lanes: Mapping[str, tuple[int, int]], told: Mapping[str, Any]) -> dict[str, Any]:
    if not told:
        return {}
    objects, size = lanes.get(LEFT_OUT, (0, 0))
    return {"left_out": {"objects": objects, "bytes": size}, **told}


def _live_since(params: Mapping[str, Any], began: datetime) -> datetime:
    """The moment since which files count that were live; what was so at the cut-off was so within the window."""
    try:
        window = timedelta(hours=int(params.get("window_hours") or 0))
        return max(min(_cut_off(params), began) - window - CLOCKS_APART, EPOCH)
    except OverflowError:
        return EPOCH


def _cut_off(params: Mapping[str, Any]) -> datetime:
    written = text(params, "cut_off")
    try:
        moment = datetime.fromisoformat(written)
    except ValueError as error:
        raise SparkRefused(f"The cut-off {written!r} is no moment in ISO 8601: write 2026-11-20T00:00:00+00:00.") from (
            error
        )
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _require_selection(params: Mapping[str, Any]) -> None:
    if params.get("selection", "all") not in {"all", "incremental"}:
        raise SparkRefused(f"The selection {params['selection']!r} is unknown: write all or incremental.")
    if params.get("files", "all") not in {"all", "live"}:
        raise SparkRefused(f"The files {params['files']!r} are unknown: write all or live.")
