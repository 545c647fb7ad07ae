"""A gate before moto: refuses chosen requests, and lets a test act between two of them."""

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from tests.builders.quick_moto import dispatcher, serve_here, serve_no_more
from tests.endings import POLL_SECONDS
from tests.waiting import scaled

REQUEST_ID = "GUARD7EXAMPLE"
_SUBRESOURCES = {
    "versioning": "GetBucketVersioning",
    "versions": "ListObjectVersions",
    "lifecycle": "GetBucketLifecycleConfiguration",
    "encryption": "GetBucketEncryption",
    "intelligent-tiering": "ListBucketIntelligentTieringConfigurations",
}


@dataclass(frozen=True)
class Call:
    """One request: `operation` as AWS names it, `target` the path for S3 and the body for DynamoDB."""

    operation: str
    target: str


class Guard:
    """The WSGI application and the server that carries it; moto behind it is the one of this process."""

    def __init__(self) -> None:
        from werkzeug.serving import make_server

        self.calls: list[Call] = []
        self.before: Callable[[Call], None] = lambda call: None
        self.owners: dict[str, str] = {}
        self._denied: list[Call] = []
        self._moto = dispatcher()
        self._server = make_server("127.0.0.1", 0, self, threaded=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        serve_here(self.url, self)

    def deny(self, operation: str, within: str = "") -> None:
        """Answer AccessDenied to an operation whose path or body holds `within`."""
        self._denied.append(Call(operation, within))

    def allow_all(self) -> None:
        self._denied.clear()

    def count(self, operation: str) -> int:
        return sum(call.operation == operation for call in self.calls)

    def close(self) -> None:
        serve_no_more(self.url)
        self._server.shutdown()
        self._thread.join(timeout=scaled(5))
        self._server.server_close()

    def _is_of_another_account(self, environ: dict[str, Any]) -> bool:
        """Whether S3 would refuse for the expected owner; `owners` are accounts by bucket."""
        wanted = environ.get("HTTP_X_AMZ_EXPECTED_BUCKET_OWNER")
        bucket = environ["RAW_URI"].partition("?")[0].split("/")[1]
        return bool(wanted) and self.owners.get(bucket, wanted) != wanted

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        call = _call(environ)
        self.calls.append(call)
        self.before(call)
        denied = any(one.operation == call.operation and one.target in call.target for one in self._denied)
        if denied or self._is_of_another_account(environ):
            return _refuse(call.operation, start_response)
        return self._moto(environ, start_response)


def _call(environ: dict[str, Any]) -> Call:
    if target := environ.get("HTTP_X_AMZ_TARGET"):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = _Again(body)
        return Call(target.rpartition(".")[2], body.decode())
    path, query = environ["RAW_URI"].partition("?")[0], parse_qs(environ["QUERY_STRING"], keep_blank_values=True)
    if "list-type" in query:
        return Call("ListObjectsV2", f"{path}?{query.get('prefix', [''])[0]}")
    for name, operation in _SUBRESOURCES.items():
        if name in query:
            return Call(operation, path)
    if environ["REQUEST_METHOD"] == "HEAD" and path.strip("/").count("/") == 0:
        return Call("HeadBucket", path)
    return Call("HeadObject" if environ["REQUEST_METHOD"] == "HEAD" else "GetObject", path)


class _Again:
    """A body that was read once and is to be read again by the application behind."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def read(self, size: int = -1) -> bytes:
        size = len(self._body) if size < 0 else size
        data, self._body = self._body[:size], self._body[size:]
        return data


def _is_s3(operation: str) -> bool:
    return "Object" in operation or "Bucket" in operation


def _refuse(operation: str, start_response: Any) -> list[bytes]:
    message = f"User: arn:aws:iam::111122223333:user/levee is not authorized to perform {operation}"
    if _is_s3(operation):
        status = 403
        body = f"<Error><Code>AccessDenied</Code><Message>{message}</Message></Error>".encode()
        headers = [("x-amz-request-id", REQUEST_ID), ("Content-Type", "application/xml")]
    else:
        status = 400
        said = {"__type": "com.amazonaws.dynamodb.v20120810#AccessDeniedException", "message": message}
        body = json.dumps(said).encode()
        headers = [("x-amzn-requestid", REQUEST_ID), ("Content-Type", "application/x-amz-json-1.0")]
    if operation in {"HeadObject", "HeadBucket"}:
        body = b""
    start_response(f"{status} Refused", [*headers, ("Content-Length", str(len(body)))])
    return [body]
