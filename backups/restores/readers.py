"""What opens a restored table before it is called restored: Spark and deltalake, and Spark to write to it once."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backups.restores.actions import RestoreResult
from backups.restores.planning import RESTORED_FROM, restored_from
from backups.restores.verification import Expected, after_writing, differences, verified
from backups.restores.ways import ways_to_open
from backups.runs.spark_pipeline import SparkPipeline
from backups.runs.work import RunFailed
from changes.calls import Stop
from changes.gate import BEFORE_ANY_CHANGE
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed
from dashboard.jobs.parts import PartContext
from lake.aws.access import Lake
from lake.delta.uri import TableUri
from lake.points.second_reader import read_by_deltalake
from lake.spark.deployment import read_extra_jars
from lake.spark.errors import SparkRefused
from lake.spark.jobs import read_table, write_once
from lake.spark.messages import SparkJob, SparkOutcome
from lake.spark.settings import require_log_store_class

UNKNOWN_TO_WRITE = "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"
"""What Delta says where a newer release, or another engine, has given the table a writer feature that it lacks."""
BY_SPARK, BY_DELTALAKE, WRITE = "Open it by Spark", "Open it by deltalake", "Write to it once by Spark"


@dataclass(frozen=True)
class Readers:
    """Readers of the `table` that a job has written; Spark writes to it through `log_store` where one is named."""

    context: JobContext
    connection: Connection
    lake: Lake
    expected: Expected
    table: str
    log_store: str = ""

    def run(self, job: SparkJob) -> SparkOutcome:
        """Let Spark do one job of a call of the plan; the progress of its tasks is not told. Raises Stop, AwsError,
        JobCancelled."""
        try:
            pipeline = SparkPipeline(self.connection, self.lake, PartContext(self.context, "Spark"), self.log_store)
            return SparkOutcome("done", True, pipeline.run(job.kind, job.params), None, (), 0.0)
        except (RunFailed, JobFailed) as refusal:
            raise Stop(str(refusal), refusal.code) from refusal

    def require_log_store(self) -> None:
        """Raises JobFailed where Spark cannot write through the log store."""
        try:
            if self.log_store:
                require_log_store_class(read_extra_jars(os.environ))
        except SparkRefused as refusal:
            raise JobFailed("SparkRefused", f"{BEFORE_ANY_CHANGE}: {refusal}") from refusal

    def verify(self, began: float) -> str:
        """Let both readers open it, and Spark write to it where it stays; say so in a sentence. Raises JobFailed where
        one sees another table than was proven."""
        spark = self._by_spark(BY_SPARK, read_table.KIND, "did not open it")
        deltalake = self._by_deltalake()
        self.context.result(RestoreResult(to=self.table, verified=verified(self.expected, spark, deltalake)))
        self._require(differences(self.expected, spark, deltalake))
        found, stays = self.expected.found, not self.expected.is_open
        refused = ""
        if stays:
            mark = {RESTORED_FROM: restored_from(found)}
            written = self._by_spark(WRITE, write_once.KIND, "did not write to it", properties=mark)
            refused = written.get("reason", "")
            self._require([] if refused else after_writing(self.expected, spark, written))
        reason = deltalake.get("reason", "")
        self.context.result(
            RestoreResult(
                verified=verified(
                    self.expected, spark, deltalake, wrote=not refused if stays else None, refused=refused
                ),
                ways=ways_to_open(self.table, with_deltalake=not reason),
                seconds=round(time.monotonic() - began, 1),
            )
        )
        readers = "Spark; deltalake did not read it" if reason else "Spark and deltalake"
        rows = f"{spark['rows']:,} row{'' if spark['rows'] == 1 else 's'}"
        was_written = ", and was written to" * (not refused)
        opens = f"is restored to {self.table}{was_written}" if stays else f"opens at {self.table}, read-only"
        not_written = f" Spark did not write to it: {refused}" if refused else ""
        return f"Version {found.state.version:,} {opens}: {rows}, read by {readers}.{not_written}"

    def _by_spark(self, name: str, kind: str, did_not: str, **params: Any) -> Mapping[str, Any]:
        """What Spark saw, or the `reason` why this Spark can write to no such table. Raises JobFailed."""
        with self.context.step(name) as step:
            try:
                pipeline = SparkPipeline(self.connection, self.lake, self.context, self.log_store)
                seen = pipeline.run(kind, {"table": self.table, **params})
            except (RunFailed, JobFailed) as refusal:
                if kind == write_once.KIND and refusal.code == UNKNOWN_TO_WRITE:
                    step.state, step.detail = "skipped", f"It did not: {refusal}"
                    return {"reason": str(refusal)}
                told = f"The log is written to {self.table}, and Spark {did_not}: {refusal}"
                raise JobFailed(refusal.code, told) from refusal
            step.detail = f"Version {seen['version']:,}, {seen['files']:,} data files, {seen['rows']:,} rows."
        return seen

    def _by_deltalake(self) -> Mapping[str, Any]:
        with self.context.step(BY_DELTALAKE) as step:
            seen = read_by_deltalake(TableUri.parse(self.table).url, self._storage_options())
            reason = seen.get("reason", "")
            step.detail = f"It did not: {reason}" if reason else f"{seen['files']:,} data files, {seen['rows']:,} rows."
            step.state = "skipped" if reason else "done"
        return seen

    def _require(self, wrong: Sequence[str]) -> None:
        if wrong:
            told = f"The log is written to {self.table}, and is not what was proven: {' '.join(wrong)}"
            raise JobFailed("NotProven", told)

    def _storage_options(self) -> dict[str, str]:
        key, secret, token = self.lake.keys()
        connection = self.connection
        options: dict[str, Any] = {
            "AWS_REGION": connection.region,
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_SESSION_TOKEN": token,
            "AWS_ENDPOINT_URL": connection.endpoint_url.rstrip("/"),
            "AWS_ALLOW_HTTP": "true" if connection.endpoint_url.startswith("http://") else "",
        }
        return {name: value for name, value in options.items() if value}
