"""What S3 Control takes for a job: the <CreateJobRequest> checked as AWS checks it, before anything is stored."""

import hashlib
import re
from datetime import datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from lake.backup import batch_manifest
from lake.backup.completion_report import FORMAT as REPORT_FORMAT
from sandbox.control import stored, tasks
from sandbox.control.jobs import MOST_TAGS, Job
from sandbox.control.manifests import FORMATS
from sandbox.control.xml import Refusal, read, text

HIGHEST_PRIORITY = 2**31 - 1
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/.+")


def read_job(data: bytes, account: str, now: datetime) -> Job:
    """A job as it is asked for. Raises Refusal."""
    request = read(data, "CreateJobRequest")
    token = text(request, "ClientRequestToken")
    try:
        _check(request, token)
        priority = int(text(request, "Priority"))
        if not 0 <= priority <= HIGHEST_PRIORITY:
            raise ValueError(f"the priority {priority} is not from 0 to {HIGHEST_PRIORITY}")
    except ValueError as error:
        raise Refusal("InvalidRequest", f"The request cannot be done: {error}.") from error
    return Job(
        account=account,
        token=token,
        digest=_digest(request),
        request=request,
        priority=priority,
        role_arn=text(request, "RoleArn"),
        description=text(request, "Description"),
        needs_confirmation=text(request, "ConfirmationRequired") == "true",
        created_at=now,
        tags=read_tags(request.find("Tags")),
    )


def read_tags(listed: Element | None) -> dict[str, str]:
    """Raises Refusal TooManyTagsException for more than 50."""
    members = [] if listed is None else listed.findall("member")
    if len(members) > MOST_TAGS:
        raise Refusal("TooManyTagsException", f"A job takes {MOST_TAGS} tags, and {len(members)} were given.")
    return {text(member, "Key"): text(member, "Value") for member in members}


def _check(request: Element, token: str) -> None:
    if not 0 < len(token) <= 64:
        raise ValueError("the ClientRequestToken has 1 to 64 characters")
    if not _ROLE.fullmatch(text(request, "RoleArn")):
        raise ValueError("the RoleArn is no role's")
    if len(text(request, "Description")) > 256:
        raise ValueError("the Description has at most 256 characters")
    _check_operation(request)
    _check_manifest(request.find("Manifest"))
    _check_report(request.find("Report"))


def _check_operation(request: Element) -> None:
    operations = request.findall("Operation/*")
    if len(operations) != 1:
        raise ValueError("exactly one operation is needed")
    if operations[0].tag != "S3PutObjectCopy":
        raise ValueError(f"the sandbox plays S3PutObjectCopy only, and not {operations[0].tag}")
    tasks.read_operation(operations[0], text(request, "RoleArn"))


def _check_manifest(manifest: Element | None) -> None:
    if manifest is None:
        raise ValueError("a Manifest is needed; the sandbox generates none")
    if text(manifest, "Spec/Format") not in FORMATS:
        raise ValueError(f"the manifest's Format is none of {', '.join(FORMATS)}")
    fields = [member.text for member in manifest.iterfind("Spec/Fields/member")]
    is_plain = text(manifest, "Spec/Format") == batch_manifest.FORMAT
    if is_plain and not {"Bucket", "Key"} <= set(fields):
        raise ValueError("the manifest's Fields need Bucket and Key")
    if not is_plain and fields:
        raise ValueError("the manifest of an inventory takes no Fields")
    if not stored.split_arn(text(manifest, "Location/ObjectArn"))[1]:
        raise ValueError("the manifest's ObjectArn names no object")
    if not text(manifest, "Location/ETag"):
        raise ValueError("the manifest's ETag is needed")


def _check_report(report: Element | None) -> None:
    if report is None:
        raise ValueError("a Report is needed")
    if text(report, "Enabled") != "true":
        return
    stored.split_arn(text(report, "Bucket"))
    if text(report, "Format") != REPORT_FORMAT:
        raise ValueError(f"the report's Format is not {REPORT_FORMAT}")
    if text(report, "ReportScope") not in {"AllTasks", "FailedTasksOnly"}:
        raise ValueError("the report's ReportScope is neither AllTasks nor FailedTasksOnly")


def _digest(request: Element) -> str:
    written = ElementTree.canonicalize(ElementTree.tostring(request, encoding="unicode"), strip_text=True)
    return hashlib.sha256(written.encode()).hexdigest()
