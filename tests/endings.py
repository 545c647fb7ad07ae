"""What tests share is ended with the session: at exit is too late, since xdist kills workers that take their time."""

import atexit
from contextlib import ExitStack

ENDINGS = ExitStack()
atexit.register(ENDINGS.close)

POLL_SECONDS = 0.01
"""How often a server of a test looks whether it is to end: by itself it would twice a second, at each test's cost."""
