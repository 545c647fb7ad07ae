"""Enable and drop cut short: what is left, whose registration it is, and what finishes or undoes them."""

from typing import Any

import pytest

from changes.calls import Sending
from coordinator.coordination import carrying_out
from coordinator.coordination.checks import Operation
from coordinator.coordination.confirmed import KINDS
from coordinator.coordination.offers import coordination_offers
from coordinator.models import TableFinding
from dashboard.jobs import lifecycle
from dashboard.jobs.context import JobCancelled, JobContext
from lake.aws.access import Lake
from lake.spark.jobs import drop_coordinated_commits
from tests.builders.delta import EPOCH_MS, commit_bytes, commit_info, metadata, registration_item
from tests.coordinator.coordination.desk import ROOT, last_audit, unpublish
from tests.coordinator.coordination.fake_spark import CONVERT, START, cancelled, ends, table_id
from tests.coordinator.repairs.world import Meddled

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("JSON")]
ENABLE, DROP = Operation.ENABLE, Operation.DROP
FIRST, SECOND = drop_coordinated_commits.FIRST, drop_coordinated_commits.SECOND


def test_a_cancel_between_registration_and_commit_names_the_orphan_that_is_found(desk, plain) -> None:
    desk.spark.at[CONVERT] = cancelled

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    left = table_id(plain.uri)
    assert job.state == "cancelled"
    assert f"Registration {left} appeared in {desk.store} meanwhile" in job.message
    assert "offers the removal once version 3 has gone to another commit for a day (K0)" in job.message
    assert job.result["after"]["left"] == {"store": desk.store, "table_ids": [left], "removed": False}
    table = desk.console.table(ROOT)
    assert [item["table_id"] for item in table.registrations] == [left]
    found = TableFinding.objects.get(table=table, code="K0", resolved_at=None)
    assert "was cut short" in found.summary
    desk.spark.at.clear()
    assert desk.run(desk.act(desk.checked(desk.change(ENABLE, table)))).state == "succeeded"


@pytest.mark.parametrize(("way_out", "ends_as"), [(DROP, "single_driver"), (ENABLE, "coordinated_commits")])
def test_a_cancel_between_the_drops_commits_offers_to_finish_and_to_undo(desk, coordinated, way_out, ends_as) -> None:
    desk.spark.at[SECOND] = cancelled

    job = desk.run(desk.act(desk.checked(desk.change(DROP, coordinated))))

    assert job.state == "cancelled"
    assert "Drop once more to finish, or enable to undo." in job.message
    table = desk.console.table(ROOT)
    assert (table.state, table.summary[:44]) == ("attention", "A drop of coordinated commits stopped half-w")
    desk.spark.at.clear()
    finished = desk.run(desk.act(desk.checked(desk.change(way_out, table))))
    assert finished.state == "succeeded", finished.error_text
    table = desk.console.table(ROOT)
    assert (table.state, table.mechanism) == ("healthy", ends_as)
    assert ("coordinatedCommits-preview" in table.features) is (way_out is ENABLE)


STEPS = {
    ENABLE: ("Check the preconditions", START, "Register", CONVERT, "Read the table again"),
    DROP: ("Check the preconditions", START, FIRST, SECOND, "Read the table again"),
}


