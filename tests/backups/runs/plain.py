"""The data work of a run in plain Python on a real S3: slow and simple enough to be right at a glance.

It stands in for Spark where a test is about runs, and says what Spark should have found where a test is about Spark.
"""

import io
import re
import uuid
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from backups.models import CopyJob, Run
from backups.outcomes import SAFE, WORTH_RETRY
from backups.runs.batch_engine import S3BatchEngine
from backups.runs.ports import Planned, Reconciled, Reports, UnsafeObjects, Wanted
from backups.runs.work import report_of
from lake.aws.access import Lake
from lake.aws.batch_operations import BatchOperations, JobStatus
from lake.aws.copying import Copy, copy_object
from lake.aws.errors import AwsError
from lake.aws.list_page import ObjectSummary
from lake.backup.batch_manifest import Manifest, read_lines
from lake.backup.completion_report import write_results
from lake.backup.objects import BucketPrefix, ManifestObject, TaskResult, place_of
from tests.builders.batch import read_results, write_lines

RESULTS = re.compile(r"/results/[^/]+\.csv$")
Objects = dict[str, ObjectSummary]


def parts(run: Run, context: object, vault: Lake) -> tuple["PlainPipeline", S3BatchEngine]:
    """Take the place of backups.jobs.parts: S3 Batch Operations as they are, and everything else in plain Python."""
    return PlainPipeline(vault), S3BatchEngine(BatchOperations(vault))


def objects_at(lake: Lake, place: BucketPrefix) -> Objects:
    """What lies at a place, by its key below the place's prefix."""
    pages = lake.s3.list(place.bucket, place.prefix)
    return {found.key.removeprefix(place.prefix): found for page in pages for found in page.objects}


def results_at(lake: Lake, place: BucketPrefix) -> list[TaskResult]:
    """The rows of the reports below a place."""
    keys = [key for key in objects_at(lake, place) if RESULTS.search(key)]
    texts = [lake.s3.get(place.bucket, place.prefix + key).data.decode() for key in keys]
    return [result for text in texts for result in read_results(io.StringIO(text, newline=""))]


def told_by(lake: Lake, reports: Reports) -> dict[str, TaskResult]:
    """What the reports say, by key."""
    told = {one.key: one for place in reports.places for one in results_at(lake, place)}
    for file in reports.files:
        text = lake.s3.get(file.bucket, file.key).data.decode()
        told |= {one.key: one for one in read_results(io.StringIO(text, newline=""))}
    return told


def outcome_of(size: int, etag: str, told: TaskResult | None, there: ObjectSummary | None) -> tuple[str, str]:
    """Outcome and code of an object that was to be copied; only what the destination shows can make it safe.

    A copy in parts has another ETag than its source: that which the copy was answered with.
    """
    answered = told.message.removeprefix("ETag=") if told and told.succeeded and "-" in told.message else etag
    if there is not None and there.size == size and there.etag in {etag, answered}:
        return "copied", ""
    if told is None:
        return "failed", "NotReported"
    if told.succeeded:
        return ("failed", "NotAtDestination") if there is None else ("changed", "OtherContent")
    by_code = {
        "AccessDenied": "denied",
        "InvalidObjectState": "archived",
        "ObjectNotInActiveTierError": "archived",
        "NoSuchKey": "vanished",
        "PreconditionFailed": "changed",
    }
    return by_code.get(told.code, "failed"), told.code


class PlainPipeline:
    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def plan(self, wanted: Wanted) -> Planned:
        source = objects_at(self._lake, BucketPrefix(wanted.source.bucket))
        chosen = (
            wanted.retry["keys"] if wanted.retry else [key for key in source if key.startswith(wanted.source.prefix)]
        )
        there = objects_at(self._lake, wanted.destination)
        missing = [key for key in chosen if key in source and not _same(there.get(key), source[key])]
        facts = {key: [source[key].size, source[key].etag, key in missing] for key in chosen if key in source}
        manifests = (self._manifest(wanted, missing, source),) if missing else ()
        return Planned(
            len(facts),
            len(facts) - len(missing),
            0,
            0,
            manifests,
            {},
            {"objects": facts, "roots": {"bucket": "", "key": ""}},
        )

    def _manifest(self, wanted: Wanted, keys: list[str], source: Objects) -> Manifest:
        lines = write_lines(ManifestObject(wanted.source.bucket, key) for key in keys)
        key = f"{wanted.folder.prefix}manifest/{uuid.uuid4().hex}.csv"
        written = self._lake.s3.put(wanted.folder.bucket, key, "".join(lines).encode())
        size = sum(source[key].size for key in keys)
        return Manifest("copy", wanted.folder.bucket, key, written.etag, len(keys), size)

    def copy(self, row: CopyJob) -> JobStatus:
        text = self._lake.s3.get(row.manifest_bucket, row.manifest_key).data.decode()
        results = [self._copy(place_of(row.run.destination), one) for one in read_lines(text.splitlines())]
        report = report_of(row)
        key = f"{report.prefix}job-{row.token}/results/{uuid.uuid4().hex}.csv"
        self._lake.s3.put(report.bucket, key, write_results(results))
        done = sum(one.succeeded for one in results)
        return JobStatus("", "Complete", len(results), done, len(results) - done)

    def _copy(self, to: BucketPrefix, one: ManifestObject) -> TaskResult:
        try:
            copy_object(self._lake.s3, Copy(one.bucket, one.key, to.bucket, to.prefix + one.key, 0))
        except AwsError as error:
            return TaskResult(one.bucket, one.key, False, 404 if error.is_missing else 403, error.code)
        return TaskResult(one.bucket, one.key, True, 200)

    def reconcile(
        self,
        wanted: Wanted,
        planned: Mapping[str, Any],
        reports: Reports,
        copied_until: datetime | None = None,
    ) -> Reconciled:
        there = objects_at(self._lake, wanted.destination)
        told = told_by(self._lake, reports)
        outcomes: dict[str, tuple[str, str]] = {}
        for key, (size, etag, is_missing) in planned["objects"].items():
            outcomes[key] = outcome_of(size, etag, told.get(key), there.get(key))
            if outcomes[key] == ("copied", "") and not is_missing:
                outcomes[key] = ("already_there", "")
            elif reports.doubts and key not in told:
                outcomes[key] = ("failed", "ReportNotBelieved")
        return reconciled(outcomes, {key: size for key, (size, *_) in planned["objects"].items()})


def reconciled(outcomes: Mapping[str, tuple[str, str]], sizes: Mapping[str, int]) -> Reconciled:
    """What is told of these outcomes and codes by key."""
    found: dict[tuple[str, str], list[str]] = {}
    for key, cause in outcomes.items():
        found.setdefault(cause, []).append(key)
    groups = tuple(
        UnsafeObjects(*cause, len(keys), 0, 1, tuple(keys[:3])) for cause, keys in found.items() if cause[0] not in SAFE
    )
    again = [key for key, (outcome, _) in outcomes.items() if outcome in WORTH_RETRY]
    counts = Counter(outcome for outcome, _ in outcomes.values())
    copied = sum(sizes[key] for key in found.get(("copied", ""), []))
    return Reconciled(len(outcomes), counts, copied, groups, {"objects": len(again), "keys": again})


def _same(left: ObjectSummary | None, right: ObjectSummary) -> bool:
    return left is not None and (left.size, left.etag) == (right.size, right.etag)
