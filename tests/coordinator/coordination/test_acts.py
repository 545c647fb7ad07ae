"""Enable, drop, create and leftovers from confirmation to proof, of one table and of many, and what refuses them."""

import pytest

from changes.gate import NotConfirmed
from coordinator.coordination import actions
from coordinator.coordination.checks import Operation
from coordinator.coordination.confirmed import VERBS, ChecksFailed, PreflightNeeded
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.models import Job
from lake.spark.jobs import drop_coordinated_commits, enable_coordinated_commits
from tests.builders.people import actor
from tests.coordinator.coordination.desk import ROOT, last_audit, unpublish
from tests.coordinator.coordination.fake_spark import CONVERT, SAID, ends, table_id
from tests.coordinator.repairs.console import made_too_long_ago

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("JSON")]
ENABLE, DROP, CREATE, LEFTOVERS = Operation.ENABLE, Operation.DROP, Operation.CREATE, Operation.LEFTOVERS
FIRST, SECOND = drop_coordinated_commits.FIRST, drop_coordinated_commits.SECOND


def asked(desk) -> list[str]:
    return [job.kind for job in desk.spark.asked]


# What is done


def test_enabling_registers_commits_proves_and_tells_the_audit_log(desk, plain) -> None:
    job = desk.run(desk.act(desk.checked(desk.change(ENABLE, plain)), reason="CHG-1"))

    assert job.state == "succeeded", job.error_text
    assert (
        f"Coordinated commits are on: registered in {desk.store} as {table_id(plain.uri)}, at version 3." in job.message
    )
    assert job.result["proofs"]
    table = desk.console.table(ROOT)
    assert (table.mechanism, table.state, table.published_version) == ("coordinated_commits", "healthy", 3)
    assert asked(desk) == [enable_coordinated_commits.KIND]
    assert [event.text for event in job.events.filter(step="spark")] == [SAID]
    entry = last_audit("done")
    [call] = entry.after["calls"]
    assert (call["says"], call["outcome"]) == (entry.before["calls"][0]["says"], "done")
    assert (entry.action, entry.target_label) == ("table.enable-coordination", plain.uri)
    assert (entry.before["mechanism"], entry.after["mechanism"]) == ("single_driver", "coordinated_commits")
    assert entry.after["registration"]["table_id"] == table_id(plain.uri)


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
    removing = ["Remove vacuumProtocolCheck", "Read the table's features"]
    assert job.steps[0]["then"] == [FIRST, SECOND, "Read what stays behind", *removing, "Read the table again"]


@pytest.mark.slow
def test_a_leftover_is_removed_afterwards(desk, coordinated) -> None:
    desk.run(desk.act(desk.checked(desk.change(DROP, coordinated))))
    change = desk.change(LEFTOVERS, coordinated, remove_features=("vacuumProtocolCheck",))

    job = desk.run(desk.act(desk.checked(change)))

    assert job.state == "succeeded", job.error_text
    assert "vacuumProtocolCheck" not in desk.console.table(ROOT).features


# What refuses


@pytest.mark.parametrize("confirmed", [{"stated": False}, {"digest": "0" * 32}])
def test_nothing_is_queued_without_the_statement_or_with_other_checks(desk, plain, confirmed) -> None:
    checked = desk.checked(desk.change(ENABLE, plain))

    with pytest.raises((NotConfirmed, PreflightNeeded)):
        desk.act(checked, **confirmed)
    assert not Job.objects.exclude(kind="check-coordination").exists()
    assert last_audit("refused").action == "table.enable-coordination"


def test_checks_older_than_fifteen_minutes_are_not_confirmed(desk, coordinated) -> None:
    checked = desk.checked(desk.change(DROP, coordinated))
    made_too_long_ago(checked)

    with pytest.raises(PreflightNeeded):
        desk.act(checked)


def test_a_job_that_waited_too_long_changes_nothing(desk, plain) -> None:
    checked = desk.checked(desk.change(ENABLE, plain))
    job = desk.act(checked)
    made_too_long_ago(checked)

    job = desk.run(job)

    assert (job.state, job.error_code) == ("failed", "PreflightTooOld")
    assert asked(desk) == []


def test_checks_that_fail_cannot_be_confirmed(desk, coordinated) -> None:
    with pytest.raises(ChecksFailed, match="already"):
        desk.act(desk.checked(desk.change(ENABLE, coordinated)))


def test_another_act_waits_for_the_one_under_way(desk, plain) -> None:
    first, second = desk.checked(desk.change(ENABLE, plain)), desk.checked(desk.change(ENABLE, plain))
    desk.act(first)

    with pytest.raises(JobBusy):
        desk.act(second)
    assert desk.checked(desk.change(ENABLE, plain)).message.endswith("checks failed: Other jobs.")


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


# Many


def many(desk, tables, operation=ENABLE, **given):
    defaults = {"store": desk.store, "stated": True, "confirm": actions.many_name(tables)}
    return actions.act_on_many(actor(Role.OPERATOR), tables, operation, **(defaults | given))


@pytest.mark.slow
def test_many_have_one_outcome_each_and_what_the_checks_refuse_stops_nothing(desk) -> None:
    tables = [desk.coordinated("a/one"), desk.plain("a/two"), desk.plain("a/three")]
    desk.spark.at[CONVERT] = ends("failed", "Out of memory.")

    job = desk.run(many(desk, tables, stop_at_first_failure=True))

    assert job.state == "failed"
    states = [(row["label"].rsplit("/", 1)[1], row["state"]) for row in job.result["outcomes"]]
    assert states == [("one", "refused"), ("two", "failed")]
    assert "Out of memory." in job.result["outcomes"][1]["sentence"]
    assert AuditEntry.objects.filter(job_id=job.pk, outcome="refused", target_id=str(tables[0].pk)).exists()


@pytest.mark.slow
def test_the_audit_row_of_each_of_many_has_the_requests_that_wrote(desk) -> None:
    table = desk.coordinated()
    desk.spark._append({"table": table.uri})
    unpublish(desk, 4)

    assert desk.run(many(desk, [table], DROP)).state == "succeeded"
    [row] = AuditEntry.objects.filter(action=VERBS[DROP], target_type="table", outcome="done")
    assert row.aws_request_ids
