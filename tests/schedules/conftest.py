"""A theatre whose clock stands still and whose lake lies in memory."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.lake.aws.conftest import _own_environment  # noqa: F401
from tests.schedules.clock import Clock, stopped_clock
from tests.schedules.exploring import ALL, FEW, INTERRUPTIONS, Theatre
from tests.schedules.place import ENDPOINT
from tests.schedules.straight import go_straight


@pytest.fixture
def clock() -> Iterator[Clock]:
    with stopped_clock() as clock:
        yield clock


@pytest.fixture
def theatre(make_theatre: Callable[..., Theatre], most_schedules: int) -> Theatre:
    """Plays some schedules of each act; all of them for `make test-all`."""
    return make_theatre(most_schedules, INTERRUPTIONS)


@pytest.fixture
def most_schedules(request: pytest.FixtureRequest) -> int:
    return ALL if request.config.getoption("--everything") else FEW


@pytest.fixture
def full_theatre(make_theatre: Callable[..., Theatre]) -> Theatre:
    """Plays every schedule in which others act."""
    return make_theatre(ALL, ())


@pytest.fixture
def make_theatre(
    db: None, clock: Clock, monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> Callable[..., Theatre]:
    settings.SANDBOX_ENDPOINT_FILE = tmp_path / "endpoint"
    settings.SANDBOX_ENDPOINT_FILE.write_text(ENDPOINT)
    go_straight(monkeypatch)
    return lambda most, interruptions: Theatre(clock, monkeypatch, most, interruptions)
