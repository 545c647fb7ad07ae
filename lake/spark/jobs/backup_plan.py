"""Plan a backup: what an inventory or a listing holds, what of it is to be copied, and manifests that say so."""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from pyspark.sql import functions as sql

from lake.aws.access import Access
from lake.aws.copying import COPY_LIMIT
from lake.backup.objects import BucketPrefix
from lake.delta.live_files import CLOCKS_APART
from lake.delta.state import EPOCH
from lake.spark.backups.inventory import (
    COLUMNS,
    FILES,
    InventoryFiles,
    inventory_batches,
    keep_listing,
    kept_inventory,
    read_inventory,
)
from lake.spark.backups.listing import heads, listed
from lake.spark.backups.live import Logs
from lake.spark.backups.manifests import LANES, LEFT_OUT, MOST_OBJECTS, PlannedFile, write_manifests
from lake.spark.backups.outcomes import SAFE, WORTH_RETRY
from lake.spark.backups.places import access_of, place, slots
from lake.spark.backups.planned import PLANNED, WRITTEN, Planning, kept, planned_files, with_lanes, write_planned
from lake.spark.backups.selection import live_only, without_pool
from lake.spark.backups.tables import ROOT_COUNTS, Roots, count_roots, keep_roots, with_tables
from lake.spark.backups.tasks import Batches, Share, balanced, run_tasks, then
from lake.spark.backups.tuning import BULK, divide, require_room, set_while
from lake.spark.jobs.report import Report

KIND = "backup_plan"
LARGEST_TABLES = 50
LEAST_OBJECTS = 500_000
TASKS_PER_SLOT = 2
"""So that a task which has more to do than others holds nobody up for long."""


