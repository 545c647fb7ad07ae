"""What a job does in its thread: read the manifest, wait for the confirmation, copy, write the report."""

import hashlib
import random
import time
from datetime import UTC, datetime
from threading import Thread

from lake.backup.completion_report import (
    ResultFile,
    report_folder,
    write_report_manifest,
    write_results,
)
from lake.backup.objects import ManifestObject, TaskResult
from sandbox.control import stored, tasks
from sandbox.control.jobs import Job, Jobs
from sandbox.control.xml import Refusal, text


def start(jobs: Jobs, job: Job) -> None:
    Thread(target=_run, args=(jobs, job), name=f"batch-{job.id}", daemon=True).start()


def _run(jobs: Jobs, job: Job) -> None:
    try:
        _advance(jobs, job)
    except Refusal as refused:
        jobs.fail(job, refused.code, str(refused))
    except Exception as error:  # noqa: BLE001 - a job that dies unseen would be Active for ever
        jobs.fail(job, "InternalError", f"The sandbox failed: {error!r}")
    if not jobs.move(job, "Failed", out_of="Failing"):
        jobs.move(job, "Cancelled", out_of="Cancelling")


def _advance(jobs: Jobs, job: Job) -> None:
    if not jobs.move(job, "Preparing", out_of="New"):
        return
    listed = _prepare(jobs, job)
    job.total = len(listed)
    if not jobs.move(job, "Suspended", out_of="Preparing"):
        return
    jobs.wait_while(job, "Suspended")
    jobs.move(job, "Active", out_of="Ready")
    results = _copy_all(jobs, job, listed)
    jobs.move(job, "Completing", out_of="Active")
    if results:
        _report(job, results)
    jobs.move(job, "Complete", out_of="Completing")


def _prepare(jobs: Jobs, job: Job) -> list[ManifestObject]:
    role = text(job.request, "RoleArn")
    if role in jobs.rules.now.denied_roles:
        raise Refusal("ManifestAccessDenied", f"S3 Batch Operations cannot take the role {role}.")
    for arn in (text(job.request, "Operation/S3PutObjectCopy/TargetResource"), text(job.request, "Report/Bucket")):
        if stored.bucket(stored.split_arn(arn)[0]) is None:
            raise Refusal("NoSuchBucket", f"There is no bucket {arn}.")
    return tasks.read_manifest(job.request)


def _copy_all(jobs: Jobs, job: Job, listed: list[ManifestObject]) -> list[TaskResult]:
    """Run the tasks in no order that anybody could rely on, up to the job's end or the failure of most."""
    results: list[TaskResult] = []
    for one in random.Random(job.id).sample(listed, len(listed)):
        if job.status != "Active":
            break
        began, rules = time.monotonic(), jobs.rules.now
        results.append(tasks.run(one, job, rules))
        if seconds := rules.seconds(one.key):
            jobs.wait_while(job, "Active", seconds)
        job.succeeded += results[-1].succeeded
        job.failed += not results[-1].succeeded
        job.active_seconds += time.monotonic() - began
        if len(results) >= rules.failure_tasks and job.failed * 2 > len(results):
            jobs.fail(job, "FailureRateExceeded", "More than half of the tasks failed, so that the job was ended.")
            break
    return results


def _report(job: Job, results: list[TaskResult]) -> None:
    bucket, _ = stored.split_arn(text(job.request, "Report/Bucket"))
    folder = report_folder(text(job.request, "Report/Prefix"), job.id)
    files = [_file(bucket, folder, succeeded, results) for succeeded in (True, False)]
    manifest = write_report_manifest([file for file in files if file], datetime.now(UTC))
    stored.write(bucket, f"{folder}manifest.json", manifest)
    stored.write(bucket, f"{folder}manifest.json.md5", stored.md5(manifest).encode())


def _file(bucket: str, folder: str, succeeded: bool, results: list[TaskResult]) -> ResultFile | None:
    rows = [result for result in results if result.succeeded == succeeded]
    if not rows:
        return None
    data = write_results(rows)
    key = f"{folder}results/{hashlib.sha1(data, usedforsecurity=False).hexdigest()}.csv"
    stored.write(bucket, key, data)
    return ResultFile(succeeded, bucket, key, stored.md5(data))
