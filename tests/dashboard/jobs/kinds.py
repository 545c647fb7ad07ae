"""Kinds of jobs that only tests know."""

import time
from typing import TypedDict

from dashboard.connections.access import EndpointNotAllowed
from dashboard.jobs.context import JobContext, JobFailed, JobOvertaken, JobResult
from dashboard.jobs.registry import NoParams, job_kind
from lake.aws.errors import AwsError
from tests.waiting import scaled

LONGEST_WAIT_SECONDS = scaled(60)


class CountParams(TypedDict, total=False):
    to: int


class Counted(JobResult):
    counted: int


@job_kind("test-count", queue="aws")
def count(context: JobContext, params: CountParams) -> str:
    """Count in two steps."""
    number = params.get("to", 3)
    with context.step("Count") as step:
        for done in range(1, number + 1):
            context.progress(done, number)
        step.detail = f"{number} of {number}."
    with context.step("Write down"):
        context.log("Counted.", step="count", number=number)
    context.result(Counted(counted=number))
    return f"Counted to {number}."


@job_kind("test-wait", queue="aws")
def wait(context: JobContext, params: NoParams) -> str:
    """Wait to be cancelled, or for a minute."""
    with context.step("Wait"):
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while time.monotonic() < deadline:
            context.check_cancelled()
            time.sleep(0.05)
    return "Nobody came."


@job_kind("test-fail", queue="aws")
def fail(context: JobContext, params: NoParams) -> str:
    """Fail in the middle of a step, with a message of two lines."""
    with context.step("Fail"):
        raise ValueError("The log ends in line 3\nand nobody knows why")


@job_kind("test-elsewhere", queue="aws")
def elsewhere(context: JobContext, params: NoParams) -> str:
    raise EndpointNotAllowed("http://127.0.0.1:9")


@job_kind("test-refused", queue="aws")
def refused(context: JobContext, params: NoParams) -> str:
    """Be refused by AWS."""
    with context.step("Ask"):
        raise AwsError("AccessDenied", "not authorised", request_id="REQ1", operation="s3:ListObjectsV2")


@job_kind("test-observe", queue="aws", verb="lake.observe")
def observe(context: JobContext, params: NoParams) -> str:
    """Stand in for work that needs a permission."""
    return "Looked."


@job_kind("test-stopped", queue="aws")
def stopped(context: JobContext, params: NoParams) -> str:
    """Send one call, have the next refused, and say so."""
    context.result({"before": {"version": 2}, "after": {"version": 3}, "aws_request_ids": ["REQ1"]})
    with context.step("Send") as step:
        step.state = "failed"
    raise JobFailed("Stopped", "Stopped at call 2 of 3: a writer moved on.")


@job_kind("test-overtaken", queue="aws")
def overtaken(context: JobContext, params: NoParams) -> str:
    """Send one call, and find that somebody else was faster with the next."""
    context.result({"before": {"version": 2}, "after": {"version": 3}, "aws_request_ids": ["REQ1"]})
    with context.step("Send") as step:
        step.state = "stopped"
    raise JobOvertaken("Stopped at call 2 of 3.", {"call": 2, "of": 3})
