"""A world on moto, and the lake that repairs it."""

import pytest
from django.test import Client

from dashboard.accounts.roles import Role
from tests.builders.people import signed_in
from tests.coordinator.observation.conftest import young_count_as_old  # noqa: F401
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.world import Meddled, World
from tests.lake.aws.conftest import _own_environment  # noqa: F401


@pytest.fixture
def world(s3, dynamodb, bucket) -> World:
    return World(s3, dynamodb, bucket)


@pytest.fixture
def port(lake) -> Meddled:
    """The lake as execution sees it, open to meddling."""
    return Meddled(lake)


@pytest.fixture
def console(connection, written, observe, endpoint, settings, tmp_path) -> Console:
    """The lake is this Levee's sandbox, so that workers may talk to it and need no credentials."""
    settings.SANDBOX_ENDPOINT_FILE = tmp_path / "endpoint"
    settings.SANDBOX_ENDPOINT_FILE.write_text(endpoint)
    return Console(connection, written, observe)


@pytest.fixture
def client(db) -> Client:
    """The browser of an operator."""
    return signed_in(Role.OPERATOR)
