"""Trying an enable or a drop first, on real Spark: the table stays as it is, and nothing is left of the copy."""

import json
from typing import Any

import pytest

from coordinator.coordination.checks import Operation
from coordinator.coordination.rehearsal_places import FOLDER
from dashboard.jobs.models import Job, JobState
from sandbox.ground import DELTA_COMMITS, DELTA_LOG
from sandbox.log_store_writer import file_name
from tests.conformance.console import Console, SparkOfLevee
from tests.conformance.coordinated import Coordinated
from tests.conformance.test_enable_and_drop import plain, succeeded

pytestmark = [pytest.mark.spark, pytest.mark.django_db(transaction=True)]

CONVERSION = "Make the conversion commit"
HOSTILE = 'zoë\'s `t` "q"; -- %41 +=ü'


def everything(table: Coordinated) -> tuple[list[tuple[str, bytes]], list[Any], list[Any]]:
    """Every object of the bucket with its bytes, and every item of both stores, asked of the servers themselves."""
    objects = [(key, table.client.get(table.bucket, key)) for key, _ in table.client.list(table.bucket, "")]
    stores = [
        sorted(table.client.dynamodb("Scan", TableName=name, ConsistentRead=True)["Items"], key=repr)
        for name in (DELTA_COMMITS, DELTA_LOG)
    ]
    return sorted(objects), stores[0], stores[1]


def scratch_objects(table: Coordinated) -> list[str]:
    return [key for key, _ in table.client.list(table.bucket, "") if FOLDER in key]


def protocol_of(table: Coordinated) -> dict[str, Any]:
    """The newest protocol action of the published log, read line by line."""
    found: dict[str, Any] = {}
    for version in table.published():
        for line in table.read(file_name(version)).decode().splitlines():
            found = json.loads(line).get("protocol", found)
    features = {*found.get("readerFeatures", []), *found.get("writerFeatures", [])}
    return {"reader": found["minReaderVersion"], "writer": found["minWriterVersion"], "features": sorted(features)}


def of(job: Job) -> dict[str, Any]:
    return dict(succeeded(job).result["rehearsal"])


def coordinated(table: Coordinated) -> None:
    table.create()
    table.append(2)


MADE = {Operation.ENABLE: plain, Operation.DROP: coordinated}


@pytest.mark.parametrize("name", ["plain", HOSTILE])
@pytest.mark.parametrize("operation", [Operation.ENABLE, Operation.DROP])
def test_a_rehearsal_leaves_all_as_it_is_and_shows_what_the_act_then_does(
    table: Coordinated, console: Console, operation: Operation, name: str
) -> None:
    table.key = f"{table.key}/{name}"
    MADE[operation](table)
    before, protocol = everything(table), protocol_of(table)
    told = of(console.rehearse(operation, table.uri))
    assert everything(table) == before
    assert told["before"] == protocol
    assert (told["is_removed"], told["not_removed"], told["differs"]) == (True, [], "")
    assert CONVERSION in {one["name"] for one in told["steps"]} or operation is Operation.DROP
    assert all(one["seconds"] >= 0 for one in told["steps"])
    assert len(told["commits"]) == {Operation.ENABLE: 2, Operation.DROP: 4}[operation]
    assert console.act(operation, table.uri).state == JobState.SUCCEEDED
    assert told["after"] == protocol_of(table)
    assert bool(told["shut_out"]) is (operation is Operation.ENABLE)


def test_a_rehearsed_drop_shows_what_is_removed_besides(table: Coordinated, console: Console) -> None:
    coordinated(table)
    removing = {"remove_features": ("vacuumProtocolCheck", "inCommitTimestamp")}
    told = of(console.rehearse(Operation.DROP, table.uri, **removing))
    assert told["refused"] == []
    console.drop(table.uri, **removing)
    assert told["after"] == protocol_of(table)
    assert scratch_objects(table) == []


@pytest.mark.parametrize(
    ("operation", "step"), [(Operation.ENABLE, CONVERSION), (Operation.DROP, "First commit, through the coordinator")]
)
def test_a_rehearsal_whose_java_is_killed_at_the_act_removes_its_copy(
    table: Coordinated, console: Console, spark_of_levee: SparkOfLevee, operation: Operation, step: str
) -> None:
    MADE[operation](table)
    before = everything(table)
    spark_of_levee.at_step[step] = spark_of_levee.kill_java
    job = console.rehearse(operation, table.uri)
    assert (job.state, job.error_code) == (JobState.FAILED, "JVM_ENDED")
    assert "Of the copy nothing is listed any more:" in job.message
    assert job.result["rehearsal"]["found"] > "1 object"
    assert everything(table) == before
