"""S3 Control's jobs over HTTP, in the REST-XML that the AWS SDKs speak, and the rules of the sandbox beside them.

Calls and elements: S3 Control API reference, CreateJob to UpdateJobStatus.
"""

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

from werkzeug.wrappers import Request, Response

from sandbox.control.jobs import Job, Jobs, RuleBook, Rules
from sandbox.control.runner import start
from sandbox.control.xml import CONTROL_NAMESPACE, Document, Refusal, read, refused, respond, text
from sandbox.legacy_dynamodb import Application, Environ

RULES_PATH = "/_sandbox/rules"
_PATH = re.compile(r"/v20180820/jobs(?:/([^/]+)(?:/(status|priority))?)?")


class BatchOperations:
    """WSGI layer that answers for jobs, and for RULES_PATH (PUT a JSON object of rules, DELETE for AWS's own).

    The account is that of the header; whether its number also stands before the host's name makes no difference.
    """

    def __init__(self, application: Application, rules: RuleBook) -> None:
        self.application = application
        self.jobs = Jobs(rules)

    def __call__(self, environ: Environ, start_response: Any) -> Any:
        request = Request(environ)
        if request.path == RULES_PATH:
            rules = self.jobs.rules
            rules.now = Rules() if request.method == "DELETE" else replace(rules.now, **request.get_json(force=True))
            return Response()(environ, start_response)
        found = _PATH.fullmatch(request.path)
        account = request.headers.get("x-amz-account-id")
        # Only requests to S3 Control name an account; without one it is a key of a bucket.
        if not found or not account:
            return self.application(environ, start_response)
        try:
            name, content = self._answer(request, account, found[1] or "", found[2] or "")
            response = respond(name, {"@xmlns": CONTROL_NAMESPACE, **content})
        except Refusal as refusal:
            response = refused(refusal, is_control=True)
        return response(environ, start_response)

    def _answer(self, request: Request, account: str, job_id: str, part: str) -> tuple[str, Document]:
        if not job_id:
            if request.method == "GET":
                return "ListJobsResult", {"Jobs": {"member": [_described(job) for job in self.jobs.all(account)]}}
            job, is_new = self.jobs.add(account, read(request.get_data(), "CreateJobRequest"))
            if is_new:
                start(self.jobs, job)
            return "CreateJobResult", {"JobId": job.id}
        job = self.jobs.find(account, job_id)
        if part == "status":
            self.jobs.request_status(job, request.args["requestedJobStatus"])
            return "UpdateJobStatusResult", {"JobId": job.id, "Status": job.status}
        if part == "priority":
            self.jobs.set_priority(job, int(request.args["priority"]))
            return "UpdateJobPriorityResult", {"JobId": job.id, "Priority": job.priority}
        return "DescribeJobResult", {"Job": _described(job)}


def _described(job: Job) -> Document:
    ended = {"TerminationDate": _stamp(job.ended_at)} if job.ended_at else {}
    return ended | {
        "JobId": job.id,
        "Description": text(job.request, "Description"),
        "Status": job.status,
        "Priority": job.priority,
        "ProgressSummary": {
            "TotalNumberOfTasks": job.total,
            "NumberOfTasksSucceeded": job.succeeded,
            "NumberOfTasksFailed": job.failed,
            "Timers": {"ElapsedTimeInActiveSeconds": int(job.active_seconds)},
        },
        "FailureReasons": {"member": [{"FailureCode": code, "FailureReason": reason} for code, reason in job.failures]},
        "CreationTime": _stamp(job.created_at),
    }


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
