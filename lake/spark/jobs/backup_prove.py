"""Prove tables of a backup on the executors, and keep their restore points: many tables at once in each task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from lake.aws.access import Access
from lake.backup.objects import BucketPrefix
from lake.points.keeping import Keeper
from lake.points.proven import line_of
from lake.points.proving import Source, prove_below
from lake.spark.backups.places import access_of, place, s3_of, slots
from lake.spark.backups.tasks import Batches, batches_of, run_tasks
from lake.spark.jobs.report import Report

KIND = "backup_prove"
TASKS_PER_SLOT = 4
BEGIN_SECONDS = 600
"""What is not begun by then is left, so that the job ends before its time, or that of its keys, is up."""
PROVEN = "root string, line string"
"""A table, and what `line_of` says of it; null where it is left to be proven by itself."""


@dataclass(frozen=True, slots=True)
class ProveOrders:
    """Where the backup and its source lie, and for which plan and run points are kept, as `Keeper` has them. `began` is
    a moment before anything is read, `until` when no further table is begun."""

    access: Access
    destination: BucketPrefix
    source_bucket: str
    plan: str
    run: str
    encryption_key: str
    objective: timedelta | None
    began: datetime
    until: datetime


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Prove the tables `roots` of the backup at `destination`, made from the bucket `source_bucket`, "" for none.

    Of each of which something can be restored a point is kept for `plan` and `run`, "" for none, encrypted with
    `encryption_key`. `bucket_owners` are the accounts that have to own the buckets, `began` is now by the clock of
    whoever asks, ISO 8601. Returns `tables`, a line of each, and `left`, the roots of those of which nothing was kept:
    that need more than what lies below them, lack a commit that is older than `objective_hours`, null for any, or were
    not begun within BEGIN_SECONDS.
    """
    roots, parts, hours = list(params["roots"]), TASKS_PER_SLOT * slots(spark), params["objective_hours"]
    orders = ProveOrders(
        replace(access_of(spark), bucket_owners=dict(params["bucket_owners"])),
        place(params, "destination"),
        str(params["source_bucket"]),
        str(params["plan"]),
        str(params["run"]),
        str(params["encryption_key"]),
        None if hours is None else timedelta(hours=hours),
        datetime.fromisoformat(params["began"]),
        datetime.now(UTC) + timedelta(seconds=BEGIN_SECONDS),
    )
    report.step("Prove the tables")
    works = [part for part in (roots[number::parts] for number in range(parts)) if part]
    rows = run_tasks(spark, works, proving(orders), PROVEN).collect()
    return {
        "tables": [row["line"] for row in rows if row["line"] is not None],
        "left": [row["root"] for row in rows if row["line"] is None],
    }


def proving(orders: ProveOrders) -> Callable[[Sequence[str]], Batches]:
    """Prove the tables of these roots (PROVEN)."""

    def prove(roots: Sequence[str]) -> Batches:
        s3 = s3_of(orders.access)
        destination, bucket = orders.destination, orders.source_bucket
        source = Source(s3, bucket, read_at=orders.began) if bucket else None
        keeper = Keeper(s3, destination, bucket, orders.encryption_key, orders.plan, orders.run) if orders.run else None
        tables = prove_below(s3, destination, source, roots, keeper, orders.objective, orders.until)
        said = (None if table is None else line_of(table) for table in tables)
        yield from batches_of(zip(roots, said, strict=True), PROVEN)

    return prove
