"""Whether the Spark of a session still lives: its Java process, and that it answers at all.

Python outlives its JVM without a sign: Py4J only fails from then on, with "Connection refused", call by call.
"""

import signal
from collections.abc import Callable
from contextlib import suppress
from subprocess import Popen, TimeoutExpired
from threading import Event, Thread
from typing import Any

from lake.spark.messages import SparkError
from lake.spark.troubles import WITHOUT_MEMORY, WITHOUT_ROOM, out_of_memory

ANSWER_SECONDS = 15.0
"""What is asked takes a millisecond; a JVM that collects garbage all the time never comes to it."""

DYING_SECONDS = 2.0

EXIT_WHERE_MEMORY_ENDS = "-XX:+ExitOnOutOfMemoryError"
"""After an OutOfMemoryError some of a JVM's threads are gone, and nobody can say which: it ends instead (JDK 8u92)."""

_EXIT_OUT_OF_MEMORY = 3
"""With which HotSpot exits then."""

ENDED = "JVM_ENDED"
BEYOND_REPAIR = frozenset({WITHOUT_MEMORY, WITHOUT_ROOM})
"""Conditions after which a session is not used again: what it holds on disk and in memory goes with its process."""


class Liveness:
    """What a worker asks of the Spark that it holds: of the JVM that this process has started for the session."""

    def __init__(self, spark: Any) -> None:
        gateway = spark.sparkContext._gateway
        self._process: Popen[bytes] = gateway.proc
        self._ask: Callable[[], object] = gateway.jvm.System.nanoTime

    def trouble(self) -> SparkError | None:
        """Why Spark can do no more; None while it answers."""
        if answers(self._ask):
            return None
        with suppress(TimeoutExpired):
            # A process that dies closes its sockets first, and has an exit code only then.
            self._process.wait(DYING_SECONDS)
        return exit_told(self._process.poll())

    def watch(self, tell: Callable[[SparkError], None]) -> None:
        """Call `tell`, from another thread, once it is gone."""

        def wait() -> None:
            tell(exit_told(self._process.wait()))

        Thread(target=wait, name="jvm", daemon=True).start()


def answers(ask: Callable[[], object]) -> bool:
    """Whether a question is answered, without an error and within ANSWER_SECONDS."""
    answered = Event()

    def asking() -> None:
        try:
            ask()
        except Exception:  # noqa: BLE001 - Py4J, gRPC and sockets have an error each; all of them mean that nobody answers
            return
        answered.set()

    thread = Thread(target=asking, name="ask", daemon=True)
    thread.start()
    thread.join(ANSWER_SECONDS)
    return answered.is_set()


def exit_told(code: int | None) -> SparkError:
    """How a JVM ended, by its exit code, negative for a signal; None for one that lives and does not answer."""
    if code == _EXIT_OUT_OF_MEMORY:
        return out_of_memory(ENDED)
    if code is None:
        return SparkError(ENDED, ENDED, "Spark's Java process no longer answers.")
    if code == -signal.SIGKILL:
        how = "was killed (signal 9), as a system does that runs out of memory"
    else:
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return SparkError(ENDED, ENDED, f"Spark's Java process {how}.")
