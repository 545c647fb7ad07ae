"""Gunicorn's threads, which half a request, or an answer that nobody takes, keeps only so long."""

import socket
import struct
from typing import Any

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

WAIT_SECONDS = 10
"""How long a thread waits for the next bytes of a request, or for a client to take some of the answer."""


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A worker whose connections end a wait by themselves, in the kernel: gthread sets its sockets to block."""

    def enqueue_req(self, conn: Any) -> None:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            conn.sock.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", WAIT_SECONDS, 0))
        super().enqueue_req(conn)
