"""At most two Spark JVMs at a time: what is warm and shared makes room for what a test has to start by itself.

A JVM with Spark takes half a gigabyte and, while it starts, more than one core. All tests that are marked `spark` run
in one worker, and whatever starts a JVM there asks here first. The controller counts from outside and says how many
there were.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.endings import ENDINGS
from tools.contained import descendants

MOST = 2
MOST_OF_A_CLUSTER = 5
"""A standalone cluster is a master, a worker, a driver and an executor; the session of the tests stands beside it."""
COUNT_EVERY_SECONDS = 1.0
SPARK_CLASSES = b"org.apache.spark."


class SparkJvms:
    """The JVMs of one process: shared ones by name, the least recently used first, and room that tests hold."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._shared: dict[str, tuple[Any, Callable[[], object]]] = {}
        self._held = 0

    def shared(self, name: str, start: Callable[[], tuple[Any, Callable[[], object]]]) -> Any:
        """What `start` made under this name, made anew where it had to make room; `start` returns it and its end."""
        if name not in self._shared:
            self._make_room(1)
            self._shared[name] = start()
        self._shared[name] = self._shared.pop(name)
        return self._shared[name][0]

    @contextmanager
    def room(self, count: int = 1) -> Iterator[None]:
        """Keep room for so many JVMs that the caller starts and ends within the block."""
        self._make_room(count)
        self._held += count
        try:
            yield
        finally:
            self._held -= count

    def close(self) -> None:
        """End what is shared."""
        while self._shared:
            self._end_one()

    def _make_room(self, count: int) -> None:
        while self._shared and len(self._shared) + self._held + count > self._most:
            self._end_one()
        assert self._held + count <= self._most, f"{self._held} JVMs of a test run: {count} more would be too many."

    def _end_one(self) -> None:
        _, end = self._shared.pop(next(iter(self._shared)))
        end()


JVMS = SparkJvms()
ENDINGS.callback(JVMS.close)


class Census:
    """Counts the Spark JVMs below this process, whoever started them; `most` names the most at any one time.

    One counts from its second look on: a JVM that was killed gives its memory back for a moment. On a busy machine it
    may take longer, so more than `may_be` is said and fails no run.
    """

    def __init__(self, may_be: int = MOST) -> None:
        self.may_be = may_be
        self.most: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._count, name="census", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def pytest_sessionfinish(self) -> None:
        self._stop.set()
        self._thread.join(timeout=30)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.write_line(f"Spark JVMs at one time: at most {len(self.most)} ({self.may_be} may be).")
        for main_class in self.most if len(self.most) > self.may_be else ():
            terminalreporter.write_line(f"  {main_class}", red=True)

    def _count(self) -> None:
        before: dict[int, str] = {}
        while not self._stop.wait(COUNT_EVERY_SECONDS):
            now = spark_jvms(os.getpid())
            if len(both := now.keys() & before.keys()) > len(self.most):
                self.most = [now[number] for number in sorted(both)]
            before = now


def spark_jvms(root: int) -> dict[int, str]:
    """Each Spark JVM below a process, with its main class."""
    found = {}
    for number in descendants(root):
        with suppress(OSError):
            words = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
            is_java = words[0].rpartition(b"/")[2] == b"java"
            main_class = next((word for word in words if word.startswith(SPARK_CLASSES)), b"")
            if is_java and main_class:
                found[number] = main_class.decode(errors="replace")
    return found
