"""An HTTP server that plays a script: one answer per request, in order, the last one for ever."""

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from lake.aws.access import Access, Lake, open_lake
from lake.aws.wire import RetryPolicy

QUICK = RetryPolicy(
    connect=2.0, read=0.3, attempts=4, throttled_attempts=6, first_pause=0.001, longest_pause=0.002, total=20.0
)
TLS_HANDSHAKE = b"\x16"


def quick(url: str, *, retry_policy: RetryPolicy = QUICK, **access: object) -> Lake:
    """A lake at that endpoint which waits milliseconds between attempts."""
    given = {"static_credentials": ("key", "secret"), "endpoint_url": url, **access}
    return open_lake(Access("us-east-1", **given), retry_policy=retry_policy)


@dataclass(frozen=True)
class Reply:
    """`cut` closes the connection after the body's first that many bytes; `silent` keeps it open and says nothing."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    silent: bool = False

    def encode(self) -> bytes:
        headers = {"Content-Length": str(len(self.body)), **self.headers}
        lines = [f"HTTP/1.1 {self.status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
        body = self.body if self.cut is None else self.body[: self.cut]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass(frozen=True)
class Heard:
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class StubServer:
    """Listens on a random loopback port; `heard` holds every request."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []
        self._script: Callable[[Heard, int], Reply] = lambda heard, number: Reply(500)
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def play(self, *replies: Reply) -> None:
        self._script = lambda heard, number: replies[min(number, len(replies) - 1)]

    def answer(self, script: Callable[[Heard, int], Reply]) -> None:
        self._script = script

    def close(self) -> None:
        self._listener.close()
        for connection in self._open:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream:
            try:
                if connection.recv(1, socket.MSG_PEEK) == TLS_HANDSHAKE:
                    connection.recv(65536)
                    connection.sendall(Reply(400).encode())
                while heard := _hear(stream):
                    self.heard.append(heard)
                    reply = self._script(heard, len(self.heard) - 1)
                    if reply.silent:
                        threading.Event().wait(2.0)
                        return
                    connection.sendall(reply.encode())
                    if reply.cut is not None:
                        connection.shutdown(socket.SHUT_RDWR)
                        return
            except OSError:
                return


def _hear(stream) -> Heard | None:
    first = stream.readline().decode("latin-1").split()
    if len(first) != 3:
        return None
    headers = {}
    while line := stream.readline().decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return Heard(first[0], first[1], headers, stream.read(int(headers.get("content-length", 0))))
