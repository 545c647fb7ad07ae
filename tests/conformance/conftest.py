"""The ground that real engines stand on: S3 of the shared sandbox, and Amazon's own DynamoDB Local."""

import itertools

import pytest

from sandbox.client import Client, ClientError
from sandbox.ground import DELTA_COMMITS, DELTA_LOG, Store, create_store
from sandbox.spark_tables import SparkLake
from tests.dynamodb_local import dynamodb_local
from tests.sandboxlake import sandbox_lake
from tests.sparksession import spark_lake

__all__ = ["dynamodb_local", "spark_lake"]

BUCKET = "conformance"
STORES = (Store(DELTA_LOG, "log_store", ttl_attribute="expireTime"), Store(DELTA_COMMITS, "commit_coordinator"))
numbers = itertools.count()


@pytest.fixture(scope="session")
def ground(dynamodb_local: str) -> Client:
    """A client of both servers; the bucket is there."""
    client = Client(sandbox_lake().origin, dynamodb_origin=dynamodb_local)
    client.create_bucket(BUCKET)
    return client


@pytest.fixture(scope="session")
def lake(spark_lake: SparkLake, ground: Client) -> SparkLake:
    """A session of Spark of its own, whose writers give up after three attempts instead of ten million."""
    spark = spark_lake.spark.newSession()
    spark.conf.set("spark.databricks.delta.maxCommitAttempts", "3")
    return SparkLake(spark, ground)


@pytest.fixture
def stores(ground: Client) -> Client:
    """The same client, and both commit stores empty."""
    for store in STORES:
        try:
            ground.dynamodb("DeleteTable", TableName=store.name)
        except ClientError as error:
            if error.code != "ResourceNotFoundException":
                raise
        create_store(ground, store)
    return ground


@pytest.fixture
def key() -> str:
    """The root of a table of this test's own."""
    return f"tables/t{next(numbers)}"
