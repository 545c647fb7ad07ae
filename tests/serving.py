"""A server on loopback that keeps what it is asked, and answers as the test says or as the one behind it does."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import urllib3

from tests.endings import POLL_SECONDS
from tests.waiting import scaled

Given = tuple[int, bytes, Mapping[str, str]]
"""The status, the body and the headers of an answer."""
_OF_THE_LINE = {"connection", "content-length", "host", "transfer-encoding", "keep-alive", "expect", "accept-encoding"}


@dataclass(frozen=True, slots=True)
class Came:
    """One request as it came; `path` has its query."""

    method: str
    path: str
    headers: Message
    body: bytes


class Behind:
    """The origin that requests are passed on to as they came."""

    def __init__(self, target: str) -> None:
        self._target = target.rstrip("/")
        self._pool = urllib3.PoolManager(maxsize=16, retries=False)

    def answer(self, came: Came) -> Given:
        headers = {name: value for name, value in came.headers.items() if name.lower() not in _OF_THE_LINE}
        answer = self._pool.request(
            came.method, self._target + came.path, body=came.body, headers=headers, decode_content=False
        )
        said = {name: value for name, value in answer.headers.items() if name.lower() not in _OF_THE_LINE}
        if came.method == "HEAD" and "Content-Length" in answer.headers:
            said["Content-Length"] = answer.headers["Content-Length"]
        return answer.status, answer.data, said


@contextmanager
def serving(answer: Callable[[Came], Given | None]) -> Iterator[tuple[str, list[Came]]]:
    """Yield the server's origin, and what it has been asked so far. Where there is no answer, it hangs up."""
    asked: list[Came] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.append(Came(self.command, self.path, self.headers, body))
            given = answer(asked[-1])
            if given is None:
                self.close_connection = True
                return
            status, data, said = given
            self.send_response_only(status)
            for name, value in ({"Content-Length": str(len(data))} | dict(said)).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815 - as http.server asks for them

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=scaled(10))
