"""Several iterators pulled by a thread each, merged into one."""

import queue
import threading
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
STOP_CHECK_SECONDS = 0.1


class _Ended:
    """One source is exhausted."""


class _Failed:
    """One source raised."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Merge(Generic[T]):
    """The threads and the queue between them and the consumer; at most two results per thread wait in it."""

    def __init__(self, sources: Sequence[Iterator[T]]) -> None:
        self._stopped = threading.Event()
        self._results: queue.Queue[T | _Ended | _Failed] = queue.Queue(maxsize=2 * len(sources))
        self._threads = [
            threading.Thread(target=self._pull, args=(source,), name=f"merge-{number}", daemon=True)
            for number, source in enumerate(sources)
        ]

    def results(self) -> Iterator[T]:
        for thread in self._threads:
            thread.start()
        running = len(self._threads)
        while running:
            result = self._results.get()
            if isinstance(result, _Failed):
                raise result.error
            if isinstance(result, _Ended):
                running -= 1
            else:
                yield result

    def stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            # A thread that waits for AWS ends by itself after its request; it is not worth waiting for.
            if thread.is_alive():
                thread.join(timeout=1.0)

    def _pull(self, source: Iterator[T]) -> None:
        try:
            for result in source:
                if not self._put(result):
                    return
            self._put(_Ended())
        except BaseException as error:  # noqa: BLE001 - raised again in the consumer's thread
            self._put(_Failed(error))

    def _put(self, result: "T | _Ended | _Failed") -> bool:
        while not self._stopped.is_set():
            try:
                self._results.put(result, timeout=STOP_CHECK_SECONDS)
            except queue.Full:
                continue
            return True
        return False


def merge(sources: Sequence[Iterator[T]]) -> Iterator[T]:
    """Results of all sources as they arrive. The first that fails ends the merge with its error.

    The threads start at the first result asked for and stop when the iterator ends or is closed.
    """
    merged = _Merge(sources)
    try:
        yield from merged.results()
    finally:
        merged.stop()
