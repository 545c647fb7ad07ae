"""Trying an act first: page, command and what is removed, beside a Spark that writes by hand."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from coordinator.coordination import actions
from coordinator.coordination.checks import Operation
from coordinator.coordination.confirmed import CheckParams, RehearsalResult
from coordinator.coordination.contract import RehearsalJson
from coordinator.coordination.rehearsal_places import FOLDER, folder_of, rehearsal_places, scratch_of
from coordinator.models import DeltaTable
from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.spark.jobs import rehearse
from tests.builders.people import actor, signed_in
from tests.coordinator.coordination.desk import Desk
from tests.coordinator.coordination.fake_spark import CONVERT, cancelled, ends
from tests.coordinator.coordination.test_commits_command import commits
from tests.coordinator.repairs.pages import body
from tests.json_types import missing, said

pytestmark = pytest.mark.django_db
NOTHING_LEFT = "Of the copy nothing is listed any more: "


def everything(desk: Desk) -> tuple[list[Any], list[Any]]:
    """Every object with its ETag, and every item, asked of the servers themselves."""
    lake = desk.console.lake
    objects = lake.s3.list_objects_v2(Bucket=lake.bucket).get("Contents", [])
    items = lake.dynamodb.scan(TableName=desk.store, ConsistentRead=True)["Items"]
    return [(one["Key"], one["ETag"]) for one in objects], sorted(items, key=repr)


def rehearsed(desk: Desk, operation: Operation, table: DeltaTable) -> Job:
    change = desk.change(operation, table)
    return desk.run(actions.rehearse(actor(Role.OPERATOR), desk.console.connection, change))


@pytest.mark.parametrize("operation", [Operation.ENABLE, Operation.DROP])
def test_a_rehearsal_leaves_the_lake_as_it_was(desk: Desk, operation: Operation) -> None:
    table = desk.plain() if operation is Operation.ENABLE else desk.coordinated()
    before = everything(desk)

    job = rehearsed(desk, operation, table)

    assert job.state == "succeeded", job.error_text
    assert NOTHING_LEFT in job.message
    named, then = [step["name"] for step in job.steps], job.steps[0]["then"]
    assert [name for name in named if name in then] == [name for name in then if name in named]
    assert (rehearse.PREPARED in then, then[-1]) == (operation is Operation.DROP, named[-1])
    assert everything(desk) == before
    assert desk.spark.asked[-1].kind == rehearse.KIND
    assert not missing(job.result, RehearsalResult)
    assert not missing(job.params, CheckParams)


def test_who_is_shut_out_is_told_of_what_could_be_done_before(desk: Desk, plain: DeltaTable) -> None:
    job = rehearsed(desk, Operation.ENABLE, plain)

    lost = {one["engine"]: one["loses"] for one in job.result["rehearsal"]["shut_out"]}
    assert lost["deltalake (delta-rs)"] == "reading and writing"
    assert "Flink and Delta Standalone" not in lost


@pytest.mark.parametrize(
    ("end", "state"), [(ends("failed", "Out of memory."), "failed"), (ends("lost"), "failed"), (cancelled, "cancelled")]
)
def test_a_rehearsal_that_is_cut_short_removes_its_copy(
    desk: Desk, plain: DeltaTable, end: Callable[[], None], state: str
) -> None:
    before = everything(desk)
    desk.spark.at[CONVERT] = end

    job = rehearsed(desk, Operation.ENABLE, plain)

    assert job.state == state
    assert f"{NOTHING_LEFT}1 object, 1 registration and" in job.message + job.error_text
    assert everything(desk) == before


def test_what_cannot_be_removed_is_named_and_removed_by_the_next(
    desk: Desk, plain: DeltaTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(desk)

    def refuse(*_: Any, **__: Any) -> None:
        raise AwsError("AccessDenied", "it is refused")

    with monkeypatch.context() as denied:
        denied.setattr(S3, "delete", refuse)
        job = rehearsed(desk, Operation.ENABLE, plain)
    assert (job.state, job.error_code) == ("failed", "NotRemoved")
    assert f"{FOLDER}/" in job.error_text
    assert job.result["rehearsal"]["is_removed"] is False
    desk.console.observe()
    assert [row.uri for row in DeltaTable.objects.all()] == [plain.uri]

    assert rehearsed(desk, Operation.ENABLE, plain).state == "succeeded"
    assert everything(desk) == before


@pytest.mark.slow
def test_the_page_of_an_act_tries_it_and_shows_what_came_of_it(desk: Desk, plain: DeltaTable) -> None:
    client: Client = signed_in(Role.OPERATOR)
    page = desk.checks_page(client, plain, "enable")
    assert "Try it first" in body(client.get(page))

    answer = client.post(f"{page}rehearsal/")

    job = Job.objects.get(kind="rehearse-coordination")
    assert (answer.status_code, answer["Location"]) == (303, reverse("job", args=[job.pk]))
    desk.run(job)
    html = body(client.get(page))
    assert "Protocol afterwards" in html
    assert "Reader 3, writer 7" in html
    assert "deltalake (delta-rs), 1.6.0, 1.6.1 and newer: reading and writing" in html
    assert NOTHING_LEFT in html


@pytest.mark.slow
def test_the_command_tries_it_and_prints_what_came_of_it(desk: Desk, plain: DeltaTable) -> None:
    before = everything(desk)

    document = commits("enable", plain.uri, "--store", desk.store, "--rehearse")

    assert not missing(document, RehearsalJson)
    assert document["rehearsal"]["is_removed"] is True
    told = said("commits", "enable", plain.uri, "--store", desk.store, "--rehearse")
    assert "Protocol afterwards: reader 3, writer 7" in told
    assert everything(desk) == before


def test_only_the_copy_of_a_known_table_is_taken_for_one() -> None:
    job = Job()
    copy = scratch_of("s3://lake/sales/orders", job.pk)
    place, stranger = (copy.bucket, copy.key), ("lake", f"sales/{FOLDER}/{'0' * 32}/{'1' * 32}")

    assert folder_of("lake", "sales/orders").holds(copy.key)
    assert rehearsal_places([place, stranger, ("lake", "sales/orders")], [("lake", "sales/orders")]) == {place}
