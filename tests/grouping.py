"""Which worker runs a test, and in which order: what is dear to start is started once, and the long way begins first.

Two groups stay together, each in one worker: tests on real engines (Spark, DynamoDB Local) and tests in Chromium that
only need the console. xdist hands out the largest group first; every other test is free to go where there is room.
"""

from collections.abc import Iterable

import pytest

ENGINES, BROWSER = "engines", "browser"
DYNAMODB, MOTO = "dynamodb_local", "endpoint"
SERVERS = {DYNAMODB, MOTO}
SHARED_JVMS = ("spark_lake", "spark_of_levee", "warm_worker")
ORDER = [(True, False, False), (True, True, False), (True, False, True), (False, False, True)]
"""Which of the shared JVMs a test needs; tests that need none of them come after these."""


def arrange(items: list[pytest.Item]) -> None:
    """Group the tests, those of the engines in an order in which each shared JVM is started about once."""
    for item in items:
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
        if SERVERS & set(fixtures_of(item)):
            item.add_marker(pytest.mark.process)
    items.sort(key=lambda item: _rank(item) if _group(item) == ENGINES else -1)


def _group(item: pytest.Item) -> str:
    if item.get_closest_marker("spark") or DYNAMODB in fixtures_of(item):
        return ENGINES
    return BROWSER if item.get_closest_marker("browser") else ""


def _rank(item: pytest.Item) -> int:
    """Tests of the session alone come first, then those that need a worker beside it, then those of a worker alone."""
    if item.get_closest_marker("browser"):
        return len(ORDER) + 1
    used = fixtures_of(item)
    needs = tuple(name in used for name in SHARED_JVMS)
    return ORDER.index(needs) if needs in ORDER else len(ORDER)


def fixtures_of(item: pytest.Item) -> Iterable[str]:
    """The names of the fixtures that a test uses, directly or not."""
    return getattr(item, "fixturenames", ())
