"""An S3 that copies, for the benchmarks of backups: several processes on one loopback port, each answer after a delay.

It knows HEAD, CopyObject, PUT and an empty LIST, checks no signature, and counts copies. It holds nothing: every object
of the source is there with the ETag that is asked for. Only objects of one bucket are files of this machine, and are
answered at once. What it spends itself is told as CPU, so that one can see whether it or the client was the limit.
"""

import asyncio
import multiprocessing
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_longlong
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmarks.backup_data import BUCKET
from benchmarks.backup_endpoint import range_of

OWN = f"/{BUCKET}/".encode()
ETAG = "d41d8cd98f00b204e9800998ecf8427e"
HTTP_DATE = "Fri, 20 Nov 2026 10:00:00 GMT"
COPIED = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<CopyObjectResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    f"<LastModified>2026-11-20T10:00:00.000Z</LastModified><ETag>&quot;{ETAG}&quot;</ETag></CopyObjectResult>"
)
LISTED = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    "<KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>"
)


def _answer(body: str, more: str = "") -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return (head + body).encode()


ANSWERS = {
    "copy": _answer(COPIED),
    "list": _answer(LISTED),
    "put": _answer("", f'ETag: "{ETAG}"\r\n'),
    "head": f'HTTP/1.1 200 OK\r\nContent-Length: 4096\r\nETag: "{ETAG}"\r\nLast-Modified: {HTTP_DATE}\r\n\r\n'.encode(),
}


class CopyStandin:
    """A running stand-in."""

    def __init__(self, url: str, pids: list[int], count: "Synchronized[int]") -> None:
        self.url = url
        self._pids = pids
        self._count = count

    @property
    def copies(self) -> int:
        """How many CopyObject it has answered."""
        return int(self._count.value)

    def cpu_seconds(self) -> float:
        """User and system seconds of all its processes."""
        ticks = 0
        for pid in self._pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def copying_s3(*, latency: float, home: Path, processes: int = 3) -> Iterator[CopyStandin]:
    """Serve until the block ends; `latency` is seconds before each answer, `home` the folder of the files' bucket."""
    fork = multiprocessing.get_context("fork")
    count = fork.Value(c_longlong, 0)
    holder = _listener(0)
    port = holder.getsockname()[1]
    listening = fork.Barrier(processes + 1)
    workers = [
        fork.Process(target=_serve, args=(port, latency, home, count, listening), daemon=True) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    listening.wait(timeout=20)
    holder.close()
    try:
        yield CopyStandin(f"http://127.0.0.1:{port}", [worker.pid for worker in workers if worker.pid], count)
    finally:
        for worker in workers:
            worker.terminate()
            worker.join(timeout=5)


def _listener(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    return listener


def _serve(port: int, latency: float, home: Path, count: Any, listening: Any) -> None:
    async def listen() -> None:
        listener = _listener(port)
        listener.listen(1024)
        server = await asyncio.get_running_loop().create_server(lambda: _Exchange(latency, home, count), sock=listener)
        listening.wait()
        await server.serve_forever()

    asyncio.run(listen())


class _Exchange(asyncio.Protocol):
    """One connection: requests one after another, each answered after the delay."""

    def __init__(self, latency: float, home: Path, count: Any) -> None:
        self._home = home
        self._latency = latency
        self._count = count
        self._loop = asyncio.get_running_loop()
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while request := self._next():
            answer = _file(self._home, *request) if request[0].partition(b" ")[2].startswith(OWN) else None
            if answer is not None:
                self._write(answer)
            else:
                self._loop.call_later(self._latency, self._write, ANSWERS[_kind(request[0].lower())])

    def _write(self, answer: bytes) -> None:
        if answer is ANSWERS["copy"]:
            with self._count.get_lock():
                self._count.value += 1
        if self._transport and not self._transport.is_closing():
            self._transport.write(answer)

    def _next(self) -> tuple[bytes, bytes] | None:
        """Head and body of the next request, once it is there."""
        head, mark, rest = self._received.partition(b"\r\n\r\n")
        wanted = int(_header(head, b"content-length") or 0)
        if not mark or len(rest) < wanted:
            return None
        self._received = rest[wanted:]
        return head, rest[:wanted]


def _header(head: bytes, name: bytes) -> bytes:
    _, _, value = head.lower().partition(b"\r\n" + name + b":")
    return value.split(b"\r\n", 1)[0].strip()


def _kind(lower: bytes) -> str:
    if lower.startswith(b"head"):
        return "head"
    if lower.startswith(b"get"):
        return "list"
    return "copy" if b"\r\nx-amz-copy-source:" in lower else "put"


def _file(home: Path, head: bytes, body: bytes) -> bytes:
    """The answer to a GET or PUT of an object that is a file."""
    method, path, _ = head.decode().split(" ", 2)
    file = home / unquote(path).lstrip("/")
    if method == "PUT":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        return ANSWERS["put"]
    size = file.stat().st_size
    first, last = range_of(_header(head, b"range").decode(), size)
    told = f"HTTP/1.1 206 OK\r\nContent-Length: {last + 1 - first}\r\nContent-Range: bytes {first}-{last}/{size}\r\n"
    return f'{told}ETag: "{ETAG}"\r\nLast-Modified: {HTTP_DATE}\r\n\r\n'.encode() + file.read_bytes()[first : last + 1]
