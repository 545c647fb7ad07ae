"""A world on moto, and the lake that repairs it."""

import pytest

from coordinator.repairs.lake_port import AwsRepairLake
from tests.coordinator.repairs.world import Meddled, World
from tests.lake.aws.conftest import _own_environment, bucket, dynamodb, endpoint, lake, s3  # noqa: F401


@pytest.fixture
def world(s3, dynamodb, bucket) -> World:  # noqa: F811
    return World(s3, dynamodb, bucket)


@pytest.fixture
def port(lake) -> Meddled:  # noqa: F811
    """The lake as execution sees it, open to meddling."""
    return Meddled(AwsRepairLake(lake))
