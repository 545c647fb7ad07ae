"""Enable, drop, create and leftovers from confirmation to proof, and what refuses them on the way."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils.dateparse import parse_datetime

from changes.calls import Sending
from changes.gate import NameNotTyped
from coordinator.coordination import actions, carrying_out, jobs
from coordinator.coordination.checks import Operation
from coordinator.coordination.gate import ChecksFailed, ConfirmationNeeded, PreflightNeeded
from coordinator.coordination.offers import coordination_offers
from coordinator.coordination.reading import CoordinationRequest
from coordinator.models import TableFinding
from dashboard.accounts.gate import NotAllowed
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.connections.models import Connection
from dashboard.connections.writable import ConnectionReadOnly, ReadOnlyMode
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.context import JobCancelled
from dashboard.jobs.models import Job
from lake.aws.access import Lake
from lake.spark.jobs import append_probe, drop_coordinated_commits, enable_coordinated_commits
from tests.builders.delta import (
    EPOCH_MS,
    UUID,
    commit_bytes,
    commit_info,
    coordinator_commit,
    metadata,
    registration_item,
)
from tests.builders.people import actor
from tests.coordinator.coordination.desk import ROOT
from tests.coordinator.coordination.fake_spark import CONVERT, START, cancelled, ends, table_id
from tests.coordinator.repairs.world import Meddled

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("JSON")]
ENABLE, DROP, CREATE, LEFTOVERS = Operation.ENABLE, Operation.DROP, Operation.CREATE, Operation.LEFTOVERS
FIRST, SECOND = drop_coordinated_commits.FIRST, drop_coordinated_commits.SECOND


def asked(desk) -> list[str]:
    return [job.kind for job in desk.spark.asked]


def last_audit(outcome: str) -> AuditEntry:
    return AuditEntry.objects.filter(outcome=outcome).latest("id")


# What is done


def test_enabling_registers_commits_and_proves(desk, plain) -> None:
    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain)), reason="CHG-1"))

    assert job.state == "succeeded", job.error_text
    assert (
        f"Coordinated commits are on: registered in {desk.store} as {table_id(plain.uri)}, at version 3." in job.message
    )
    assert job.result["proofs"]
    table = desk.console.table(ROOT)
    assert (table.mechanism, table.state, table.published_version) == ("coordinated_commits", "healthy", 3)
    assert asked(desk) == [enable_coordinated_commits.KIND]


def test_the_audit_log_has_the_table_before_and_after(desk, plain) -> None:
    desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    entry = last_audit("done")
    [call] = entry.after["calls"]
    assert (call["says"], call["outcome"]) == (entry.before["calls"][0]["says"], "done")
    assert (entry.action, entry.target_label) == ("table.enable-coordination", plain.uri)
    assert (entry.before["mechanism"], entry.after["mechanism"]) == ("single_driver", "coordinated_commits")
    assert entry.after["registration"]["table_id"] == table_id(plain.uri)


def test_the_cold_start_of_spark_is_a_step_of_the_job(desk, plain) -> None:
    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert [step["name"] for step in job.steps][:2] == ["Check the preconditions", START]


def test_a_first_commit_proves_it_only_where_asked_for(desk, plain) -> None:
    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain)), probe=True))

    assert job.state == "succeeded"
    assert asked(desk)[-1] == append_probe.KIND
    assert [call["outcome"] for call in job.result["after"]["calls"]] == ["done", "done"]


def test_dropping_shows_both_commits_as_steps_and_what_stays(desk, coordinated) -> None:
    job = desk.run(desk.act(desk.checked(desk.change(DROP, coordinated))))

    assert job.state == "succeeded", job.error_text
    names = [step["name"] for step in job.steps]
    assert names.index(FIRST) + 1 == names.index(SECOND)
    assert "off since version 5 (commits 4, 5)" in job.message
    table = desk.console.table(ROOT)
    assert (table.mechanism, table.state) == ("single_driver", "healthy")
    assert {"vacuumProtocolCheck", "inCommitTimestamp"} <= set(table.features)


def test_a_drop_removes_what_stays_only_where_asked_for_and_stands_if_delta_refuses(desk, coordinated) -> None:
    desk.spark.at["Remove"] = ends("failed", "History needs it.", condition="DELTA_FEATURE_DROP_WAIT")

    job = desk.run(desk.act(desk.checked(desk.change(DROP, coordinated, remove_features=("vacuumProtocolCheck",)))))

    assert job.state == "succeeded", job.error_text
    assert "vacuumProtocolCheck stays, as Delta says: History needs it." in job.message


def test_a_drop_tells_of_what_is_left_in_the_end(desk, coordinated) -> None:
    job = desk.run(desk.act(desk.checked(desk.change(DROP, coordinated, remove_features=("vacuumProtocolCheck",)))))

    assert "off since version 5 (commits 4, 5). Left behind: inCommitTimestamp, and" in job.message
    assert "vacuumProtocolCheck was removed." in job.message


def test_a_leftover_is_removed_afterwards(desk, coordinated) -> None:
    desk.run(desk.act(desk.checked(desk.change(DROP, coordinated))))
    change = desk.change(LEFTOVERS, coordinated, remove_features=("vacuumProtocolCheck",))

    job = desk.run(desk.act(desk.checked(change)))

    assert job.state == "succeeded", job.error_text
    assert "vacuumProtocolCheck" not in desk.console.table(ROOT).features


def test_creating_makes_a_table_that_is_coordinated_from_its_first_commit(desk) -> None:
    uri = desk.console.lake.uri("new/table")
    change = CoordinationRequest(CREATE, uri, store=desk.store, columns="id BIGINT", partition_by=())

    job = desk.run(desk.act(desk.checked(change)))

    assert job.state == "succeeded", job.error_text
    assert desk.console.table("new/table").mechanism == "coordinated_commits"


# What refuses


@pytest.mark.parametrize("confirmed", [{"stated": False}, {"digest": "0" * 32}])
def test_nothing_is_queued_without_the_statement_or_with_other_checks(desk, plain, confirmed) -> None:
    checked = desk.checked(desk.change(ENABLE, plain))

    with pytest.raises((ConfirmationNeeded, PreflightNeeded)):
        desk.act(checked, **confirmed)
    assert not Job.objects.exclude(kind="check-coordination").exists()
    assert last_audit("refused").action == "table.enable-coordination"


def test_a_drop_needs_the_tables_name(desk, coordinated) -> None:
    checked = desk.checked(desk.change(DROP, coordinated))

    with pytest.raises(NameNotTyped, match=r"sales\.orders"):
        desk.act(checked, confirm="sales.order")


def test_checks_older_than_fifteen_minutes_are_not_confirmed(desk, coordinated, age) -> None:
    checked = desk.checked(desk.change(DROP, coordinated))
    age(checked)

    with pytest.raises(PreflightNeeded):
        desk.act(checked)


def test_a_job_that_waited_too_long_changes_nothing(desk, plain) -> None:
    job = desk.act(desk.checked(desk.change(ENABLE, plain)))
    Job.objects.filter(pk=job.pk).update(params=job.params | {"checked_at": "2026-01-01T00:00:00+00:00"})

    job = desk.run(job)

    assert (job.state, job.error_code) == ("failed", "PreflightTooOld")
    assert asked(desk) == []


def test_checks_that_fail_cannot_be_confirmed(desk, coordinated) -> None:
    with pytest.raises(ChecksFailed, match="already"):
        desk.act(desk.checked(desk.change(ENABLE, coordinated)))


@pytest.mark.parametrize("role", [Role.VIEWER, None])
def test_viewers_may_neither_check_nor_act(desk, plain, role) -> None:
    with pytest.raises(NotAllowed):
        desk.checked(desk.change(ENABLE, plain), by=actor(role))
    checked = desk.checked(desk.change(ENABLE, plain))
    with pytest.raises(NotAllowed):
        desk.act(checked, by=actor(role))


def test_read_only_refuses_the_action_and_the_worker(desk, plain, settings) -> None:
    checked = desk.checked(desk.change(ENABLE, plain))
    job = desk.act(checked)
    settings.READ_ONLY = True

    with pytest.raises(ReadOnlyMode):
        desk.act(checked)
    assert desk.run(job).state == "failed"
    assert asked(desk) == []
    assert desk.console.table(ROOT).mechanism == "single_driver"


def test_a_read_only_connection_refuses_as_well(desk, plain) -> None:
    checked = desk.checked(desk.change(ENABLE, plain))
    job = desk.act(checked)
    Connection.objects.update(read_only=True)

    with pytest.raises(ConnectionReadOnly):
        desk.act(checked)
    with pytest.raises(ConnectionReadOnly):
        many(desk, [plain])
    assert desk.run(job).state == "failed"
    assert asked(desk) == []


def test_the_same_checks_confirmed_twice_are_one_job(desk, plain) -> None:
    checked = desk.checked(desk.change(ENABLE, plain))

    assert desk.act(checked).pk == desk.act(checked).pk


def test_another_act_waits_for_the_one_under_way(desk, plain) -> None:
    first, second = desk.checked(desk.change(ENABLE, plain)), desk.checked(desk.change(ENABLE, plain))
    desk.act(first)

    with pytest.raises(JobBusy):
        desk.act(second)


def test_a_table_that_changed_since_the_checks_is_left_alone(desk, plain) -> None:
    job = desk.act(desk.checked(desk.change(ENABLE, plain)))
    desk.console.lake.pending(ROOT, 3)

    job = desk.run(job)

    assert job.error_code in {"Refused", "Moved"}
    assert asked(desk) == []


def test_another_plan_than_the_one_confirmed_is_not_sent_though_every_check_comes_out_alike(desk, plain) -> None:
    job = desk.act(desk.checked(desk.change(ENABLE, plain)))
    Job.objects.filter(pk=job.pk).update(params=job.params | {"digest": "0" * 32})

    job = desk.run(job)

    assert (job.state, job.error_code) == ("failed", "Moved")
    assert "has changed since they were shown" in job.error_text
    assert asked(desk) == []


def test_a_worker_asks_for_the_name_of_a_drop_again(desk, coordinated) -> None:
    job = desk.act(desk.checked(desk.change(DROP, coordinated)))
    Job.objects.filter(pk=job.pk).update(params=job.params | {"confirm": "another.name"})
    before = len(desk.spark.asked)

    job = desk.run(job)

    assert (job.state, job.error_code) == ("failed", "NameNotTyped")
    assert len(desk.spark.asked) == before


def test_what_waits_is_published_by_calls_that_the_plan_shows(desk, coordinated) -> None:
    desk.spark._append({"table": coordinated.uri})
    unpublish(desk, 4)
    checked = desk.checked(desk.change(DROP, coordinated))
    assert [call["operation"] for call in checked.result["plan"]["calls"]][-1] == "ALTER TABLE DROP FEATURE"
    assert len(checked.result["plan"]["calls"]) > 1

    job = desk.run(desk.act(checked))

    assert job.state == "succeeded", job.error_text
    assert len(job.result["after"]["calls"]) == len(checked.result["plan"]["calls"])


# What is cut short


def test_a_cancel_before_spark_changes_nothing(desk, plain) -> None:
    desk.spark.at[START] = cancelled

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert job.state == "cancelled"
    assert "it is not coordinated. Enable it again to finish; there is nothing to undo." in job.message
    assert desk.console.table(ROOT).mechanism == "single_driver"


def test_a_cancel_between_registration_and_commit_leaves_an_orphan_that_is_found(desk, plain) -> None:
    desk.spark.at[CONVERT] = cancelled

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert job.state == "cancelled"
    table = desk.console.table(ROOT)
    assert [item["table_id"] for item in table.registrations] == [table_id(plain.uri)]
    found = TableFinding.objects.get(table=table, code="K0", resolved_at=None)
    assert "was cut short" in found.summary
    desk.spark.at.clear()
    assert desk.run(desk.act(desk.checked(desk.change(ENABLE, table)))).state == "succeeded"


def test_a_cancel_between_the_drops_commits_offers_to_finish_and_to_undo(desk, coordinated) -> None:
    desk.spark.at[SECOND] = cancelled

    job = desk.run(desk.act(desk.checked(desk.change(DROP, coordinated))))

    assert job.state == "cancelled"
    assert "Drop once more to finish, or enable to undo." in job.message
    table = desk.console.table(ROOT)
    assert (table.state, table.summary[:44]) == ("attention", "A drop of coordinated commits stopped half-w")
    desk.spark.at.clear()
    finished = desk.run(desk.act(desk.checked(desk.change(DROP, desk.console.table(ROOT)))))
    assert finished.state == "succeeded", finished.error_text
    assert "coordinatedCommits-preview" not in desk.console.table(ROOT).features
    assert desk.console.table(ROOT).state == "healthy"


def another_commits(desk, version: int, *actions) -> None:
    info = commit_info(in_commit_timestamp=EPOCH_MS + version)
    desk.console.lake.commit(ROOT, version, commit_bytes(info, *actions))


def registered(desk) -> set[str]:
    return {item["tableId"]["S"] for item in desk.console.lake.dynamodb.scan(TableName=desk.store)["Items"]}


def enabling_meets_a_commit(desk, *, condition: str = "DELTA_CONCURRENT_WRITE", state: str = "failed") -> None:
    def meet() -> None:
        another_commits(desk, 3)
        ends(state, "Another writer was faster.", condition=condition)()

    desk.spark.at[CONVERT] = meet


def test_a_cut_enable_names_the_registration_that_it_left_and_where(desk, plain) -> None:
    desk.spark.at[CONVERT] = cancelled

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    left = table_id(plain.uri)
    assert f"Registration {left} appeared in {desk.store} meanwhile" in job.message
    assert "offers the removal once version 3 has gone to another commit for a day (K0)" in job.message
    assert job.result["after"]["left"] == {"store": desk.store, "table_ids": [left], "removed": False}
    assert registered(desk) == {left}


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


def test_a_spark_that_gave_no_answer_may_still_be_at_it_so_its_registration_stays(desk, plain) -> None:
    enabling_meets_a_commit(desk, state="lost")

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert registered(desk) == {table_id(plain.uri)}
    assert f"Registration {table_id(plain.uri)} appeared" in job.error_text


def test_another_error_does_not_say_that_the_registration_is_the_jobs_own(desk, plain) -> None:
    enabling_meets_a_commit(desk, condition="DELTA_SOMETHING_ELSE")

    desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert registered(desk) == {table_id(plain.uri)}


def test_a_registration_stays_whose_version_nobody_has_taken(desk, plain) -> None:
    desk.spark.at[CONVERT] = ends("failed", "Another writer was faster.", condition="DELTA_CONCURRENT_WRITE")

    desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert registered(desk) == {table_id(plain.uri)}


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


def unpublish(desk, version: int) -> None:
    """Leave the newest commit as a coordinator has it that nobody has backfilled for: staged and listed."""
    log = f"{ROOT}/_delta_log"
    data = desk.console.bytes_of(f"{log}/{version:020d}.json")
    desk.console.lake.delete(f"{log}/{version:020d}.json")
    desk.console.lake.put(f"{log}/_staged_commits/{version:020d}.{UUID}.json", data)
    [item] = desk.console.lake.dynamodb.scan(TableName=desk.store)["Items"]
    listed = coordinator_commit(version, fsLength={"N": str(len(data))})
    desk.console.lake.dynamodb.put_item(TableName=desk.store, Item=item | {"commits": {"L": [listed]}})


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


def test_a_half_made_drop_can_be_undone_by_enabling(desk, coordinated) -> None:
    desk.spark.at[SECOND] = cancelled
    desk.run(desk.act(desk.checked(desk.change(DROP, coordinated))))
    desk.spark.at.clear()

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, desk.console.table(ROOT)))))

    assert job.state == "succeeded", job.error_text
    assert desk.console.table(ROOT).mechanism == "coordinated_commits"


@pytest.mark.parametrize("step", [START, "Register", CONVERT])
def test_a_spark_that_dies_marks_the_job_and_says_what_the_table_is(desk, plain, step) -> None:
    desk.spark.at[step] = ends("lost", "The Spark worker ended in the middle of the job.")

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert job.state == "failed"
    assert "The Spark worker ended" in job.error_text
    assert "it is not coordinated" in job.error_text
    assert desk.console.table(ROOT).state == "healthy"


def test_what_delta_refuses_is_told_by_its_condition(desk, plain) -> None:
    desk.spark.at[CONVERT] = ends("failed", "Another writer was faster.", condition="DELTA_METADATA_CHANGED")

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert (job.state, job.error_code) == ("failed", "DELTA_METADATA_CHANGED")


def test_an_outcome_that_cannot_be_proven_fails_the_job(desk, plain, monkeypatch) -> None:
    monkeypatch.setattr(type(desk.spark), "_convert", lambda *_: None)

    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain))))

    assert (job.state, job.error_code) == ("failed", "NotProven")
    assert "The protocol lacks coordinatedCommits-preview." in job.error_text


# Many


def many(desk, tables, operation=ENABLE, **given):
    defaults = {"store": desk.store, "stated": True, "confirm": actions.many_name(tables)}
    return actions.act_on_many(actor(Role.OPERATOR), tables, operation, **(defaults | given))


def test_many_have_one_outcome_each_and_what_the_checks_refuse_stops_nothing(desk) -> None:
    tables = [desk.plain("a/one"), desk.coordinated("a/two"), desk.plain("a/three")]

    job = desk.run(many(desk, tables, stop_at_first_failure=True))

    states = {row["label"].rsplit("/", 1)[1]: row["state"] for row in job.result["outcomes"]}
    assert states == {"one": "done", "two": "refused", "three": "done"}
    assert AuditEntry.objects.filter(job_id=job.pk, outcome="refused", target_id=str(tables[1].pk)).exists()


@pytest.mark.parametrize(("stop", "outcomes"), [(True, 1), (False, 2)])
def test_an_unexpected_failure_stops_the_others_if_asked(desk, stop: bool, outcomes: int) -> None:
    tables = [desk.plain("a/one"), desk.plain("a/two")]
    desk.spark.at[CONVERT] = ends("failed", "Out of memory.")

    job = desk.run(many(desk, tables, stop_at_first_failure=stop))

    assert (job.state, len(job.result["outcomes"])) == ("failed", outcomes)
    assert "Out of memory." in job.result["outcomes"][0]["sentence"]


def test_a_drop_of_many_needs_their_number_typed(desk) -> None:
    tables = [desk.coordinated("a/one")]

    with pytest.raises(NameNotTyped, match="1 table"):
        many(desk, tables, DROP, confirm="all")
    assert desk.run(many(desk, tables, DROP)).state == "succeeded"


def test_many_are_refused_in_read_only_mode(desk, plain, settings) -> None:
    settings.READ_ONLY = True

    with pytest.raises(ReadOnlyMode):
        many(desk, [plain])


@pytest.fixture
def age():
    """Make checks sixteen minutes older."""

    def make(job: Job) -> None:
        read = parse_datetime(job.result["read_at"])
        assert read is not None
        job.result["read_at"] = (read - timedelta(minutes=16)).isoformat()
        job.save(update_fields=["result"])

    return make


def test_every_act_has_a_kind_a_verb_and_a_title() -> None:
    assert set(jobs.KINDS) == set(jobs.VERBS) == set(actions.TITLES) == set(Operation)
