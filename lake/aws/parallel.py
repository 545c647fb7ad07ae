"""Several iterators pulled by a thread each, merged into one."""

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
STOP_CHECK_SECONDS = 0.1


def merge(sources: Sequence[Iterator[T]]) -> Iterator[T]:
    """Results of all sources as they arrive, at most two of each waiting. The first that fails ends it with its error.

    The threads start at the first result asked for and stop when the iterator ends or is closed.
    """
    merged: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(maxsize=2 * len(sources))
    stopped = threading.Event()
    threads = [
        threading.Thread(target=_pull, args=(source, merged, stopped), name=f"merge-{number}", daemon=True)
        for number, source in enumerate(sources)
    ]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            told = merged.get()
            if isinstance(told, BaseException):
                raise told
            if told is None:
                running -= 1
            else:
                yield told[0]
    finally:
        stopped.set()
        for thread in threads:
            # A thread that waits for AWS ends by itself after its request; it is not worth waiting for.
            thread.join(timeout=1.0)


def _pull(
    source: Iterator[T], merged: "queue.Queue[tuple[T] | BaseException | None]", stopped: threading.Event
) -> None:
    """Hand on each result, then None for the end or the error that came instead."""

    def put(told: "tuple[T] | BaseException | None") -> bool:
        while not stopped.is_set():
            with suppress(queue.Full):
                merged.put(told, timeout=STOP_CHECK_SECONDS)
                return True
        return False

    try:
        for result in source:
            if not put((result,)):
                return
        put(None)
    except BaseException as error:  # noqa: BLE001 - raised again in the consumer's thread
        put(error)
