"""Plans and runs in every state, as rows of the database, for pages."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from backups.models import CopyJob, FailureGroup, Plan, Run, RunStage, Stage
from dashboard.connections.models import Connection

NOW = timezone.now()
_LINES = (
    ("Batch jobs", 1, "job", "0.25", "0.250000"),
    ("Copies", 41_182, "thousand requests", "0.005", "86.270000"),
    ("Listing", 413, "thousand requests", "0.005", "0.002065"),
)
ESTIMATE = [
    {"item": item, "count": count, "unit": unit, "price": price, "usd": usd} for item, count, unit, price, usd in _LINES
]


ORDERS = {
    "table": "sales/orders",
    "objects": 300_000,
    "bytes": 400_000_000_000,
    "copy": 29_990,
    "multipart": 10,
    "archived": 0,
    "too_new": 0,
    "already_there": 270_000,
}


def connection(name: str = "prod") -> Connection:
    return Connection.objects.get_or_create(name=name, defaults={"region": "eu-west-1"})[0]


def make_plan(name: str = "lake-nightly", **changes: Any) -> Plan:
    values: dict[str, Any] = {
        "connection": connection(),
        "vault_connection": connection("vault"),
        "source": "s3a://acme-lake-prod/warehouse/",
        "destination": f"s3a://acme-vault/{name}/",
        "inventory": "s3a://acme-manifests/acme-lake-prod/daily/",
        "schedule": "0 3 * * *",
        "cost_ceiling_usd": Decimal("40.00"),
        "keep": {"daily": 14},
    }
    return Plan.objects.create(name=name, **(values | changes))


def make_run(plan: Plan, state: str = "complete", *, age: timedelta = timedelta(hours=5), **changes: Any) -> Run:
    """A run of that age; a finished one took two hours and copied what it planned."""
    began = NOW - age
    values: dict[str, Any] = {
        "state": state,
        "stage": Stage.values[REACHED.get(state, 4)],
        "requested_by_name": "schedule",
        "started_at": began,
        "cut_off": began - timedelta(hours=1),
        "listed": 412_604,
        "objects_planned": 41_182,
        "bytes_planned": 52_000_000_000,
        "estimate_usd": Decimal("86.57"),
        "estimate_lines": ESTIMATE,
        "ceiling_usd": plan.cost_ceiling_usd,
        "tables": {"count": 3, "largest": [ORDERS]},
    }
    if state in {"complete", "complete_with_gaps"}:
        values |= {
            "sentence": "412,604 of 412,604 objects are at the destination with their size and ETag or checksum.",
            "copied": 41_182,
            "already_there": 371_422,
            "bytes_copied": 52_000_000_000,
            "actual_usd": Decimal("86.40"),
            "tables": values["tables"] | {"points": {"proven": 3}},
            "is_proof": True,
            "holds_until": values["cut_off"],
        }
    if state in {"complete", "complete_with_gaps", "failed", "cancelled"}:
        values["finished_at"] = began + timedelta(hours=2)
    run = Run.objects.create(plan=plan, **(values | changes))
    Run.objects.filter(pk=run.pk).update(created_at=began)
    make_stages(run, began)
    return run


REACHED = {"waiting_for_inventory": 0, "waiting_for_approval": 2, "running": 3, "failed": 3, "cancelled": 3}
HERE = {"waiting_for_inventory": "waiting", "waiting_for_approval": "waiting", "failed": "failed", "running": "running"}


def make_stages(run: Run, began: datetime) -> None:
    reached = REACHED.get(run.state, 5)
    for number, name in enumerate(Stage.values):
        state = "done" if number < reached else HERE.get(run.state, "next") if number == reached else "next"
        started = began + timedelta(minutes=10 * number) if number <= reached else None
        finished = began + timedelta(minutes=10 * number + 9) if number < reached else None
        more = {"done": 20_500, "total": 41_182} if name == Stage.COPY and state == "running" else {}
        RunStage.objects.create(
            run=run, number=number, name=name, state=state, started_at=started, finished_at=finished, **more
        )


def make_copy_job(run: Run, **changes: Any) -> CopyJob:
    values: dict[str, Any] = {
        "number": run.copy_jobs.count() + 1,
        "lane": "copy",
        "engine": "s3-batch",
        "token": f"{run.pk}-{run.copy_jobs.count()}",
        "manifest_bucket": "acme-vault",
        "manifest_key": "_levee/manifest.csv",
        "report_prefix": "_levee/report/",
        "aws_job_id": "0f2d7a4e-8f6d-4ab6-9d26-0b8e7a9c1d11",
        "status": "Active",
        "done": 20_500,
        "failed": 3,
        "total": 41_182,
    }
    return CopyJob.objects.create(run=run, **(values | changes))


def make_gaps(plan: Plan, **changes: Any) -> Run:
    said = "412,522 of 412,604 objects are at the destination. 82 are not: see the causes."
    run = make_run(
        plan, "complete_with_gaps", sentence=said, copied=41_100, vanished=80, failed=2, worth_retry=2, **changes
    )
    FailureGroup.objects.create(
        run=run,
        outcome="vanished",
        code="NoSuchKey",
        cause="Removed by VACUUM or log clean-up before it was copied. Nothing to do: the next run takes newer files.",
        object_count=80,
        bytes=1_000_000,
        tables=3,
        examples=["warehouse/sales/orders/part-0001.parquet"],
    )
    FailureGroup.objects.create(
        run=run,
        outcome="failed",
        code="SlowDown",
        cause="Throttled by S3. Try again.",
        object_count=2,
        bytes=2_000,
        tables=1,
        worth_retry=True,
        examples=["warehouse/<b>bold</b>.parquet"],
    )
    return run
