"""A mail server on loopback that takes every mail, sends none on, and keeps each as a file."""

import itertools
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller


class Keeper:
    """Keeps what arrives as 0001.eml, 0002.eml and so on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count(1 + sum(1 for _ in folder.glob("*.eml")))

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        (self._folder / f"{next(self._numbers):04}.eml").write_bytes(envelope.content)
        return "250 Kept"


@contextmanager
def mail_server(folder: Path) -> Iterator[str]:
    """Serve until the block ends; yields the server's URL, smtp://127.0.0.1:port."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    controller = Controller(Keeper(folder), hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield f"smtp://127.0.0.1:{port}"
    finally:
        controller.stop()
