"""How long tests wait for what has to happen: long enough for a busy machine.

No test passes or fails by a stopwatch: a wait ends when its condition holds, and its limit only ends what would never
come. A limit is written as a quiet machine needs it, with room to spare.
"""

import time
from collections.abc import Callable

BUSY = 4
"""How many times longer than written a wait may take."""


def scaled(seconds: float) -> float:
    """The limit of a wait that a quiet machine ends within `seconds`."""
    return seconds * BUSY


def scaled_ms(seconds: float) -> float:
    """The same in milliseconds, as Playwright counts."""
    return 1_000 * scaled(seconds)


def wait_until(condition: Callable[[], object], seconds: float = 15.0, every: float = 0.05) -> bool:
    """Whether the condition comes true before `seconds`, scaled, have passed."""
    deadline = time.monotonic() + scaled(seconds)
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(every)
    return bool(condition())
