"""S3 Control's jobs over HTTP, in the REST-XML that the AWS SDKs speak, and the rules of the sandbox beside them.

Calls and elements: S3 Control API reference, CreateJob to DeleteJobTagging.
"""

import json
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

from sandbox.control.jobs import Job, Jobs
from sandbox.control.requests import HIGHEST_PRIORITY, read_job, read_tags
from sandbox.control.rules import RuleBook
from sandbox.control.runner import start
from sandbox.control.xml import Content, Refusal, answer, build, document, error_document, read
from sandbox.legacy_dynamodb import Application, Environ

RULES_PATH = "/_sandbox/rules"
PAGE = 1000
_PATH = re.compile(r"/v20180820/jobs(?:/([^/]+)(?:/(status|priority|tagging))?)?")


class BatchOperations:
    """WSGI layer that answers for jobs and for RULES_PATH (PUT a JSON object of rules, DELETE for AWS's own).

    The account is that of the header; whether its number also stands before the host's name makes no difference.
    """

    def __init__(self, application: Application, rules: RuleBook) -> None:
        self.application = application
        self.jobs = Jobs(rules)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        path = str(environ.get("PATH_INFO", ""))
        if path == RULES_PATH:
            return self._rules(environ, start_response)
        found = _PATH.fullmatch(path)
        account = environ.get("HTTP_X_AMZ_ACCOUNT_ID", "")
        # Only requests to S3 Control name an account; without one it is a key of a bucket.
        if not found or not account:
            return self.application(environ, start_response)
        try:
            body = self._answer(environ, account, found[1] or "", found[2] or "")
        except Refusal as refusal:
            return answer(start_response, refusal.status, error_document(refusal, is_control=True))
        return answer(start_response, 200, body)

    def _answer(self, environ: Environ, account: str, job_id: str, part: str) -> bytes:
        method, query = environ["REQUEST_METHOD"], parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
        if not job_id:
            if method == "POST":
                return self._create(body_of(environ), account)
            if method == "GET":
                return self._list(query, account)
        else:
            job = self.jobs.find(account, job_id)
            if (method, part) == ("GET", ""):
                return _written("DescribeJobResult", {"Job": _described(job)})
            if (method, part) == ("POST", "status"):
                return self._status(job, query)
            if (method, part) == ("POST", "priority"):
                return self._priority(job, query)
            if part == "tagging":
                return _tagging(job, method, environ)
        raise Refusal("MethodNotAllowed", "The specified method is not allowed against this resource.", 405)

    def _create(self, data: bytes, account: str) -> bytes:
        job, is_new = self.jobs.add(read_job(data, account, self.jobs.rules.time()))
        if is_new:
            start(self.jobs, job)
        return _written("CreateJobResult", {"JobId": job.id})

    def _list(self, query: dict[str, list[str]], account: str) -> bytes:
        statuses = frozenset(query.get("jobStatuses", ()))
        try:
            size = int(query.get("maxResults", [str(PAGE)])[0])
            first = int(query.get("nextToken", ["0"])[0])
        except ValueError as error:
            raise Refusal("InvalidNextTokenException", "The token is none that was given.") from error
        if not 0 <= size <= PAGE:
            raise Refusal("InvalidRequest", f"maxResults is from 0 to {PAGE}.")
        found = self.jobs.all(account, statuses)
        page, following = found[first : first + size], first + size
        token = str(following) if following < len(found) else None
        return _written("ListJobsResult", {"NextToken": token, "Jobs": [_listed(job) for job in page]})

    def _status(self, job: Job, query: dict[str, list[str]]) -> bytes:
        wanted = query.get("requestedJobStatus", [""])[0]
        reason = query.get("statusUpdateReason", [""])[0]
        if wanted not in {"Ready", "Cancelled"} or len(reason) > 256:
            raise Refusal("BadRequestException", "requestedJobStatus is Ready or Cancelled, its reason up to 256 long.")
        self.jobs.request_status(job, wanted, reason)
        return _written(
            "UpdateJobStatusResult", {"JobId": job.id, "Status": job.status, "StatusUpdateReason": reason or None}
        )

    def _priority(self, job: Job, query: dict[str, list[str]]) -> bytes:
        wanted = query.get("priority", [""])[0]
        if not wanted.isdecimal() or int(wanted) > HIGHEST_PRIORITY:
            raise Refusal("BadRequestException", f"The priority is from 0 to {HIGHEST_PRIORITY}.")
        self.jobs.set_priority(job, int(wanted))
        return _written("UpdateJobPriorityResult", {"JobId": job.id, "Priority": job.priority})

    def _rules(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "DELETE":
            self.jobs.rules.reset()
        else:
            try:
                self.jobs.rules.change(dict(json.loads(body_of(environ) or b"{}")))
            except (ValueError, TypeError) as error:
                return answer(start_response, 400, str(error).encode(), "text/plain")
        return answer(start_response, 200, b"{}", "application/json")


def body_of(environ: Environ) -> bytes:
    data: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    return data


def _tagging(job: Job, method: str, environ: Environ) -> bytes:
    if method == "PUT":
        job.tags = read_tags(read(body_of(environ), "PutJobTaggingRequest").find("Tags"))
        return _written("PutJobTaggingResult", {})
    if method == "DELETE":
        job.tags = {}
        return _written("DeleteJobTaggingResult", {})
    tags = [{"Key": key, "Value": value} for key, value in job.tags.items()]
    return _written("GetJobTaggingResult", {"Tags": tags})


def _described(job: Job) -> dict[str, Content | None]:
    parts = {name: job.request.find(name) for name in ("Manifest", "Operation", "Report")}
    said: dict[str, Content | None] = {
        "JobId": job.id,
        "ConfirmationRequired": job.needs_confirmation,
        "Description": job.description or None,
        "JobArn": f"arn:aws:s3:us-west-2:{job.account}:job/{job.id}",
        "Status": job.status,
        "Priority": job.priority,
        "ProgressSummary": _progress(job),
        "StatusUpdateReason": job.reason or None,
        "FailureReasons": [{"FailureCode": code, "FailureReason": reason} for code, reason in job.failures],
        "CreationTime": _moment(job.created_at),
        "TerminationDate": _moment(job.ended_at),
        "RoleArn": job.role_arn,
        "SuspendedDate": _moment(job.suspended_at),
        "SuspendedCause": "AwaitingConfirmation" if job.suspended_at else None,
    }
    return said | {name: part for name, part in parts.items() if part is not None}


def _listed(job: Job) -> dict[str, Content | None]:
    return {
        "JobId": job.id,
        "Description": job.description or None,
        "Operation": "S3PutObjectCopy",
        "Priority": job.priority,
        "Status": job.status,
        "CreationTime": _moment(job.created_at),
        "TerminationDate": _moment(job.ended_at),
        "ProgressSummary": _progress(job),
    }


def _progress(job: Job) -> dict[str, Content]:
    return {
        "TotalNumberOfTasks": job.total,
        "NumberOfTasksSucceeded": job.succeeded,
        "NumberOfTasksFailed": job.failed,
        "Timers": {"ElapsedTimeInActiveSeconds": int(job.active_seconds)},
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def _written(name: str, content: Content) -> bytes:
    return document(build(name, content))
