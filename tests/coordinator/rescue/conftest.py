"""A console beside a lake on moto, as for repairs."""

import pytest

from tests.coordinator.repairs.conftest import (  # noqa: F401
    _own_environment,
    bucket,
    connection,
    console,
    dynamodb,
    endpoint,
    lake,
    observe,
    port,
    s3,
    world,
    written,
)
from tests.coordinator.rescue import saved


@pytest.fixture(autouse=True)
def young_count_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    saved.let_young_count_as_old(monkeypatch)
