"""XML of S3 and S3 Control as plain documents, and refusals in S3's form."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import xmltodict
from werkzeug.wrappers import Response

CONTROL_NAMESPACE = "http://awss3control.amazonaws.com/doc/2018-08-20/"
Document = dict[str, Any]


class Refusal(Exception):
    """An error answer: S3's code, an HTTP status and a message."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


def read(data: bytes, root: str) -> Document:
    """What the root of a document holds; lists are those of `member` and `Field`."""
    found: Document = xmltodict.parse(data, force_list=("member", "Field"))[root]
    return found


def text(document: Mapping[str, Any], path: str) -> str:
    """The text at a path, "" where there is none."""
    found: Any = document
    for name in path.split("/"):
        found = (found or {}).get(name)
    return found or ""


def moment(value: str | datetime) -> datetime:
    """A time as moto keeps it or as XML has it, in UTC."""
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def respond(root: str, content: Mapping[str, Any]) -> Response:
    return _response(200, {root: content})


def refused(refusal: Refusal, *, is_control: bool) -> Response:
    """S3 Control wraps its error; S3 does not."""
    error = {"Error": {"Code": refusal.code, "Message": str(refusal)}}
    return _response(refusal.status, {"ErrorResponse": {"@xmlns": CONTROL_NAMESPACE, **error}} if is_control else error)


def _response(status: int, document: Mapping[str, Any]) -> Response:
    headers = {"x-amz-request-id": uuid4().hex[:16].upper()}
    return Response(xmltodict.unparse(document), status, headers, content_type="application/xml")
