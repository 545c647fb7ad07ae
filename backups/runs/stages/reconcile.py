"""Fifth stage: verified reports, manifest and a listing of the destination say what became of each object."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db import transaction

from backups import lifecycle
from backups.models import CopyJob, FailureGroup, Plan, Run, RunState, Stage, StageState
from backups.outcomes import GAPS, NOT_COPIED, WORTH_RETRY, Outcome, cause_of
from backups.runs.ports import Reconciled, ReportFile, Reports
from backups.runs.work import Done, Elsewhere, GivenUp, RunFailed, StageAnswer, Work, read_pieces, report_of
from lake.aws.s3 import S3
from lake.backup.completion_report import (
    ResultFile,
    read_report_manifest,
    report_folder,
    verify_result_file,
)
from lake.backup.objects import BucketPrefix, FileUnreadable


def advance(work: Work) -> StageAnswer:
    if not work.has_spark:
        return Elsewhere()
    work.say("Verifies the reports by their MD5s, and compares them and the manifests with the destination.")
    run = work.run
    reports = reports_of(work.vault.s3, run.copy_jobs.all())
    found = work.pipeline.reconcile(work.wanted(), run.evidence.get("plan", {}), reports, _copied_until(run))
    counts: dict[Outcome, int] = {
        outcome: int(found.counts.get(outcome, 0)) for outcome in Outcome if outcome != Outcome.LISTED
    }
    if sum(counts.values()) != run.listed:
        raise RunFailed(
            "OutcomesDoNotAddUp",
            f"{sum(counts.values()):,} objects have an outcome, and {run.listed:,} were listed: "
            "none of them is called safe.",
        )
    work.show(Stage.RECONCILE, done=run.listed, total=run.listed)
    return _store(work, found, counts, reports)


def _copied_until(run: Run) -> datetime | None:
    """When the last job of S3 Batch Operations ended, whose reports name no ETag; None where one does not say."""
    ends = run.copy_jobs.filter(engine=Plan.Engine.S3_BATCH).values_list("ended_at", flat=True)
    known = [ended for ended in ends if ended is not None]
    return max(known) if known and len(known) == len(ends) else None


@transaction.atomic
def _store(work: Work, found: Reconciled, counts: dict[Outcome, int], reports: Reports) -> Done:
    """Keep what became of the objects; a run whose objects are no copy ends here."""
    run = work.run
    broken = [row for row in run.copy_jobs.all() if row.status != "Complete"]
    gaps = sum(counts[outcome] for outcome in GAPS)
    safe = counts[Outcome.COPIED] + counts[Outcome.ALREADY_THERE]
    known = " known to be" if reports.doubts else ""
    sentence = (
        f"Of {run.listed:,} objects, {safe:,} are{known} at the destination with their size and ETag or checksum."
    )
    if gaps:
        sentence += f" {gaps:,} are not{known}: see the causes."
    if vanished := counts[Outcome.VANISHED]:
        sentence += f" {vanished:,} had been deleted from the source before."
    if reports.doubts:
        sentence += f" {' '.join(reports.doubts)} What nothing else reports counts as not copied."
    work.save(
        bytes_copied=found.bytes_copied,
        worth_retry=int(found.retry.get("objects", 0)),
        evidence={
            **run.evidence,
            "reconciled": dict(found.facts),
            "retry": dict(found.retry),
            "doubts": list(reports.doubts),
        },
        **{outcome.value: count for outcome, count in counts.items()},
    )
    run.failures.all().delete()
    FailureGroup.objects.bulk_create(
        FailureGroup(
            run=run,
            outcome=group.outcome,
            code=group.code,
            cause=cause_of(group.outcome, group.code),
            object_count=group.objects,
            bytes=group.bytes,
            tables=group.tables,
            worth_retry=group.outcome in WORTH_RETRY,
            examples=group.examples,
        )
        for group in found.groups
        if group.outcome in NOT_COPIED
    )
    if broken:
        reason = f": {broken[0].reason.rstrip('.')}" if broken[0].reason else ""
        said = f"Copy job {broken[0].number} {broken[0].status.lower()}{reason}."
        _end_without_copy(work, "CopyJobFailed", f"{said} {sentence}")
    elif not safe and not reports.doubts:
        said = "Nothing was copied and nothing was there, so there is no copy."
        _end_without_copy(work, "NothingCopied", f"{said} {sentence}")
    return Done(run.sentence if run.is_finished else sentence)


def _end_without_copy(work: Work, code: str, sentence: str) -> None:
    """It is the copying that failed; its objects have been told apart all the same."""
    run, failed = work.run, {"sentence": sentence, "error_code": code, "stage": Stage.COPY}
    run.stages.filter(name=Stage.COPY).update(state=StageState.FAILED)
    run.stages.filter(name=Stage.PROVE).update(state=StageState.SKIPPED)
    lifecycle.close_stage(run.pk, Stage.RECONCILE, StageState.DONE, sentence)
    if not lifecycle.move(run.pk, RunState.FAILED, job=work.context.job, **failed):
        raise GivenUp
    run.state, run.sentence = RunState.FAILED, sentence


def reports_of(s3: S3, rows: Iterable[CopyJob]) -> Reports:
    """What the copy jobs of a run report, with a sentence for each thing that is not believed. Raises AwsError.

    The Spark engine writes no manifest: its files are read where they lie.
    """
    places: list[BucketPrefix] = []
    files: list[ReportFile] = []
    doubts: list[str] = []
    for row in rows:
        if row.engine == Plan.Engine.SPARK:
            places.append(report_of(row))
        # Of a job that ran no task S3 writes no report.
        elif row.done + row.failed:
            for found in _believed(s3, row):
                if isinstance(found, ReportFile):
                    files.append(found)
                else:
                    doubts.append(f"The report of copy job {row.number} is not believed: {found}")
    return Reports(tuple(places), tuple(files), tuple(doubts))


def _believed(s3: S3, row: CopyJob) -> Iterator[ReportFile | FileUnreadable]:
    """The files of a job's report that are as its manifest says, and why others are not."""
    place = report_of(row)
    folder = report_folder(place.prefix.removesuffix("/"), row.aws_job_id)
    try:
        body, beside = b"".join(read_pieces(s3, place.bucket, f"{folder}manifest.json")), f"{folder}manifest.json.md5"
        checksum = s3.get(place.bucket, beside).data if s3.head(place.bucket, beside) else b""
        named = read_report_manifest(body, checksum)
    except FileUnreadable as error:
        yield error
        return
    for file in named:
        try:
            yield _verified(s3, place.bucket, folder, file)
        except FileUnreadable as error:
            yield error


def _verified(s3: S3, bucket: str, folder: str, file: ResultFile) -> ReportFile:
    if file.bucket != bucket or not re.fullmatch(re.escape(folder) + r"results/[^/]+", file.key):
        raise FileUnreadable(f"its manifest names s3://{file.bucket}/{file.key}, which is not of this report.")
    head = s3.head(bucket, file.key)
    if head is None:
        raise FileUnreadable(f"s3://{bucket}/{file.key} is not there.")
    verify_result_file(file, read_pieces(s3, bucket, file.key))
    return ReportFile(bucket, file.key, head.size, head.etag)
