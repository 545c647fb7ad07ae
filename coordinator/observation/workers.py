"""The threads of one pass. The thread that runs the pass waits for none of them longer than a moment at a time."""

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")

TICK_SECONDS = 0.5


class Workers:
    """`tick` is called at least every TICK_SECONDS while waiting; what it raises ends the pass at once.

    Requests under way then end by themselves in their threads: one may be in the middle of its retries. `stopping` is
    set for work that goes on over many requests.
    """

    def __init__(self, threads: int, tick: Callable[[], None]) -> None:
        self.tick = tick
        self.stopping = threading.Event()
        self._at_once = 2 * threads
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="observe")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.stopping.set()
        self._executor.shutdown(wait=error is None, cancel_futures=True)

    def run(self, work: Callable[[], Found]) -> Found:
        """Do one piece of work in a thread and return what it gives; raises what it raises."""
        done: queue.SimpleQueue[Future[Found]] = queue.SimpleQueue()
        self._executor.submit(work).add_done_callback(done.put)
        return self._wait(done).result()

    def each(self, work: Callable[[Item], Found], next_item: Callable[[], Item | None]) -> Iterator[Found]:
        """Yield results as they come; `next_item` is asked again after each and may have new items then."""
        done: queue.SimpleQueue[Future[Found]] = queue.SimpleQueue()
        running = 0
        while True:
            while running < self._at_once and (item := next_item()) is not None:
                self._executor.submit(work, item).add_done_callback(done.put)
                running += 1
            if not running:
                return
            future = self._wait(done)
            running -= 1
            yield future.result()

    def _wait(self, done: "queue.SimpleQueue[Future[Found]]") -> "Future[Found]":
        while True:
            self.tick()
            try:
                return done.get(timeout=TICK_SECONDS)
            except queue.Empty:
                continue
