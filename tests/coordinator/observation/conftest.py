"""A lake on moto with a connection to it, and a writer of small tables."""

import pytest

from coordinator.models import CommitStore, Watch
from coordinator.observation.passes import observe_connection
from dashboard.connections.models import Connection
from tests.builders.moto_lake import MotoLake
from tests.lake.aws.conftest import _own_environment, bucket, dynamodb, endpoint, lake, s3  # noqa: F401


@pytest.fixture
def written(s3, dynamodb, bucket) -> MotoLake:  # noqa: F811
    """Writes tables, items and objects into a bucket and a log store of this test's own."""
    return MotoLake(s3, dynamodb, bucket)


@pytest.fixture
def connection(db, endpoint, written) -> Connection:  # noqa: F811
    """A connection that watches the bucket and has its log store."""
    connection = Connection.objects.create(name="prod", region="us-east-1", endpoint_url=endpoint)
    Watch.objects.create(connection=connection, uri=f"s3a://{written.bucket}/")
    CommitStore.objects.create(connection=connection, name=written.log_store, kind=CommitStore.Kind.LOG_STORE)
    return connection


@pytest.fixture
def observe(connection, lake):  # noqa: F811
    """One pass; returns its result."""

    def run(*, in_full: bool = False):
        return observe_connection(connection, lake, threads=4, in_full=in_full)

    return run