@dataclass(frozen=True, slots=True)
class _Work:
    """One planning by the parameters of `run`, which writes to a folder of its own, as nothing is overwritten."""

    spark: Any
    params: Mapping[str, Any]
    access: Access
    parallel: int
    attempt: str
    began: datetime

    @property
    def source(self) -> BucketPrefix:
        return place(self.params, "source")

    @property
    def cut_off(self) -> datetime:
        return datetime.fromisoformat(self.params["cut_off"])

    def below(self, name: str) -> BucketPrefix:
        return place(self.params, "folder").below(f"{name}/{self.attempt}/")


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Plan, and write what was planned below `folder`: Parquet of all objects, and a manifest or more per lane.

    `source`, `destination`, `folder` and optionally `pool` are {"bucket", "prefix"}; `inventory_bucket` and
    `inventory_manifest` name an inventory, without which the source is listed; `retry` {"bucket", "prefix"} is where an
    earlier reconciliation wrote its outcomes: what of them is worth another attempt takes the place of both. `cut_off`
    is ISO 8601: what is newer is too new. `selection` is "all" or "incremental", which leaves out what the destination
    has with size and ETag, but never a Delta log. The hint at a log's last checkpoint counts as not listed. An object
    above `copy_limit` bytes goes to the lane "multipart", others to "copy".

    `files` is "all" or "live": then of each table whose log can be read, beside the log itself, only what was live at
    some moment of the `window_hours` before the cut-off, or since; what is left out counts as not listed.

    `pool` is where an earlier reconciliation wrote its outcomes (its `facts.reconciled`): what it proved counts as
    there as long as the destination's ETag is the same, also where that differs from the source's, as after a copy in
    parts or to another encryption key.

    Returns `listed`, `already_there`, `too_new`, `archived`, `manifests`, `tables` and `facts`, which reconciling wants
    back; `listed` is the sum of the others with the manifests' objects. For live files `tables` has `left_out` also,
    `unread` tables, which are copied whole, and `references` to files by absolute paths.
    """
    with set_while(spark, BULK):
        work = _Work(spark, params, access_of(spark), slots(spark), uuid.uuid4().hex[:12], datetime.now(UTC))
        return _plan(work, report)


def _plan(work: _Work, report: Report) -> dict[str, object]:
    params = work.params
    report.step("Read the inventory" if params.get("inventory_manifest") else "List the source")
    source = _source(work)
    report.step("Find the tables")
    # All that is grouped and sorted here by Spark is few rows, unless something is joined.
    divide(work.spark, 0)
    counts = run_tasks(work.spark, _few(work, source), then(_reading(work, source, ["key"]), count_roots), ROOT_COUNTS)
    roots = keep_roots(counts, work.access, work.below("roots"))
    most = int(params.get("manifest_objects") or MOST_OBJECTS)
    planning = Planning(work.access, work.source.bucket, work.below("planned"), most)
    rows, told_live = _written(work, source, roots, planning, report)
    written = kept(rows, work.below("tables"))
    report.step("Write the manifests")
    files = planned_files(written)
    manifests = write_manifests(work.spark, work.access, work.source.bucket, files, work.below("manifest"), most=most)
    lanes = _by_lane(files)
    counts_of = {lane: lanes.get(lane, (0, 0))[0] for lane in ("already_there", "too_new", "archived")}
    planned = [file for file in files if file.lane != LEFT_OUT]
    objects = sum(file.objects for file in planned)
    return {
        "listed": objects,
        **counts_of,
        "manifests": [asdict(manifest) for manifest in manifests],
        "tables": {"count": roots.tables, "largest": _largest(written)} | _left_out(lanes, told_live),
        "facts": {
            "planned": {
                "bucket": planning.folder.bucket,
                "files": [file.key for file in planned],
                "objects": objects,
            },
            "roots": {"bucket": roots.bucket, "key": roots.key},
            "began": work.began.isoformat(),
            "pool": dict(params.get("pool") or {}),
        },
    }


def _written(
    work: _Work, source: InventoryFiles, roots: Roots, planning: Planning, report: Report
) -> tuple[Any, dict[str, object]]:
    """The rows of WRITTEN, still to be worked out, and what is told of live files.

    Where every object is copied, tasks read, work and write by themselves; a choice among them takes Spark's joins.
    """
    params = work.params
    lanes = with_lanes(work.cut_off, int(params.get("copy_limit") or COPY_LIMIT))
    laned = then(_reading(work, source, COLUMNS), with_tables(work.access, roots), lanes)
    chooses = {params.get("selection"), params.get("files")} & {"incremental", "live"}
    if params.get("retry") or not chooses:
        report.step("Select what to copy")
        alone = then(laned, write_planned(planning))
        tasks = balanced(source.shares, _tasks(roots.objects, work.parallel))
        return run_tasks(work.spark, tasks, alone, WRITTEN), {}
    require_room(work.spark, roots.objects)
    divide(work.spark, roots.objects)
    selected, told_live = run_tasks(work.spark, _few(work, source), laned, PLANNED), dict[str, object]()
    if "live" in chooses:
        report.step("Read the tables' logs")
        logs = Logs(work.access, work.source.bucket, _live_since(work))
        names = roots.frame(work.spark)
        selected, told_live = live_only(selected, names, logs, work.below("live"), parallel=work.parallel)
    if "incremental" in chooses:
        selected = without_pool(selected, _pool(work), lanes=LANES)
    report.step("Select what to copy")
    return selected.mapInArrow(write_planned(planning), WRITTEN), told_live


def _few(work: _Work, source: InventoryFiles) -> list[list[Share]]:
    return balanced(source.shares, work.parallel * TASKS_PER_SLOT)


def _tasks(objects: int, parallel: int) -> int:
    """How many tasks write: whole rounds of all slots, but each with enough for a manifest that is worth a job."""
    wanted = -(-objects // MOST_OBJECTS)
    rounds = -(-wanted // parallel) * parallel
    return max(1, wanted, min(rounds, objects // LEAST_OBJECTS))


def _source(work: _Work) -> InventoryFiles:
    """The inventory that is named, or one of our own: of a listing, or of objects to be tried again, asked for anew."""
    params = work.params
    retry, manifest = params.get("retry"), params.get("inventory_manifest")
    if manifest and not retry:
        return read_inventory(work.access, params["inventory_bucket"], manifest, work.source.prefix)
    folder = work.below("listing")
    keeping = keep_listing(work.access, folder)
    if retry:
        outcomes = work.spark.read.parquet(place(params, "retry").uri)
        rows = outcomes.where(outcomes["outcome"].isin(*WORTH_RETRY)).select("key").repartition(work.parallel)
        return kept_inventory(rows.mapInArrow(then(heads(work.access, work.source.bucket), keeping), FILES), folder)
    found = listed(work.spark, work.access, work.source, keeping, parallel=work.parallel, schema=FILES)
    return kept_inventory(found, folder)


def _reading(work: _Work, source: InventoryFiles, columns: Sequence[str]) -> Callable[[list[Share]], Batches]:
    return partial(inventory_batches, work.access, source, columns=columns)


def _pool(work: _Work) -> Any:
    """What the destination has, by source keys: `pool_key`, `pool_size` and the `pool_etag` that the source has."""
    destination = place(work.params, "destination")
    there = listed(work.spark, work.access, destination, parallel=work.parallel)
    key = sql.substring(sql.col("key"), sql.lit(len(destination.prefix) + 1), sql.length("key"))
    own = there.select(key.alias("pool_key"), sql.col("size").alias("pool_size"), sql.col("etag").alias("pool_etag"))
    if work.source.prefix:
        own = own.where(sql.col("pool_key").startswith(work.source.prefix))
    if not work.params.get("pool"):
        return own
    proved = work.spark.read.parquet(place(work.params, "pool").uri).where(
        sql.col("outcome").isin(*SAFE) & (sql.col("etag") != sql.col("destination_etag"))
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


def _largest(written: Any) -> list[dict[str, object]]:
    """The largest tables by bytes, with their objects by lane; `written` is of WRITTEN."""
    named = written.where(sql.col("table").isNotNull() & (sql.col("lane") != LEFT_OUT))
    by_lane = (
        sql.sum(sql.when(sql.col("lane") == lane, sql.col("objects")).otherwise(0)).alias(lane)
        for lane in (*LANES, "archived", "too_new", "already_there")
    )
    whole = named.groupBy("table").agg(sql.sum("objects").alias("objects"), sql.sum("bytes").alias("bytes"), *by_lane)
    return [row.asDict() for row in whole.orderBy(sql.desc("bytes"), "table").limit(LARGEST_TABLES).collect()]


def _left_out(lanes: Mapping[str, tuple[int, int]], told: Mapping[str, Any]) -> dict[str, object]:
    if not told:
        return {}
    objects, size = lanes.get(LEFT_OUT, (0, 0))
    return {"left_out": {"objects": objects, "bytes": size}, **told}


def _live_since(work: _Work) -> datetime:
    """The moment since which files count that were live; what was so at the cut-off was so within the window."""
    try:
        window = timedelta(hours=int(work.params.get("window_hours") or 0))
        return max(min(work.cut_off, work.began) - window - CLOCKS_APART, EPOCH)
    except OverflowError:
        return EPOCH
