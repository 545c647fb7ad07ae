"""S3 of another region than the one it is asked in: it refuses what is signed for any other, and passes the rest on."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import urllib3

from tests.endings import POLL_SECONDS
from tests.waiting import scaled

_SIGNED_FOR = re.compile(r"Credential=[^/]+/\d+/([^/]+)/s3/")
_SPARK = "aws-sdk-java/2"
"""S3A speaks through the AWS SDK v2; Levee's own requests name themselves otherwise."""
_OF_THE_LINE = {"connection", "host", "keep-alive", "transfer-encoding"}


@dataclass
class Elsewhere:
    """The server behind is `target`, the bucket's region `region`; `of_spark` are the regions that S3A signed for."""

    target: str
    region: str
    origin: str = ""
    of_spark: set[str] = field(default_factory=set)
    _pool: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(maxsize=16, retries=False))

    def answer(self, request: BaseHTTPRequestHandler) -> tuple[int, bytes, dict[str, str]]:
        data = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        signed = _SIGNED_FOR.search(request.headers.get("Authorization", ""))
        named = signed.group(1) if signed else ""
        if _SPARK in request.headers.get("User-Agent", ""):
            self.of_spark.add(named)
        if named != self.region:
            refusal = f"<Error><Code>AuthorizationHeaderMalformed</Code><Region>{self.region}</Region></Error>"
            return 400, refusal.encode(), {"x-amz-bucket-region": self.region, "Content-Type": "application/xml"}
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OF_THE_LINE}
        answer = self._pool.request(
            request.command, self.target + request.path, body=data, headers=headers, decode_content=False
        )
        kept = {name: value for name, value in answer.headers.items() if name.lower() not in _OF_THE_LINE}
        return answer.status, answer.data, kept


@contextmanager
def elsewhere(target: str, region: str) -> Iterator[Elsewhere]:
    """Serve on loopback in front of the origin `target`."""
    stands = Elsewhere(target, region)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            status, data, headers = stands.answer(self)
            self.send_response_only(status)
            sized = (
                headers if self.command == "HEAD" and status < 300 else {**headers, "Content-Length": str(len(data))}
            )
            for name, value in sized.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815 - as http.server asks for them

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
