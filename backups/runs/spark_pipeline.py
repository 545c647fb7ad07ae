"""The data pipeline, as jobs of the one warm Spark worker."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from backups.models import CopyJob
from backups.runs.ports import Planned, ProofWanted, ProvenTables, Reconciled, Reports, UnsafeObjects, Wanted
from backups.runs.work import RunFailed, report_of
from dashboard.connections.models import Connection
from dashboard.jobs.context import SPARK_LOG, JobCancelled, JobContext, JobFailed
from dashboard.spark.warm import spark
from lake.aws.access import Lake
from lake.aws.batch_operations import JobStatus
from lake.backup.batch_manifest import Manifest
from lake.backup.objects import place_of
from lake.points.proven import read_line
from lake.spark.errors import SparkRefused
from lake.spark.messages import SparkJob, SparkProgress

CLOCKS_APART = timedelta(seconds=2)
"""How far the times may lie apart that S3 gives to two objects written one after the other."""


class SparkPipeline:
    """Plans, copies, reconciles and proves on Spark, through the connection that writes the copy."""

    def __init__(self, connection: Connection, vault: Lake, context: JobContext, log_store: str = "") -> None:
        self._connection = connection
        self._log_store = log_store
        self._vault = vault
        self._context = context

    def plan(self, wanted: Wanted) -> Planned:
        said = self.run("backup_plan", {**_document(wanted), "copy_limit": settings.BACKUP_COPY_LIMIT_BYTES})
        return Planned(**{**said, "manifests": tuple(Manifest(**one) for one in said["manifests"])})

    def copy(self, row: CopyJob) -> JobStatus:
        """What is right at the destination is not copied again.

        Raises RunFailed where the manifest is not the one that was counted, estimated and allowed.
        """
        plan = row.run.plan
        self.require_unchanged(row.manifest)
        params = {
            "manifest": asdict(row.manifest),
            "source": asdict(place_of(plan.source)),
            "destination": asdict(place_of(row.run.destination)),
            "report": asdict(report_of(row)),
            "token": row.token,
            "storage_class": plan.storage_class,
            "encryption_key": plan.encryption_key,
        }
        said = self.run("backup_copy", params)
        return JobStatus("", "Complete", row.total, int(said["done"]), int(said["failed"]))

    def reconcile(
        self, wanted: Wanted, planned: Mapping[str, Any], reports: Reports, copied_until: datetime | None = None
    ) -> Reconciled:
        params = {
            **_document(wanted),
            "planned": dict(planned),
            "reports": [asdict(one) for one in reports.places],
            "report_files": [asdict(one) for one in reports.files],
            "reports_whole": not reports.doubts,
            "copied_until": copied_until.isoformat() if copied_until else "",
        }
        said = self.run("backup_reconcile", params)
        return Reconciled(**{**said, "groups": tuple(UnsafeObjects(**one) for one in said["groups"])})

    def prove(self, wanted: ProofWanted, roots: Sequence[str]) -> ProvenTables:
        owners = self._vault.s3.owners_of(wanted.destination.bucket, wanted.source_bucket)
        began = timezone.now().isoformat()
        params = {**asdict(wanted), "roots": list(roots), "bucket_owners": owners, "began": began}
        said = self.run("backup_prove", params)
        return ProvenTables(tuple(map(read_line, said["tables"])), tuple(said["left"]))

    def require_unchanged(self, manifest: Manifest) -> None:
        """S3 Batch Operations pins a manifest by its ETag; so does this, and by their order the rows beside it."""
        head = self._vault.s3.head
        lines = head(manifest.bucket, manifest.key)
        rows = head(manifest.bucket, f"{manifest.key.removesuffix('.csv')}.parquet")
        if lines and rows and lines.etag == manifest.etag and rows.modified_at <= lines.modified_at + CLOCKS_APART:
            return
        raise RunFailed(
            "ManifestChanged",
            f"The manifest s3://{manifest.bucket}/{manifest.key} is not there as it was planned: nothing more is "
            "copied from it. See who may write there, and start another run.",
        )

    def run(self, kind: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """One job of the worker. Raises RunFailed where it refused, JobFailed, JobCancelled, AwsError."""

        def tell(progress: SparkProgress) -> None:
            for line in progress.log:
                self._context.log(line, step=SPARK_LOG)
            if progress.total:
                self._context.progress(progress.done, progress.total)

        try:
            port = spark.borrow(self._connection, self._vault, self._log_store)
        except SparkRefused as refusal:
            raise JobFailed("SparkRefused", str(refusal)) from refusal
        outcome = port.run(SparkJob(kind, params), tell, check=self._context.check_cancelled)
        if outcome.state == "cancelled":
            raise JobCancelled
        if outcome.state == "lost":
            why = outcome.error.sentence if outcome.error else "Spark ended by itself."
            raise JobFailed("SparkEnded", f"{why} What lies at the destination as it should is not copied again.")
        if outcome.error is not None:
            if outcome.began and outcome.error.type == SparkRefused.__name__:
                raise RunFailed(outcome.error.type, outcome.error.sentence)
            raise JobFailed(outcome.error.condition or outcome.error.type, outcome.error.sentence)
        return outcome.result


def _document(wanted: Wanted) -> dict[str, object]:
    return {**asdict(wanted), "cut_off": wanted.cut_off.isoformat()}
