"""Error answers in AWS's two dialects, the XML of S3 and STS and the JSON of DynamoDB, made into one AwsError."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape

import orjson

from lake.aws.errors import ACCESS_DENIED, AwsError, missing_permission

# What a HEAD answer, which has no body, can only say by its status.
CODES_BY_STATUS = {
    301: "PermanentRedirect",
    307: "TemporaryRedirect",
    400: "BadRequest",
    403: "AccessDenied",
    404: "NotFound",
    412: "PreconditionFailed",
    416: "InvalidRange",
    429: "TooManyRequests",
    503: "ServiceUnavailable",
}
REQUEST_ID_HEADERS = ("x-amz-request-id", "x-amzn-requestid", "x-amzn-request-id")


@dataclass(frozen=True, slots=True)
class AwsResponse:
    """One HTTP answer, its body read to the end. Header names match in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def read_error(answer: AwsResponse, operation: str, target: str) -> AwsError:
    """The error that an answer outside 2xx stands for."""
    code, message = _code_and_message(answer)
    code = code or CODES_BY_STATUS.get(answer.status, f"HTTP{answer.status}")
    message = message or f"the endpoint answered with HTTP status {answer.status} and no explanation"
    permission = missing_permission(operation, message) if code in ACCESS_DENIED else ""
    return AwsError(code, message, request_id(answer), operation, permission, target)


def malformed(answer: AwsResponse, reason: str, operation: str, target: str) -> AwsError:
    """The error for an answer with a good status whose body cannot be read."""
    return AwsError("MalformedAnswer", reason, request_id(answer), operation, "", target)


def request_id(answer: AwsResponse) -> str:
    for name in REQUEST_ID_HEADERS:
        if answer.headers.get(name):
            return answer.headers[name]
    return xml_text(answer.body, b"RequestId") if _is_xml(answer.body) else ""


def xml_text(body: bytes, tag: bytes) -> str:
    """Text of the first element of that local name, "" where there is none."""
    found = re.search(rb"<(?:\w+:)?" + tag + rb"(?:\s[^>]*)?>([^<]*)<", body)
    return unescape(found.group(1).decode("utf-8", "replace")).strip() if found else ""


def _is_xml(body: bytes) -> bool:
    return body.lstrip()[:1] == b"<"


def _code_and_message(answer: AwsResponse) -> tuple[str, str]:
    if _is_xml(answer.body):
        return xml_text(answer.body, b"Code"), xml_text(answer.body, b"Message")
    code = answer.headers.get("x-amzn-errortype", "")
    message = ""
    try:
        said = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        said = None
    if isinstance(said, dict):
        code = str(said.get("__type") or said.get("code") or code)
        message = str(said.get("message") or said.get("Message") or "")
    return code.split("#")[-1].split(":")[0], message
