from collections.abc import Iterator

import pytest

from tests.sandbox.control.ground import Ground


@pytest.fixture
def ground() -> Iterator[Ground]:
    ground = Ground()
    ground.own_rules()
    yield ground
    ground.own_rules()
