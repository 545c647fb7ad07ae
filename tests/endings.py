"""What tests share is ended with the session: at exit is too late, since xdist kills workers that take their time."""

import atexit
from contextlib import ExitStack

ENDINGS = ExitStack()
atexit.register(ENDINGS.close)
