"""A console beside moto whose stores and buckets are changed as a worker would."""

import pytest

from coordinator.upkeep import jobs
from tests.coordinator.observation.conftest import connection, guard, observe, written  # noqa: F401
from tests.coordinator.upkeep.upkeep_console import UpkeepConsole
from tests.lake.aws.conftest import (  # noqa: F401
    _own_environment,
    bucket,
    dynamodb,
    endpoint,
    lake,
    s3,
    stub,
    stub_lake,
)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr(jobs, "PAUSE_SECONDS", 0.0)


@pytest.fixture
def console(connection, written, observe, endpoint, settings, tmp_path) -> UpkeepConsole:  # noqa: F811
    """The lake is this Levee's sandbox, so that workers may talk to it and need no credentials."""
    settings.SANDBOX_ENDPOINT_FILE = tmp_path / "endpoint"
    settings.SANDBOX_ENDPOINT_FILE.write_text(endpoint)
    return UpkeepConsole(connection, written, observe)
