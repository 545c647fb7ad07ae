"""One HTTP server for the benchmarks: several processes on one loopback port, each answer after a set delay.

What it answers is a function from a request to bytes, quick enough that the client under test and not the server is the
limit; `cpu_seconds` tells whether that held. It checks no signature.
"""

import asyncio
import multiprocessing
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


Answer = Callable[[Request], bytes]


def respond(status: int, body: bytes = b"", more: str = "", kind: str = "application/xml") -> bytes:
    """A whole answer; `more` are further lines of its head."""
    head = f"HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\nx-amz-request-id: STANDIN\r\n{more}"
    if "Content-Length" not in more:
        head += f"Content-Length: {len(body)}\r\n"
    return f"{head}\r\n".encode() + body


class Standin:
    """A running server: its address and the CPU its processes have used."""

    def __init__(self, url: str, pids: list[int]) -> None:
        self.url = url
        self._pids = pids

    def cpu_seconds(self) -> float:
        """User and system seconds of all server processes so far."""
        ticks = 0
        for pid in self._pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def serve(
    answer: Answer, *, latency: float = 0.0, at_once: tuple[str, ...] = (), processes: int = 2
) -> Iterator[Standin]:
    """Serve until the block ends; `latency` is seconds before each answer but of targets that begin with `at_once`.

    Processes are forked and share memory.
    """

    def work() -> None:
        asyncio.run(_listen(port, lambda: _Exchange(answer, latency, at_once), listening))

    fork = multiprocessing.get_context("fork")
    # The port is taken once and shared: each process then listens on a socket of its own.
    holder = _listener(0)
    port = holder.getsockname()[1]
    listening = fork.Barrier(processes + 1)
    workers = [fork.Process(target=work, daemon=True) for _ in range(processes)]
    for worker in workers:
        worker.start()
    listening.wait(timeout=20)
    holder.close()
    try:
        yield Standin(f"http://127.0.0.1:{port}", [worker.pid for worker in workers if worker.pid])
    finally:
        for worker in workers:
            worker.terminate()
            worker.join(timeout=5)


def _listener(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    return listener


async def _listen(port: int, exchange: Callable[[], asyncio.Protocol], listening: Any) -> None:
    listener = _listener(port)
    listener.listen(1024)
    server = await asyncio.get_running_loop().create_server(exchange, sock=listener)
    listening.wait()
    await server.serve_forever()


class _Exchange(asyncio.Protocol):
    """One connection: requests one after another, each answered after the delay."""

    def __init__(self, answer: Answer, latency: float, at_once: tuple[str, ...]) -> None:
        self._answer = answer
        self._latency = latency
        self._at_once = at_once
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (request := self._next()) is not None:
            delay = 0 if request.target.startswith(self._at_once) else self._latency
            self._loop.call_later(delay, self._write, self._answer(request))

    def _write(self, said: bytes) -> None:
        if self._transport and not self._transport.is_closing():
            self._transport.write(said)

    def _next(self) -> Request | None:
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return None
        first, *lines = bytes(self._received[:end]).decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        begin, length = end + 4, int(headers.get("content-length", 0))
        if len(self._received) < begin + length:
            return None
        body = bytes(self._received[begin : begin + length])
        del self._received[: begin + length]
        method, target, _ = first.split(" ")
        return Request(method, target, headers, body)
