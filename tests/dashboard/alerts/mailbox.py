"""A real SMTP server on loopback that keeps what it gets, or misbehaves as told."""

import email
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.policy import default
from typing import Any, cast

from aiosmtpd.controller import Controller

from dashboard.processes.lock import free_port
from tests.waiting import scaled


class Mailbox:
    """What arrived. `answer_to_recipient` and `answer_to_data` are what the server says instead of yes."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.answer_to_recipient = ""
        self.answer_to_data = ""
        self.port = 0

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:  # noqa: N802
        if self.answer_to_recipient:
            return self.answer_to_recipient
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if self.answer_to_data:
            return self.answer_to_data
        self.mails.append(cast(EmailMessage, email.message_from_bytes(envelope.content, policy=default)))
        return "250 Taken"


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    box = Mailbox()
    box.port = free_port()
    controller = Controller(box, hostname="127.0.0.1", port=box.port)
    controller.start()
    try:
        yield box
    finally:
        controller.stop()


@contextmanager
def rude_server(*answers: bytes) -> Iterator[str]:
    """A server that says one answer after each thing it hears, then hangs up; yields its URL. b"" says nothing."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        line, _ = listening.accept()
        with line:
            for answer in answers:
                line.sendall(answer)
                line.recv(65_536)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"smtp://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()
        thread.join(timeout=scaled(5))
