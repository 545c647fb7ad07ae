"""What a Spark worker writes beside its messages: Spark's own log, and what libraries print."""

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from socket import gethostname

from lake.secrets import without_secrets

EVERY_SECONDS = 10.0
KEPT_SECONDS = 7 * 86_400
MOST_BYTES, MOST_LINES, LONGEST_LINE = 65_536, 20, 500
"""What one look tells at most: the newest."""
MOST_OF_JOB = 400
"""Lines of one job, but for those of its last look."""
_ENDED = re.compile(r"^Traceback .*\n(?:  .*pyspark/daemon\.py.*\n)+BrokenPipeError.*\n", re.MULTILINE)
"""What a Python process of Spark writes as it ends: nobody reads its pipe any more."""


def log_file(home: Path) -> Path:
    """Of this process alone: another's worker may be at work for other people's jobs."""
    return home / "spark" / f"worker-{gethostname()}-{os.getpid()}.log"


def remove_old(folder: Path) -> None:
    """Remove the logs to which nothing was added for a week."""
    for old in folder.glob("worker-*.log"):
        with suppress(FileNotFoundError):
            if time.time() - old.stat().st_mtime > KEPT_SECONDS:
                old.unlink()


class LogTail:
    """Follows the log from where it is now."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._at = file.stat().st_size if file.exists() else 0
        self._looked_at = time.monotonic()
        self._told = 0

    def begin_anew(self) -> None:
        """Another worker has begun the file anew."""
        self._at = 0

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._looked_at >= EVERY_SECONDS

    def new_lines(self, *, last: bool = False) -> tuple[str, ...]:
        """The whole lines since the look before but those of Java's stacks and `_ENDED`, secrets masked; () where there
        is nothing, or no more room."""
        self._looked_at = time.monotonic()
        if self._told >= MOST_OF_JOB and not last:
            return ()
        try:
            with self._file.open("rb") as file:
                is_cut = file.seek(0, 2) - self._at > MOST_BYTES
                file.seek(-MOST_BYTES if is_cut else self._at, 2 if is_cut else 0)
                data = file.read()
                self._at = file.tell() - len(data.rpartition(b"\n")[2])
        except OSError:
            return ()
        text = data.decode(errors="replace").replace("\0", "\ufffd")
        lines = _ENDED.sub("", text).split("\n")[is_cut:-1]
        lines = [line for line in lines if line.strip() and not line.lstrip().startswith("at ")]
        shown = [without_secrets(line)[:LONGEST_LINE] for line in lines[-MOST_LINES:]]
        if is_cut or len(lines) > MOST_LINES:
            shown = [f"Lines before this are left out: spark/{self._file.name} in LEVEE_HOME has them.", *shown]
        self._told += len(shown)
        return tuple(shown)
