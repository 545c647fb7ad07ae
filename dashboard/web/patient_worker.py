"""Gunicorn's threads, which half a request, or an answer that nobody takes, keeps only so long; in a warm process."""

import socket
import struct
from typing import Any

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

WAIT_SECONDS = 10
"""How long a thread waits for the next bytes of a request, or for a client to take some of the answer."""


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A worker whose connections end a wait by themselves, in the kernel: gthread sets its sockets to block."""

    def load_wsgi(self) -> None:
        super().load_wsgi()
        from dashboard.web.warm import warm_up  # gunicorn imports this module before Django is set up

        warm_up()

    def enqueue_req(self, conn: Any) -> None:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            conn.sock.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", WAIT_SECONDS, 0))
        super().enqueue_req(conn)
