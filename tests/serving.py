"""A small HTTP server on loopback: it keeps what it is asked, and answers as the test says."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.endings import POLL_SECONDS
from tests.waiting import scaled


class Asked(NamedTuple):
    """One request."""

    path: str
    headers: Message
    body: bytes


Answer = Callable[[Asked], tuple[int, Mapping[str, str], str]]
"""Status, headers and text for a request."""


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[Asked]]]:
    """Yield the server's origin, and what it has been asked so far."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.append(Asked(self.path, self.headers, body))
            status, headers, text = answer(asked[-1])
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text.encode()))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        do_PUT = do_HEAD = do_POST = do_GET  # noqa: N815 - the names that http.server calls

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join(timeout=scaled(5))
        server.server_close()
