from collections.abc import Iterator

import pytest

from tests.dashboard.alerts.week import World, world


@pytest.fixture
def lake(db: None) -> Iterator[World]:
    with world() as here:
        yield here
