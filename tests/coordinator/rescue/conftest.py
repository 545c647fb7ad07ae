"""A console beside a lake on moto, as for repairs."""

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
