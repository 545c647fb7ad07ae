"""What a process says, kept in a file of its own: that of this run, and that of the run before beside it."""

from collections import deque
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

MOST_BYTES = 5_000_000
LAST_LINES = 10


class LogFile:
    """The lines of one process, each with its time. A file that is full goes beside, as that of the run before does."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{name}.log"
        self.last: deque[str] = deque(maxlen=LAST_LINES)
        self._put_aside()

    def write(self, text: str) -> None:
        """Add a line; a full disk is no reason to end what it tells of."""
        self.last.append(text)
        with suppress(OSError):
            if self.path.exists() and self.path.stat().st_size > MOST_BYTES:
                self._put_aside()
            with self.path.open("a", encoding="utf-8", errors="replace") as file:
                file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text}\n")

    def _put_aside(self) -> None:
        with suppress(FileNotFoundError):
            self.path.replace(self.path.with_suffix(".log.1"))
