"""The home that set-up put the jars into: tests have an empty one, and parallel workers begin in their parent's."""

import os
from pathlib import Path

from dashboard import settings as deployment

JARS_HOME = Path(os.environ.setdefault("LEVEE_TESTS_JARS_HOME", str(deployment.LEVEE_HOME)))