@pytest.mark.parametrize(("operation", "step"), [(one, step) for one, steps in STEPS.items() for step in steps])
def test_an_act_cancelled_at_any_step_ends_and_what_its_page_offers_then_works(desk, monkeypatch, operation, step):
    table = desk.plain() if operation is ENABLE else desk.coordinated()
    begin = JobContext.step

    def cancelling(context: JobContext, name: str, *given: Any, **more: Any) -> Any:
        if name == step and context.job.kind == KINDS[operation]:
            assert lifecycle.request_cancel(context.job.pk, "somebody")
        return begin(context, name, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(JobContext, "step", cancelling)
        job = desk.run(desk.act(desk.checked(desk.change(operation, table))))

    assert job.state in ("cancelled", "succeeded")
    assert not [one for one in job.steps if one["state"] == "running"]
    desk.console.observe()
    offer = next(one for one in coordination_offers(desk.console.table(ROOT)) if not one.reason)
    finished = desk.run(desk.act(desk.checked(desk.change(offer.operation, desk.console.table(ROOT)))))
    assert finished.state == "succeeded", finished.error_text


def another_commits(desk, version: int, *actions) -> None:
    info = commit_info(in_commit_timestamp=EPOCH_MS + version)
    desk.console.lake.commit(ROOT, version, commit_bytes(info, *actions))


def registered(desk) -> set[str]:
    return {item["tableId"]["S"] for item in desk.console.lake.dynamodb.scan(TableName=desk.store)["Items"]}


def enabling_meets_a_commit(
    desk, *, condition: str = "DELTA_CONCURRENT_WRITE", state: str = "failed", others: bool = True
) -> None:
    def meet() -> None:
        if others:
            another_commits(desk, 3)
        ends(state, "Another writer was faster.", condition=condition)()

    desk.spark.at[CONVERT] = meet


def test_an_enable_that_lost_its_race_removes_its_own_registration(desk, plain) -> None:
    enabling_meets_a_commit(desk)

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    left = table_id(plain.uri)
    assert (job.state, job.error_code) == ("failed", "DELTA_CONCURRENT_WRITE")
    assert f"Registration {left} appeared in {desk.store} meanwhile" in job.error_text
    assert f"The registration {left} was deleted." in job.error_text
    assert registered(desk) == set()
    assert job.result["after"]["left"]["removed"] is True
    assert last_audit("failed").aws_request_ids == job.result["aws_request_ids"] != []
    table = desk.console.table(ROOT)
    assert table.registrations == []
    assert not TableFinding.objects.filter(table=table, code="K0", resolved_at=None).exists()


NOT_PROVEN = {
    "a Spark that gave no answer may still be at it": (True, "lost", "DELTA_CONCURRENT_WRITE"),
    "another error says nothing of a race": (True, "failed", "DELTA_SOMETHING_ELSE"),
    "nobody has taken its version": (False, "failed", "DELTA_CONCURRENT_WRITE"),
}


@pytest.mark.parametrize("why", NOT_PROVEN)
def test_a_registration_that_is_not_provably_the_jobs_own_stays(desk, plain, why: str) -> None:
    others, state, condition = NOT_PROVEN[why]
    enabling_meets_a_commit(desk, condition=condition, state=state, others=others)

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert registered(desk) == {table_id(plain.uri)}
    assert f"Registration {table_id(plain.uri)} appeared" in job.error_text


def test_a_registration_that_its_version_names_stays_though_newer_metadata_does_not(desk, plain) -> None:
    """The conversion was written after all, and a writer with an older state then put its own metadata over it."""

    def meet() -> None:
        desk.spark._convert({"table": plain.uri, "store": desk.store, "endpoint": desk.console.lake.endpoint})
        another_commits(desk, 4, metadata(properties={}))
        ends("failed", "Another writer was faster.", condition="DELTA_CONCURRENT_WRITE")()

    desk.spark.at[CONVERT] = meet

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert f"Registration {table_id(plain.uri)} appeared" in job.error_text
    assert registered(desk) == {table_id(plain.uri)}


def test_of_two_registrations_that_appeared_neither_is_provably_the_jobs_own(desk, plain) -> None:
    other = registration_item(3, tableId={"S": "other"}, path={"S": plain.uri}, hasAcceptedCommits={"BOOL": False})

    def meet() -> None:
        desk.console.lake.dynamodb.put_item(TableName=desk.store, Item=other)
        another_commits(desk, 3)
        ends("failed", "Another writer was faster.", condition="DELTA_CONCURRENT_WRITE")()

    desk.spark.at[CONVERT] = meet

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert registered(desk) == {"other", table_id(plain.uri)}
    assert "other" in job.error_text
    assert table_id(plain.uri) in job.error_text


def test_a_registration_that_was_there_before_is_not_the_jobs(desk, plain) -> None:
    other = registration_item(3, tableId={"S": "other"}, path={"S": plain.uri}, hasAcceptedCommits={"BOOL": False})
    desk.console.lake.dynamodb.put_item(TableName=desk.store, Item=other)
    enabling_meets_a_commit(desk)

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert registered(desk) == {"other"}
    assert "Registration other" not in job.error_text


def test_a_registration_that_changed_since_it_was_read_is_left_as_it_is(desk, plain, monkeypatch) -> None:
    enabling_meets_a_commit(desk)
    key = {"tableId": {"S": table_id(plain.uri)}}

    def accept() -> None:
        change = {"hasAcceptedCommits": {"Value": {"BOOL": True}, "Action": "PUT"}}
        desk.console.lake.dynamodb.update_item(TableName=desk.store, Key=key, AttributeUpdates=change)

    def sending(lake: Lake, **more: Any) -> Sending:
        return Sending(Meddled(lake).before("delete_item", accept), **more)

    monkeypatch.setattr(carrying_out, "Sending", sending)

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert registered(desk) == {table_id(plain.uri)}
    assert job.result["after"]["left"]["removed"] is False
    assert "was deleted" not in job.error_text


def test_a_drop_cut_before_its_first_commit_is_published_says_to_backfill_first(desk, coordinated) -> None:
    def cut() -> None:
        unpublish(desk, 4)
        raise JobCancelled

    desk.spark.at[SECOND] = cut

    job = desk.run(desk.act(desk.checked(desk.change(DROP, coordinated))))

    advice = "Backfill first, for commit 4 is accepted and not published. Then drop once more to finish"
    assert job.state == "cancelled"
    assert advice in job.message
    table = desk.console.table(ROOT)
    assert not TableFinding.objects.filter(table=table, resolved_at=None, summary__contains="is safe").exists()
    offers = {one.title: one for one in coordination_offers(table)}
    assert "backfilled first" in offers["Finish the drop"].text
    assert "publish it first" in offers["Enable again"].reason


def test_finishing_such_a_drop_backfills_before_it_commits(desk, coordinated) -> None:
    desk.spark.at[SECOND] = lambda: unpublish(desk, 4) or cancelled()
    desk.run(desk.act(desk.checked(desk.change(DROP, coordinated))))
    desk.spark.at.clear()

    job = desk.run(desk.act(desk.checked(desk.change(DROP, desk.console.table(ROOT)))))

    assert job.state == "succeeded", job.error_text
    names = [step["name"] for step in job.steps]
    assert names.index("Backfill 1 commit") < names.index(SECOND)
    assert desk.console.table(ROOT).state == "healthy"


@pytest.mark.parametrize("step", [START, "Register", CONVERT])
def test_a_spark_that_dies_marks_the_job_and_says_what_the_table_is(desk, plain, step) -> None:
    desk.spark.at[step] = ends("lost", "The Spark worker ended in the middle of the job.")

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert job.state == "failed"
    assert "The Spark worker ended" in job.error_text
    assert "it is not coordinated. Enable it again to finish" in job.error_text
    assert desk.console.table(ROOT).state == "healthy"


def test_an_outcome_that_cannot_be_proven_fails_the_job(desk, plain, monkeypatch) -> None:
    monkeypatch.setattr(type(desk.spark), "_convert", lambda *_: None)

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert (job.state, job.error_code) == ("failed", "NotProven")
    assert "The protocol lacks coordinatedCommits-preview." in job.error_text
