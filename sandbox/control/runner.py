"""What a job does in its thread: read the manifest, wait for the confirmation, copy, write the report."""

import hashlib
import random
import time
from threading import Thread
from xml.etree.ElementTree import Element

from lake.backup.completion_report import (
    ReportManifest,
    ResultFile,
    report_folder,
    write_report_manifest,
    write_results,
)
from lake.backup.objects import TaskResult
from sandbox.control import stored, tasks
from sandbox.control.jobs import WAITING_OR_COPYING, Job, Jobs
from sandbox.control.manifests import ManifestRefused, read_tasks
from sandbox.control.tasks import CopyOperation, Task
from sandbox.control.xml import text


def start(jobs: Jobs, job: Job) -> None:
    Thread(target=_run, args=(jobs, job), name=f"batch-{job.id}", daemon=True).start()


def _run(jobs: Jobs, job: Job) -> None:
    try:
        _advance(jobs, job)
    except Exception as error:  # noqa: BLE001 - a job that dies unseen would be Active for ever
        jobs.fail(job, "InternalError", f"The sandbox failed: {error!r}")
    if not jobs.move(job, "Failed", out_of=frozenset({"Failing"})):
        jobs.move(job, "Cancelled", out_of=frozenset({"Cancelling"}))


def _advance(jobs: Jobs, job: Job) -> None:
    if not jobs.move(job, "Preparing", out_of=frozenset({"New"})):
        return
    jobs.pause(jobs.rules.now.prepare_seconds, job)
    try:
        listed = _prepare(jobs, job)
    except ManifestRefused as refused:
        jobs.fail(job, refused.code, str(refused))
        return
    job.total = len(listed)
    prepared = "Suspended" if job.needs_confirmation else "Ready"
    if not jobs.move(job, prepared, out_of=frozenset({"Preparing"})):
        return
    jobs.wait_while(job, "Suspended")
    results = _copy_all(jobs, job, listed)
    jobs.move(job, "Completing", out_of=WAITING_OR_COPYING)
    if results:
        _report(jobs, job, results)
    jobs.move(job, "Complete", out_of=frozenset({"Completing"}))


def _prepare(jobs: Jobs, job: Job) -> list[Task]:
    if job.role_arn in jobs.rules.now.denied_roles:
        raise ManifestRefused("ManifestAccessDenied", f"S3 Batch Operations cannot take the role {job.role_arn}.")
    for arn in (text(job.request, "Operation/S3PutObjectCopy/TargetResource"), text(job.request, "Report/Bucket")):
        if arn and stored.bucket(stored.split_arn(arn)[0]) is None:
            raise ManifestRefused("NoSuchBucket", f"There is no bucket {arn}.")
    manifest = job.request.find("Manifest")
    return read_tasks(Element("Manifest") if manifest is None else manifest)


def _copy_all(jobs: Jobs, job: Job, listed: list[Task]) -> list[TaskResult]:
    """Run the tasks in no order that anybody could rely on, up to the job's end or its failure threshold."""
    shuffled = random.Random(job.id).sample(listed, len(listed))
    described = job.request.find("Operation/S3PutObjectCopy")
    operation = tasks.read_operation(Element("S3PutObjectCopy") if described is None else described, job.role_arn)
    results: list[TaskResult] = []
    for task in shuffled:
        if not jobs.take_turn(job):
            break
        results.append(_one(jobs, job, task, operation))
        if _is_over_threshold(jobs, job):
            jobs.fail(job, "FailureRateExceeded", "More than half of the tasks failed, so that the job was ended.")
            break
    return results


def _one(jobs: Jobs, job: Job, task: Task, operation: CopyOperation) -> TaskResult:
    began, rules = time.monotonic(), jobs.rules.now
    result = tasks.run(task, operation, rules)
    if seconds := rules.seconds(task.source.key):
        jobs.pause(seconds, job)
    jobs.done(job, succeeded=result.succeeded)
    job.active_seconds += time.monotonic() - began
    return result


def _is_over_threshold(jobs: Jobs, job: Job) -> bool:
    rules, ran = jobs.rules.now, job.succeeded + job.failed
    return ran >= rules.failure_tasks and job.failed * 100 > ran * rules.failure_percent


def _report(jobs: Jobs, job: Job, results: list[TaskResult]) -> None:
    wanted = job.request.find("Report")
    if wanted is None or text(wanted, "Enabled") != "true":
        return
    bucket, _ = stored.split_arn(text(wanted, "Bucket"))
    folder = report_folder(text(wanted, "Prefix"), job.id)
    scopes = (False,) if text(wanted, "ReportScope") == "FailedTasksOnly" else (True, False)
    files = [_file(bucket, folder, succeeded, results) for succeeded in scopes]
    manifest = write_report_manifest(ReportManifest(jobs.rules.time(), tuple(file for file in files if file)))
    stored.write(bucket, f"{folder}manifest.json", manifest)
    stored.write(bucket, f"{folder}manifest.json.md5", _md5(manifest).encode())


def _file(bucket: str, folder: str, succeeded: bool, results: list[TaskResult]) -> ResultFile | None:
    rows = [result for result in results if result.succeeded == succeeded]
    if not rows:
        return None
    data = write_results(rows)
    key = f"{folder}results/{hashlib.sha1(data, usedforsecurity=False).hexdigest()}.csv"
    stored.write(bucket, key, data)
    return ResultFile(succeeded, bucket, key, _md5(data))


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
