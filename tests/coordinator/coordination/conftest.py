"""A console beside a lake on moto, with a Spark that writes by hand."""

import pytest

from coordinator.coordination import carrying_out
from coordinator.models import CommitStore, DeltaTable
from tests.coordinator.coordination.desk import Desk
from tests.coordinator.coordination.fake_spark import FakeSpark
from tests.coordinator.repairs.conftest import client, console  # noqa: F401
from tests.lake.aws.conftest import _own_environment  # noqa: F401


@pytest.fixture
def fake_spark(written, monkeypatch) -> FakeSpark:
    fake = FakeSpark(written)
    monkeypatch.setattr(carrying_out, "spark", fake)
    return fake


@pytest.fixture
def desk(console, fake_spark) -> Desk:  # noqa: F811
    """A table that nothing guards, and a coordinator's store that is declared."""
    console.lake.store(fake_spark.coordinator, tableId="HASH")
    kind = CommitStore.Kind.COMMIT_COORDINATOR
    CommitStore.objects.create(connection=console.connection, name=fake_spark.coordinator, kind=kind)
    return Desk(console, fake_spark)


@pytest.fixture
def plain(desk) -> DeltaTable:
    return desk.plain()


@pytest.fixture
def coordinated(desk) -> DeltaTable:
    return desk.coordinated()
