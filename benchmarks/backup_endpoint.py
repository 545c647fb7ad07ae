"""An S3 of files for the benchmarks of backups: what is PUT becomes a file below a folder of this machine."""

import itertools
import multiprocessing
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

        def do_PUT(self) -> None:
            path, left = self._file(), int(self.headers["Content-Length"])
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                while left:
                    left -= file.write(self.rfile.read(min(left, PIECE)))
            # No digest of the bytes, which would be this machine's work here and is S3's there.
            self._head(200, 0, f"{next(numbers):032x}")

        def do_GET(self) -> None:
            path = self._file()
            if not path.is_file():
                self._head(404, 0, "")
                return
            with path.open("rb") as file:
                self._head(200, path.stat().st_size, f"{next(numbers):032x}")
                shutil.copyfileobj(file, self.wfile, PIECE)

        def _file(self) -> Path:
            return home / unquote(self.path).lstrip("/")

        def _head(self, status: int, length: int, etag: str) -> None:
            self.send_response(status)
            self.send_header("ETag", f'"{etag}"')
            self.send_header("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT")
            self.send_header("Content-Length", str(length))
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is told of single requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.send(server.server_address[1])
    server.serve_forever()


def emptied(folder: Path) -> Path:
    """That folder, with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
