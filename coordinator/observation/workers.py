"""The threads of one pass. The thread that runs the pass waits for none of them longer than a moment at a time."""

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")

TICK_SECONDS = 0.5
Inbox: TypeAlias = "queue.SimpleQueue[Future[Any] | _Question]"
"""Where the thread that runs the pass finds what was done, and what it is asked."""


class Stopped(Exception):
    """The pass has ended: nobody wants what is being read, and nobody answers."""


@dataclass(frozen=True, slots=True)
class _Question:
    """Something that only the thread that runs the pass may do."""

    ask: Callable[[], object]
    answer: "Future[Any]"

    def settle(self) -> None:
        try:
            self.answer.set_result(self.ask())
        except Exception as error:  # noqa: BLE001 - it is raised where it was asked
            self.answer.set_exception(error)


class Workers:
    """`tick` is called at least every TICK_SECONDS while waiting; what it raises ends the pass at once.

    Requests under way then end by themselves in their threads: one may be in the middle of its retries. `stopping` is
    set for work that goes on over many requests.
    """

    def __init__(self, threads: int, tick: Callable[[], None]) -> None:
        self.tick = tick
        self.stopping = threading.Event()
        self._at_once = 2 * threads
        self._local = threading.local()
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
        done: Inbox = queue.SimpleQueue()
        self._submit(done, work)
        future: Future[Found] = self._wait(done)
        return future.result()

    def each(self, work: Callable[[Item], Found], next_item: Callable[[], Item | None]) -> Iterator[Found]:
        """Yield results as they come; `next_item` is asked again after each and may have new items then."""
        done: Inbox = queue.SimpleQueue()
        running = 0
        while True:
            while running < self._at_once and (item := next_item()) is not None:
                self._submit(done, partial(work, item))
                running += 1
            if not running:
                return
            future = self._wait(done)
            running -= 1
            yield future.result()

    def ask(self, question: Callable[[], Found]) -> Found:
        """Called by work in a thread: let the thread that runs the pass do this, where the database is at home.

        Returns or raises what it does; raises Stopped once the pass has ended.
        """
        answer: Future[Found] = Future()
        self._local.inbox.put(_Question(question, answer))
        while True:
            try:
                return answer.result(TICK_SECONDS)
            except TimeoutError:
                if self.stopping.is_set():
                    raise Stopped from None

    def _submit(self, done: "Inbox", work: Callable[[], object]) -> None:
        def at_work() -> object:
            self._local.inbox = done
            return work()

        self._executor.submit(at_work).add_done_callback(done.put)

    def _wait(self, done: "Inbox") -> "Future[Any]":
        while True:
            self.tick()
            try:
                found = done.get(timeout=TICK_SECONDS)
            except queue.Empty:
                continue
            if not isinstance(found, _Question):
                return found
            found.settle()
