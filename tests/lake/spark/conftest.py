"""What tests of Spark share: its sessions and workers, and the ground of backups."""

import pytest

from lake.spark.client import SparkWorker
from tests.dynamodb_local import dynamodb_local
from tests.lake.spark.backupground import Ground, client, open_ground
from tests.sparksession import spark_lake
from tests.sparkworker import warm_worker

__all__ = ["client", "dynamodb_local", "spark_lake", "warm_worker"]


@pytest.fixture
def ground(warm_worker: SparkWorker) -> Ground:
    return open_ground(warm_worker)
