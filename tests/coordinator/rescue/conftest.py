"""A console beside a lake on moto, as for repairs."""

import pytest

from tests.coordinator.repairs.conftest import _own_environment, console, young_count_as_old  # noqa: F401


@pytest.fixture(autouse=True)
def _old(young_count_as_old: None) -> None:  # noqa: F811
    """Repairs remove what these tests put back."""
