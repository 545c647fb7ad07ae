"""A server between Spark and DynamoDB that passes every request on, and at one of them does what a test asks for."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

import urllib3

from tests.endings import POLL_SECONDS
from tests.waiting import scaled

Body = dict[str, Any]
_KEPT = ("Content-Type", "X-Amz-Target", "X-Amz-Date", "Authorization")
_SPARK = "aws-sdk-java/1"
"""Delta's coordinator speaks through the AWS SDK v1; Levee's own requests name themselves otherwise."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An error in DynamoDB's own form."""

    code: str
    status: int = 400

    @property
    def body(self) -> bytes:
        return json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{self.code}", "message": "as asked"}).encode()


@dataclass(slots=True)
class Moment:
    """The first request of Spark's that is this operation and fits. `before` happens ahead of it, `after` behind it.

    `answer` is given instead of passing the request on, `times` times. Without `is_passed_on` DynamoDB never hears of
    it, without `is_answered` Spark never hears of the answer.
    """

    operation: str
    fits: Callable[[Body], bool] = lambda body: True
    before: Callable[[], object] = lambda: None
    after: Callable[[], object] = lambda: None
    answer: Answer | None = None
    times: int = 1
    is_passed_on: bool = True
    is_answered: bool = True


@dataclass
class Between:
    """`moments` wait for their requests; one that came is taken from the list."""

    target: str
    origin: str = ""
    moments: list[Moment] = field(default_factory=list)
    came: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _pool: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(maxsize=16, retries=False))

    def at(self, moment: Moment) -> Moment:
        self.moments.append(moment)
        return moment

    def forget(self) -> None:
        """No test hears of the moments of the one before."""
        with self._lock:
            self.moments.clear()
            self.came.clear()

    def take(self, operation: str, body: Body) -> Moment | None:
        with self._lock:
            for moment in self.moments:
                if moment.operation == operation and moment.fits(body):
                    moment.times -= 1
                    if not moment.times:
                        self.moments.remove(moment)
                    self.came.append(operation)
                    return moment
        return None

    def handle(self, request: BaseHTTPRequestHandler) -> tuple[int, bytes, dict[str, str]] | None:
        data = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        operation = request.headers.get("X-Amz-Target", "").rpartition(".")[2]
        is_sparks = _SPARK in request.headers.get("User-Agent", "")
        moment = self.take(operation, json.loads(data)) if is_sparks else None
        if moment is None:
            return self._pass_on(request, data)
        moment.before()
        if moment.answer is not None:
            return moment.answer.status, moment.answer.body, {}
        answer = self._pass_on(request, data) if moment.is_passed_on else None
        moment.after()
        return answer if moment.is_answered else None

    def _pass_on(self, request: BaseHTTPRequestHandler, data: bytes) -> tuple[int, bytes, dict[str, str]]:
        headers = {name: request.headers[name] for name in _KEPT if name in request.headers}
        answer = self._pool.request("POST", f"{self.target}/", body=data, headers=headers)
        return answer.status, answer.data, {n: v for n, v in answer.headers.items() if n.lower().startswith("x-am")}


@contextmanager
def between(target: str) -> Iterator[Between]:
    """Serve on loopback in front of the origin `target`."""
    stands = Between(target)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            answer = stands.handle(self)
            if answer is None:
                self.close_connection = True
                return
            status, data, headers = answer
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stands.origin = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield stands
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=scaled(10))
