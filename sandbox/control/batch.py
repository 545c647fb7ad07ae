"""S3 Control's jobs over HTTP, in the REST-XML that the AWS SDKs speak, and the rules of the sandbox beside them.

Calls and elements: S3 Control API reference, CreateJob to UpdateJobStatus.
"""

import json
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

from sandbox.control import stored
from sandbox.control.jobs import Job, Jobs, read_job
from sandbox.control.rules import RuleBook
from sandbox.control.runner import start
from sandbox.control.xml import Content, Refusal, answer, build, document, error_document, text
from sandbox.legacy_dynamodb import Application, Environ

RULES_PATH, PLANTING_PATH = "/_sandbox/rules", "/_sandbox/objects"
_PATH = re.compile(r"/v20180820/jobs(?:/([^/]+)(?:/(status|priority))?)?")


class BatchOperations:
    """WSGI layer that answers for jobs, for RULES_PATH (PUT a JSON object of rules, DELETE for AWS's own), and for
    PLANTING_PATH: POST {"bucket", "keys", "data"} writes thousands of objects of the same text.

    The account is that of the header; whether its number also stands before the host's name makes no difference.
    """

    def __init__(self, application: Application, rules: RuleBook) -> None:
        self.application = application
        self.jobs = Jobs(rules)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        path = str(environ.get("PATH_INFO", ""))
        if path in (RULES_PATH, PLANTING_PATH):
            return self._arrange(path, environ, start_response)
        found = _PATH.fullmatch(path)
        account = environ.get("HTTP_X_AMZ_ACCOUNT_ID", "")
        # Only requests to S3 Control name an account; without one it is a key of a bucket.
        if not found or not account:
            return self.application(environ, start_response)
        try:
            name, content = self._answer(environ, account, found[1] or "", found[2] or "")
        except Refusal as refusal:
            return answer(start_response, refusal.status, error_document(refusal, is_control=True))
        return answer(start_response, 200, document(build(name, content)))

    def _answer(self, environ: Environ, account: str, job_id: str, part: str) -> tuple[str, Content]:
        method = environ["REQUEST_METHOD"]
        if not job_id:
            if method == "GET":
                return "ListJobsResult", {"Jobs": [_described(job) for job in self.jobs.all(account)]}
            job, is_new = self.jobs.add(read_job(body_of(environ), account))
            if is_new:
                start(self.jobs, job)
            return "CreateJobResult", {"JobId": job.id}
        job, query = self.jobs.find(account, job_id), parse_qs(environ.get("QUERY_STRING", ""))
        if part == "status":
            self.jobs.request_status(job, query["requestedJobStatus"][0])
            return "UpdateJobStatusResult", {"JobId": job.id, "Status": job.status}
        if part == "priority":
            self.jobs.set_priority(job, int(query["priority"][0]))
            return "UpdateJobPriorityResult", {"JobId": job.id, "Priority": job.priority}
        return "DescribeJobResult", {"Job": _described(job)}

    def _arrange(self, path: str, environ: Environ, start_response: Any) -> Iterable[bytes]:
        try:
            if environ["REQUEST_METHOD"] == "DELETE":
                self.jobs.rules.reset()
            elif path == RULES_PATH:
                self.jobs.rules.change(dict(json.loads(body_of(environ))))
            else:
                wanted = json.loads(body_of(environ))
                for key in wanted["keys"]:
                    stored.write(wanted["bucket"], key, wanted["data"].encode())
        except (ValueError, TypeError, KeyError) as error:
            return answer(start_response, 400, f"{type(error).__name__}: {error}".encode(), "text/plain")
        return answer(start_response, 200, b"{}", "application/json")


def body_of(environ: Environ) -> bytes:
    data: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    return data


def _described(job: Job) -> dict[str, Content | None]:
    return {
        "JobId": job.id,
        "Description": text(job.request, "Description") or None,
        "Status": job.status,
        "Priority": job.priority,
        "ProgressSummary": {
            "TotalNumberOfTasks": job.total,
            "NumberOfTasksSucceeded": job.succeeded,
            "NumberOfTasksFailed": job.failed,
            "Timers": {"ElapsedTimeInActiveSeconds": int(job.active_seconds)},
        },
        "FailureReasons": [{"FailureCode": code, "FailureReason": reason} for code, reason in job.failures],
        "CreationTime": _stamp(job.created_at),
        "TerminationDate": _stamp(job.ended_at),
    }


def _stamp(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
