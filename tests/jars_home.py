"""The home that set-up put the jars into: tests have an empty one, and parallel workers begin in their parent's."""

import functools
import os
from pathlib import Path

from dashboard import settings as deployment

JARS_HOME = Path(os.environ.setdefault("LEVEE_TESTS_JARS_HOME", str(deployment.LEVEE_HOME)))


def link_jars(home: Path) -> None:
    """Give a home of a test's own the jars, and the class-data archive where there is one."""
    (home / "jars").mkdir()
    for found in ((JARS_HOME / "jars" / "spark"), *(JARS_HOME / "jars").glob("classes-*.jsa")):
        (home / "jars" / found.name).symlink_to(found)


@functools.cache
def make_archive() -> None:
    """Make the archive with which a JVM starts in a third of the time; a second run finds it."""
    from lake.spark.archive import build

    build(JARS_HOME)
