"""A lake on moto with a connection to it, and a writer of small tables."""

from collections.abc import Iterator

import pytest

from coordinator.models import CommitStore, Watch
from coordinator.observation.passes import observe_connection
from coordinator.protocols import coordinated_commits, log_store
from coordinator.repairs.kinds import remove_orphans
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from tests.builders.guard import Guard
from tests.builders.moto_lake import MotoLake
from tests.lake.aws.conftest import _own_environment, bucket, dynamodb, endpoint, lake, s3, stub  # noqa: F401
from tests.lake.aws.stub import quick


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
def coordinator(written, connection) -> str:
    """The name of a DynamoDB table for coordinators' registrations, which is declared."""
    name: str = written.coordinator()
    connection.stores.create(name=name, kind="commit_coordinator")
    return name


@pytest.fixture
def observe(connection, lake):  # noqa: F811
    """One pass; returns its result."""

    def run(*, in_full: bool = False):
        return observe_connection(connection, lake, threads=4, in_full=in_full)

    return run


@pytest.fixture
def guard(endpoint) -> Iterator[Guard]:  # noqa: F811
    """A gate before the same moto, which refuses what a test tells it to."""
    guard = Guard()
    yield guard
    guard.close()


@pytest.fixture
def guarded(guard) -> Iterator[Lake]:
    """The lake as seen through the gate, with milliseconds between attempts."""
    with quick(guard.url) as opened:
        yield opened


@pytest.fixture
def observe_guarded(connection, guarded):
    """One pass through the gate; returns its result."""

    def run(*, in_full: bool = False):
        return observe_connection(connection, guarded, threads=4, in_full=in_full)

    return run


@pytest.fixture
def young_count_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """moto gives every object the time of now."""
    for module in (remove_orphans, coordinated_commits, log_store):
        monkeypatch.setattr(module, "QUIET_SECONDS", -1)
