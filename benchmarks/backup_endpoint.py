"""An S3 of files for the benchmarks of backups: objects are the files below a folder of this machine."""

import itertools
import multiprocessing
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import unquote

PIECE = 1 << 20


@contextmanager
def file_endpoint(home: Path) -> Iterator[str]:
    """Serve until the block ends; yields the origin. Bucket and key are the path below `home`."""
    fork = multiprocessing.get_context("fork")
    heard, told = fork.Pipe(duplex=False)
    process = fork.Process(target=_serve, args=(home, told), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{heard.recv()}"
    finally:
        process.terminate()
        process.join(timeout=5)


def _serve(home: Path, told: Connection) -> None:
    numbers = itertools.count(1)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Or a body waits 40 ms until its head is acknowledged.
        disable_nagle_algorithm = True

        def do_PUT(self) -> None:
            path, left = self._file(), int(self.headers["Content-Length"])
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                while left:
                    left -= file.write(self.rfile.read(min(left, PIECE)))
            # No digest of the bytes, which would be this machine's work here and is S3's there.
            self._head(200, 0)

        def do_HEAD(self) -> None:
            path = self._file()
            self._head(200 if path.is_file() else 404, path.stat().st_size if path.is_file() else 0)

        def do_GET(self) -> None:
            path = self._file()
            if not path.is_file():
                self._head(404, 0)
                return
            size = path.stat().st_size
            asked = self.headers.get("Range", "")
            first, last = range_of(asked, size)
            self._head(206 if asked else 200, last + 1 - first, f"bytes {first}-{last}/{size}" if asked else "")
            with path.open("rb") as file:
                while first <= last:
                    first += os.sendfile(self.connection.fileno(), file.fileno(), first, last + 1 - first)

        def _file(self) -> Path:
            return home / unquote(self.path).lstrip("/")

        def _head(self, status: int, length: int, content_range: str = "") -> None:
            self.send_response(status)
            self.send_header("ETag", f'"{next(numbers):032x}"')
            self.send_header("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT")
            self.send_header("Content-Length", str(length))
            if content_range:
                self.send_header("Content-Range", content_range)
            self.end_headers()
            self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is told of single requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.send(server.server_address[1])
    server.serve_forever()


def range_of(asked: str, size: int) -> tuple[int, int]:
    """The first and the last byte that a Range header asks for, of an object of that size; all without one."""
    first, _, last = asked.removeprefix("bytes=").partition("-")
    if not first:
        return (max(0, size - int(last)) if last else 0), size - 1
    return int(first), min(size - 1, int(last)) if last else size - 1


def emptied(folder: Path) -> Path:
    """That folder, with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
