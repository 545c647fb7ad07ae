"""The ground that real engines stand on: S3 of the shared sandbox, and Amazon's own DynamoDB Local."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from dashboard.spark import warm
from sandbox.client import Client, ClientError
from sandbox.ground import DELTA_COMMITS, DELTA_LOG, Store, create_store
from sandbox.spark_tables import SparkLake
from tests.conformance.between import Between, between
from tests.conformance.console import Console, SparkOfLevee
from tests.conformance.coordinated import Coordinated
from tests.dynamodb_local import dynamodb_local
from tests.jvms import JVMS
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


@pytest.fixture
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


@pytest.fixture(scope="session")
def _between(dynamodb_local: str) -> Iterator[Between]:
    with between(dynamodb_local) as stands:
        yield stands


@pytest.fixture
def dynamodb(_between: Between) -> Between:
    """What stands between Spark and DynamoDB; nothing is asked of it yet."""
    _between.forget()
    return _between


@pytest.fixture
def table(lake: SparkLake, stores: Client, dynamodb: Between, key: str) -> Coordinated:
    """A table to be made, whose coordinator every session reaches through `dynamodb`."""
    return Coordinated(SparkLake(lake.spark, Client(stores.origin, dynamodb_origin=dynamodb.origin)), BUCKET, key)


@pytest.fixture(scope="session")
def _spark_of_levee() -> Iterator[SparkOfLevee]:
    with pytest.MonkeyPatch.context() as patch:
        opener = SparkOfLevee()
        patch.setattr(warm.spark, "open_worker", opener)
        yield opener
        warm.spark.close()


@pytest.fixture
def spark_of_levee(_spark_of_levee: SparkOfLevee, monkeypatch: pytest.MonkeyPatch) -> SparkOfLevee:
    """The product's own warm Spark, on two cores, one for all tests until one of them kills it."""
    for name, value in {
        "SPARK_MASTER": "local[2]",
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_SECRET_ACCESS_KEY": "sandbox",
    }.items():
        monkeypatch.setenv(name, value)
    _spark_of_levee.at_step.clear()
    _spark_of_levee.asked.clear()
    opener: SparkOfLevee = JVMS.shared("Levee's worker", lambda: (_spark_of_levee, warm.spark.close))
    return opener


@pytest.fixture
def console(table: Coordinated, spark_of_levee: SparkOfLevee, settings: Any, db: None) -> Console:
    """Levee with one connection to where the table is."""
    settings.ALLOWED_ENDPOINTS = [table.client.origin, table.client.dynamodb_origin]
    return Console(table.client)
