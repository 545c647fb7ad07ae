"""A console beside moto, with its pauses left out."""

from tests.coordinator.settings.conftest import (  # noqa: F401
    _no_pauses,
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
)
