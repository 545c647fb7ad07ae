"""A lean, read-only S3 and DynamoDB for benchmarks, served by several processes on one loopback port.

It answers list-type=2, GET (with Range), HEAD, Query, GetItem and Scan after a set delay, from bytes made beforehand,
so that the client under test and not the server is the limit; `cpu_seconds` tells whether that held. It checks no
signature.
"""

import asyncio
import multiprocessing
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.standin_data import Bucket, Request, StoredTable, answer

Items = Mapping[str, list[dict[str, Any]]]
Objects = Mapping[tuple[str, str], bytes]
KEY = ("tablePath", "fileName")


class Standin:
    """A running stand-in: its address and the CPU its processes have used."""

    def __init__(self, url: str, pids: list[int]) -> None:
        self.url = url
        self._pids = pids

    def cpu_seconds(self) -> float:
        """User and system seconds of all server processes so far."""
        ticks = os.sysconf("SC_CLK_TCK")
        total = 0.0
        for pid in self._pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / ticks
        return total


@contextmanager
def serve(
    objects: Objects | None = None,
    items: Items | None = None,
    *,
    keys: Mapping[str, tuple[str, str]] | None = None,
    latency: float = 0.0,
    processes: int = 2,
) -> Iterator[Standin]:
    """Serve `objects` by (bucket, key) and `items` in wire form by table name, until the block ends.

    `latency` is seconds before each answer. `keys` names the hash and range attribute of tables other than log stores.
    """
    by_bucket: dict[str, dict[str, bytes]] = {}
    for (bucket, key), body in (objects or {}).items():
        by_bucket.setdefault(bucket, {})[key] = body
    buckets = {name: Bucket(held) for name, held in by_bucket.items()}
    tables = {name: StoredTable(name, *(keys or {}).get(name, KEY), held) for name, held in (items or {}).items()}
    with serve_data(buckets, tables, latency=latency, processes=processes) as standin:
        yield standin


@contextmanager
def serve_data(
    buckets: Mapping[str, Bucket], tables: Mapping[str, StoredTable], *, latency: float, processes: int
) -> Iterator[Standin]:
    """The same from data already laid out, so that several servers can share it."""
    fork = multiprocessing.get_context("fork")
    # The port is taken once and shared: each process then listens on a socket of its own.
    holder = _listener(0)
    port = holder.getsockname()[1]
    workers, starts = [], []
    for _ in range(processes):
        ready, told = fork.Pipe(duplex=False)
        worker = fork.Process(target=_work, args=(port, buckets, tables, latency, told), daemon=True)
        worker.start()
        told.close()
        workers.append(worker)
        starts.append(ready)
    for ready in starts:
        ready.recv()
    holder.close()
    try:
        yield Standin(f"http://127.0.0.1:{port}", [worker.pid for worker in workers if worker.pid])
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join(timeout=5)


def _listener(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    return listener


def _work(
    port: int, buckets: Mapping[str, Bucket], tables: Mapping[str, StoredTable], latency: float, told: Connection
) -> None:
    async def listen() -> None:
        listener = _listener(port)
        listener.listen(1024)
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Exchange(buckets, tables, latency), sock=listener)
        told.send(True)
        await server.serve_forever()

    asyncio.run(listen())


class _Exchange(asyncio.Protocol):
    """One connection: requests one after another, each answered after the delay."""

    def __init__(self, buckets: Mapping[str, Bucket], tables: Mapping[str, StoredTable], latency: float) -> None:
        self._buckets = buckets
        self._tables = tables
        self._latency = latency
        self._loop = asyncio.get_running_loop()
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (request := self._next()) is not None:
            parts = answer(request, self._buckets, self._tables)
            self._loop.call_later(self._latency, self._write, parts)

    def _write(self, parts: tuple[bytes, ...]) -> None:
        if self._transport and not self._transport.is_closing():
            self._transport.writelines(parts)

    def _next(self) -> Request | None:
        head, mark, rest = self._received.partition(b"\r\n\r\n")
        if not mark:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return None
        self._received = rest[length:]
        method, target, _ = first.split(" ")
        return Request(method, target, headers, rest[:length])
