"""The jobs of restores: `plan-restore` on the queue aws, and `restore-table` where Spark is warm."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from backups.models import RestorePoint
from backups.restores.actions import (
    PLAN_KIND,
    RESTORE_KIND,
    PlanRestoreParams,
    PlanRestoreResult,
    RestoreParams,
    RestoreResult,
)
from backups.restores.planning import opened_at, plan_opening, refused
from backups.restores.verification import differences, verified
from backups.restores.ways import ways_to_open
from backups.runs.prices import lines
from backups.runs.spark_pipeline import SparkPipeline
from backups.runs.work import RunFailed
from changes.calls import Sending
from changes.carrying_out import Snapshots, carry_out, check_shown, lake_to_change, stopped_in_words, why_moved
from changes.documents import planned_result
from changes.gate import BEFORE_ANY_CHANGE, connection_of
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed
from dashboard.jobs.models import Job, JobState
from dashboard.jobs.registry import job_kind
from lake.aws.access import Lake, open_lake
from lake.delta.uri import TableUri
from lake.points.reading import (
    KeptPoint,
    NotRestorable,
    RestorableVersion,
    point_that_reaches,
    read_point,
    read_version,
    version_at,
)
from lake.points.second_reader import read_by_deltalake
from lake.spark.jobs import read_table

READ, BY_SPARK, BY_DELTALAKE = "Read the backup and plan anew", "Open it by Spark", "Open it by deltalake"
READS_AT_ONCE = 16


@job_kind(PLAN_KIND, queue="aws", verb="backup.prove", changes_lake=False)
def plan_restore(context: JobContext, params: PlanRestoreParams) -> str:
    """Read the backup and plan to open a version; the result is a `PlanRestoreResult`."""
    point = _point(params["point"])
    with open_lake(lake_access(connection_of(context)), parallel=READS_AT_ONCE) as lake:
        read_at, version = timezone.now(), params["version"]
        try:
            with context.step("Read the restore point and list its objects"), ThreadPoolExecutor(READS_AT_ONCE) as pool:
                kept, version = _wanted(lake, point, params)
                found = read_version(lake.s3, kept, version, pool)
        except NotRestorable as reason:
            said = refused(point.table, str(reason), version)
            context.result(planned_result(said, read_at, lake.requests.total))
            return str(reason)
        plan = plan_opening(found, point.plan.encryption_key)
        context.result(planned_result(plan, read_at, lake.requests.total))
    context.result(_told(context.job, found, point.plan.encryption_key))
    return f"Planned: {plan.title}."


@job_kind(RESTORE_KIND, queue="spark", verb="backup.restore")
def restore_table(context: JobContext, params: RestoreParams) -> str:
    """Write the log, then open it by Spark and by deltalake; the result is a `RestoreResult`."""
    point, connection, began = _point(params["point"]), connection_of(context), time.monotonic()
    with lake_to_change(context) as lake:
        with context.step(READ) as step, ThreadPoolExecutor(READS_AT_ONCE) as pool:
            found = _read_again(lake, params, pool)
            plan = plan_opening(found, point.plan.encryption_key)
            check_shown(plan, params["digest"])
            step.then = (*(call.says for call in plan.calls), BY_SPARK, BY_DELTALAKE)
        table = opened_at(found.point, found.state.version).uri.rstrip("/")
        kept = Snapshots(plan, {"point": found.point.uri})
        execution = carry_out(context, plan, kept, Sending(lake, check_cancelled=context.check_cancelled))
        if execution.end is not None:
            raise JobFailed(execution.end.code or "Stopped", stopped_in_words(execution))
        return _verify(context, connection, lake, found, table, began)


def _point(pk: str) -> RestorePoint:
    """Raises JobFailed where a later run has replaced it."""
    point = RestorePoint.objects.select_related("plan").filter(pk=pk).exclude(proof="").first()
    if point is None:
        raise JobFailed("NoSuchPoint", "The restore point is not there any more: choose one of the table's others.")
    return point


def _wanted(lake: Lake, point: RestorePoint, params: PlanRestoreParams) -> tuple[KeptPoint, int]:
    """The point that leads to what was asked for, and its version. Raises NotRestorable."""
    kept, version = read_point(lake.s3, point.proof), params["version"]
    if params["moment"]:
        version = version_at(kept, datetime.fromisoformat(params["moment"]), point.holds_until)
    version = kept.document["version"] if version is None else version
    return point_that_reaches(lake.s3, kept, version), version


def _read_again(lake: Lake, params: RestoreParams, pool: ThreadPoolExecutor) -> RestorableVersion:
    version = params["version"]
    try:
        kept = read_point(lake.s3, params["document"])
        return read_version(lake.s3, kept, kept.document["version"] if version is None else version, pool)
    except NotRestorable as reason:
        why = why_moved(refused("", str(reason)))
        raise JobFailed("Moved", f"{BEFORE_ANY_CHANGE}: {why}") from reason


def _told(job: Job, found: RestorableVersion, key: str) -> PlanRestoreResult:
    number = len(found.log)
    items = lines(settings.BACKUP_PRICES, copies=number, listed=found.state.files, uses_kms=bool(key))
    last = Job.objects.filter(kind=RESTORE_KIND, target_id=job.target_id, state=JobState.SUCCEEDED)
    took = last.order_by("-finished_at").values_list("result__seconds", flat=True).first()
    return {
        "document": found.point.uri,
        "version": found.state.version,
        "to": opened_at(found.point, found.state.version).uri.rstrip("/"),
        "objects": number,
        "log_bytes": sum(one.size for one in found.log),
        "usd": str(sum((one.usd for one in items), Decimal(0))),
        "seconds": None if took is None else round(took),
    }


def _verify(
    context: JobContext, connection: Connection, lake: Lake, found: RestorableVersion, table: str, began: float
) -> str:
    """Let both readers open it. Raises JobFailed where one sees another table than was proven."""
    with context.step(BY_SPARK) as step:
        try:
            spark = SparkPipeline(connection, lake, context).run(read_table.KIND, {"table": table})
        except (RunFailed, JobFailed) as refusal:
            told = f"The log is written to {table}, and Spark did not open it: {refusal}"
            raise JobFailed(refusal.code, told) from refusal
        step.detail = f"Version {spark['version']:,}, {spark['files']:,} data files, {spark['rows']:,} rows."
    with context.step(BY_DELTALAKE) as step:
        deltalake = read_by_deltalake(TableUri.parse(table).url, _storage_options(connection, lake))
        reason = deltalake.get("reason", "")
        step.detail = (
            f"It did not: {reason}" if reason else f"{deltalake['files']:,} data files, {deltalake['rows']:,} rows."
        )
        step.state = "skipped" if reason else "done"
    seen = verified(found, spark, deltalake)
    context.result(RestoreResult(to=table, verified=seen, seconds=round(time.monotonic() - began, 1)))
    if wrong := differences(found, spark, deltalake):
        raise JobFailed("NotProven", f"The log is written to {table}, and is not what was proven: {' '.join(wrong)}")
    shown_at = reverse("backup-restore-plan", args=[context.job.target_id, context.job.params["planned_by"]])
    context.result(RestoreResult(ways=ways_to_open(table, with_deltalake=not reason), shown_at=shown_at))
    readers = "Spark; deltalake did not read it" if reason else "Spark and deltalake"
    rows = f"{spark['rows']:,} row{'' if spark['rows'] == 1 else 's'}"
    return f"Version {found.state.version:,} opens at {table}, read-only: {rows}, read by {readers}."


def _storage_options(connection: Connection, lake: Lake) -> dict[str, str]:
    key, secret, token = lake.keys()
    options: dict[str, Any] = {
        "AWS_REGION": connection.region,
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_SESSION_TOKEN": token,
        "AWS_ENDPOINT_URL": connection.endpoint_url.rstrip("/"),
        "AWS_ALLOW_HTTP": "true" if connection.endpoint_url.startswith("http://") else "",
    }
    return {name: value for name, value in options.items() if value}
