"""What a stage works with, and what it answers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from backups import lifecycle
from backups.models import CopyJob, Run, Stage
from backups.runs.ports import Pipeline, Wanted
from dashboard.jobs.context import JobContext
from lake.aws.access import Lake
from lake.aws.batch_operations import JobStatus
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.objects import BucketPrefix, FileUnreadable, place_of

if TYPE_CHECKING:
    from backups.runs.batch_engine import S3BatchEngine

CHUNK = 16 * 1024 * 1024
"""Bytes of a file that are in memory at once."""


class RunFailed(Exception):
    """The run cannot be done, whatever is tried: a code and one sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class GivenUp(Exception):
    """Another job holds the run, or somebody has ended it: this one changes nothing any more."""


@dataclass(frozen=True, slots=True)
class Done:
    """The stage is over; the sentence is kept with it."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The stage waits on somebody else; look again after so many seconds."""

    seconds: float
    sentence: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The next thing to do belongs to the other queue."""

    sentence: str = "The next stage is done by another worker."


StageAnswer = Done | Waiting | Elsewhere


@dataclass(slots=True)
class Work:
    """One run, as the job that acquired it works on it."""

    run: Run
    context: JobContext
    vault: Lake
    pipeline: Pipeline
    batch: "S3BatchEngine"
    has_spark: bool
    now: Callable[[], datetime]
    open_source: Callable[[], Lake]  # As the plan's own connection; raises AwsError

    def save(self, **fields: Any) -> None:
        """Store facts of the run. Raises GivenUp if it is no longer this job's."""
        if not lifecycle.save(self.run.pk, self.context.job, **fields):
            raise GivenUp
        for name, value in fields.items():
            setattr(self.run, name, value)

    def say(self, sentence: str) -> None:
        """Tell what the run does now, on its own page and on the job's."""
        self.save(sentence=sentence)
        self.context.say(sentence)

    def show(self, stage: Stage, **fields: Any) -> None:
        lifecycle.show_stage(self.run.pk, self.context.job, stage, **fields)

    def save_status(self, row: CopyJob, status: JobStatus) -> None:
        """Keep what an engine said of a copy job. Raises GivenUp where the run is another job's by now."""
        facts = {
            "status": status.status,
            "reason": status.reason,
            "done": status.succeeded,
            "failed": status.failed,
            "active_seconds": status.active_seconds,
            "total": status.total or row.total,
            "aws_job_id": status.id or row.aws_job_id,
            "ended_at": status.ended_at,
            "updated_at": timezone.now(),
        }
        if not CopyJob.objects.filter(pk=row.pk, run__worker=self.context.job).update(**facts):
            raise GivenUp
        for name, value in facts.items():
            setattr(row, name, value)

    def wanted(self) -> Wanted:
        run, plan = self.run, self.run.plan
        return Wanted(
            source=place_of(plan.source),
            destination=place_of(run.destination),
            folder=place_of(run.folder),
            inventory_bucket=run.inventory_bucket,
            inventory_manifest=run.inventory_manifest,
            cut_off=until_of(run),
            selection=plan.selection,
            files=plan.files,
            window_hours=plan.window_hours,
            storage_class=plan.storage_class,
            encryption_key=plan.encryption_key,
            retry=run.retry_of.evidence.get("retry", {}) if run.retry_of else {},
            pool=_pool(run),
        )


def until_of(run: Run) -> datetime:
    """What was written later is too new; a second try takes what stands at the source when it begins."""
    moment = run.started_at if run.retry_of else run.cut_off
    if moment is None:
        raise RunFailed("NoCutOff", "The run has no cut-off: its inventory stage did not end.")
    return moment


def _pool(run: Run) -> Mapping[str, Any]:
    """Where the outcomes of the last run into the same destination lie, {} before the first."""
    earlier = run.plan.runs.filter(destination=run.destination, evidence__has_key="reconciled").exclude(pk=run.pk)
    last = earlier.order_by("-created_at").first()
    found: Mapping[str, Any] = last.evidence["reconciled"].get("reconciled", {}) if last else {}
    return found


def report_of(row: CopyJob) -> BucketPrefix:
    """Where the engine writes the report of a copy job."""
    return place_of(row.run.folder).below(row.report_prefix)


def read_pieces(s3: S3, bucket: str, key: str) -> Iterator[bytes]:
    """The bytes of an object, a range at a time, so that memory stays small. FileUnreadable where it is not there."""
    read, size = 0, 1
    try:
        while read < size:
            body = s3.get(bucket, key, first=read, last=read + CHUNK - 1)
            read, size = read + len(body.data), body.size
            yield body.data
    except AwsError as error:
        if error.is_missing or error.code == "InvalidRange":
            raise FileUnreadable(f"s3://{bucket}/{key} is not there, or became shorter while it was read.") from error
        raise
