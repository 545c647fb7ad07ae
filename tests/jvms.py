"""At most two Spark JVMs at a time: what is warm and shared makes room for what a test has to start by itself.

A JVM with Spark takes half a gigabyte and, while it starts, more than one core. All tests that are marked `spark` run
in one worker, and whatever starts a JVM there asks here first.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.endings import ENDINGS

MOST = 2


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
