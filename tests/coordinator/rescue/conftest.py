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
    s3,
    written,
    young_count_as_old,
)


@pytest.fixture(autouse=True)
def _old(young_count_as_old: None) -> None:  # noqa: F811
    """Repairs remove what these tests put back."""
