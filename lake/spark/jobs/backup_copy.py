"""Copy what a manifest names, on the executors, and report each object in the form of S3 Batch Operations."""

from collections.abc import Mapping
from typing import Any

from lake.aws.copying import PART_BYTES
from lake.spark.backups.copying import COUNTED, Orders, copying, key_ranges
from lake.spark.backups.manifests import planned_beside
from lake.spark.backups.places import access_of, place, slots
from lake.spark.backups.stored import parquet_batches
from lake.spark.backups.tasks import run_tasks
from lake.spark.jobs.report import Report

KIND = "backup_copy"
TASKS_PER_SLOT = 4
LEAST_PER_TASK = 2_000


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Copy what `manifest` {"lane", "bucket", "key", "objects"} names from `source` to `destination`.

    Each copy is pinned by the source's ETag as planned, and never passes through here: S3 copies. The lane "multipart"
    goes by parts of `part_size` bytes. What the destination has with size and ETag is left alone, so that a second run
    goes on where the first ended. `storage_class` and `encryption_key` are the destination's; `token` names the
    report's folder, job-<token>, below the place `report`.

    Returns `done` and `failed`, objects; an object that cannot be copied is a row of the report, no error of the job.
    """
    manifest, access, at_once = params["manifest"], access_of(spark), slots(spark)
    report.step("Read the manifest")
    objects = int(manifest.get("objects") or 0)
    tasks = max(at_once, min(at_once * TASKS_PER_SLOT, objects // LEAST_PER_TASK))
    orders = Orders(
        access,
        planned_beside(manifest["bucket"], manifest["key"]),
        place(params, "source").bucket,
        place(params, "destination"),
        place(params, "report").below(f"job-{params['token']}/results/"),
        str(params.get("storage_class") or ""),
        str(params.get("encryption_key") or ""),
        in_parts=manifest.get("lane") == "multipart",
        part_bytes=int(params.get("part_size") or PART_BYTES),
    )
    ranges = key_ranges(parquet_batches(access, orders.planned, ["key"]), objects, tasks)
    report.step("Copy")
    counted = run_tasks(spark, ranges, copying(orders), COUNTED).collect()
    return {name: sum(row[name] for row in counted) for name in ("done", "failed")}
