"""How long tests wait for what has to happen: long enough for this machine, as busy as it is.

No test passes or fails by a stopwatch: a wait ends when its condition holds, and its limit only ends what would never
come. A limit is written as a quiet machine needs it, with room to spare, and multiplied by how long a small known job
took here at the start of the run, in proportion to that machine.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable

VARIABLE = "LEVEE_TESTS_SLOWNESS"
KNOWN_JOB = [sys.executable, "-S", "-c", "import json, decimal, http.client; sum(i * i for i in range(2_500_000))"]
KNOWN_JOB_SECONDS = 0.2
"""What the job takes on the machine that the limits are written for, while nothing else runs."""
AT_LEAST, AT_MOST = 3.0, 60.0
"""A machine that is quiet at the start of a run may be busy later on."""


def slowness() -> float:
    """How many times longer than written a wait may take; measured once a run, and handed to its workers."""
    if VARIABLE not in os.environ:
        began = time.monotonic()
        subprocess.run(KNOWN_JOB, check=True)
        measured = AT_LEAST * (time.monotonic() - began) / KNOWN_JOB_SECONDS
        os.environ[VARIABLE] = f"{min(max(measured, AT_LEAST), AT_MOST):.1f}"
    return float(os.environ[VARIABLE])


def scaled(seconds: float) -> float:
    """The limit of a wait that a quiet machine ends within `seconds`."""
    return seconds * slowness()


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
