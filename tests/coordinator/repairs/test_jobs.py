"""Repairs as jobs: planned, confirmed, carried out, and proven by reading the table again."""

import pytest
from django.utils import timezone

from changes.calls import done
from changes.gate import NameNotTyped, PlanNeeded
from coordinator import actions
from coordinator.models import TableFinding
from coordinator.repairs.item_calls import CompleteEntry
from coordinator.repairs.object_calls import Publish, RequireEqual
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import NotAllowed
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.context import JobCancelled, JobContext
from dashboard.jobs.models import Job
from dashboard.jobs.registry import kind_named
from tests.builders.people import actor, person
from tests.coordinator.repairs.console import Console, made_too_long_ago

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("JSON")]
ROOT = "sales/orders"
FILE = f"{ROOT}/_delta_log/{3:020d}.json"


def test_a_confirmed_plan_publishes_the_commit_and_its_finding_is_resolved(console: Console) -> None:
    table = console.pending()
    temp, before = console.bytes_of(console.temp_key(ROOT, 3)), console.state()
    plan = console.plan(table)
    assert console.state() == before

    job = console.run(console.repair(table, plan, by=actor(Role.ADMIN)))

    assert (job.state, job.error_text) == ("succeeded", "")
    assert "C2 of version 3 is resolved" in job.message
    calls = [call["says"] for call in plan["calls"]]
    assert [step["name"] for step in job.steps] == ["Read the table and plan anew", *calls, "Read the table again"]
    assert job.steps[0]["then"] == [*calls, "Read the table again"]
    assert console.bytes_of(FILE) == temp
    assert console.item(ROOT, 3)["complete"] == {"S": "true"}
    assert TableFinding.objects.get(table=table, code="C2").resolved_at is not None
    table.refresh_from_db()
    assert (table.state, table.published_version) == ("healthy", 3)
    entry = AuditEntry.objects.get(job_id=job.pk, outcome="done")
    assert (entry.action, entry.actor_name, entry.target_id) == ("table.repair", "admin", str(table.pk))
    assert (entry.before["published_version"], entry.after["published_version"]) == (2, 3)
    assert entry.before["finding"]["evidence"]["dynamodb"]["complete"] is False
    assert [call["outcome"] for call in entry.after["calls"]] == ["done"] * len(calls)
    assert entry.aws_request_ids == job.result["aws_request_ids"] != []


def test_nothing_is_sent_if_the_temp_file_was_replaced_after_the_plan_was_shown(console: Console) -> None:
    table = console.pending()
    job = console.repair(table, console.plan(table))
    console.lake.put(console.temp_key(ROOT, 3), b'{"commitInfo":{"operation":"OTHER"}}\n')
    before = console.state()

    job = console.run(job)

    assert (job.state, job.error_code) == ("overtaken", "")
    assert job.message.startswith("Stopped before any change: it is refused now: .tmp/")
    assert "finding C2 of version 3 still holds: plan the repair again." in job.message
    assert console.state() == before


def test_nothing_is_sent_if_a_reader_published_the_commit_meanwhile(console: Console) -> None:
    table = console.pending()
    job = console.repair(table, console.plan(table))
    console.lake.put(FILE, console.bytes_of(console.temp_key(ROOT, 3)))
    console.lake.entry(ROOT, 3)
    before = console.state()

    job = console.run(job)

    assert (job.state, job.error_code) == ("overtaken", "")
    assert "The table was read again: finding C2 of version 3 no longer holds." in job.message
    assert job.result["overtaken"]["finding_holds"] is False
    assert console.state() == before


def test_what_can_lose_a_commit_needs_an_admin_and_the_tables_name(console: Console) -> None:
    table = console.lost()
    plan = console.plan(table, "abandon-commit")

    assert plan["can_lose"]
    with pytest.raises(NotAllowed):
        console.repair(table, plan, confirm=table.name)
    for typed in ("", "sales", table.name.upper()):
        with pytest.raises(NameNotTyped):
            console.repair(table, plan, by=actor(Role.ADMIN), confirm=typed)
    assert not Job.objects.filter(kind="repair").exists()


@pytest.mark.parametrize("lost", ["NotAllowed", "NameNotTyped"])
def test_the_worker_asks_again_for_an_admin_and_the_name(console: Console, lost: str) -> None:
    table = console.lost()
    job = console.repair(table, console.plan(table, "abandon-commit"), by=actor(Role.ADMIN), confirm=table.name)
    if lost == "NotAllowed":
        person(Role.ADMIN).groups.clear()
    else:
        Job.objects.filter(pk=job.pk).update(params={**job.params, "confirm": ""})
    before = console.state()

    job = console.run(job)

    assert (job.state, job.error_code) == ("failed", lost)
    assert console.state() == before


def test_a_plan_older_than_15_minutes_has_to_be_made_anew(console: Console) -> None:
    table = console.pending()
    plan = console.plan(table)
    made_too_long_ago(Job.objects.get(kind="plan-repair"))

    with pytest.raises(PlanNeeded):
        console.repair(table, plan)
    with pytest.raises(PlanNeeded):
        console.repair(table, {**console.plan(table), "digest": "0" * 32})


def test_a_second_repair_of_a_table_waits_for_the_first(console: Console) -> None:
    console.pending(ROOT)
    console.lake.entry(ROOT, 1, complete={"S": "false"}, expireTime=None)
    console.lake.put(console.temp_key(ROOT, 1), console.bytes_of(f"{ROOT}/_delta_log/{1:020d}.json"))
    table = console.observed(ROOT)
    plans = console.planned(table).result["plans"]
    assert len(plans) >= 2

    console.repair(table, plans[0])
    with pytest.raises(JobBusy):
        console.repair(table, plans[1])


def test_a_repair_whose_finding_stands_after_every_call_has_failed(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = console.pending()
    plan = console.plan(table)
    for call in (Publish, RequireEqual, CompleteEntry):
        monkeypatch.setattr(call, "send", lambda self, sending: done("It was done."))

    job = console.run(console.repair(table, plan))

    assert (job.state, job.error_code) == ("failed", "StillWrong")
    assert AuditEntry.objects.filter(job_id=job.pk, outcome="failed", after__state="pending").exists()


# Many tables, and several versions of one


def bulk(console: Console, *roots: str, by: Actor | None = None, **options: bool) -> Job:
    tables = [console.table(root) for root in roots]
    return actions.repair_many(by or actor(Role.OPERATOR), tables, ["publish-commit"], "Publish all", **options)


def states_of(job: Job) -> list[str]:
    return [row["state"] for row in job.result["outcomes"]]


def test_many_tables_have_one_outcome_each_and_a_failure_does_not_stop_the_others(console: Console) -> None:
    for root in ("a/one", "a/two"):
        console.pending(root)
    console.lake.table("a/fine", 3, log_store=True)
    damaged = console.pending("a/damaged")
    console.lake.put(console.temp_key("a/damaged", 3), b"not a commit\n")
    assert damaged.unpublished_count == 1
    console.observe()

    job = console.run(bulk(console, "a/one", "a/damaged", "a/fine", "a/two"))

    found = {row["label"].rpartition("/")[2]: row for row in job.result["outcomes"]}
    assert {name: row["state"] for name, row in found.items()} == {
        "one": "done",
        "damaged": "refused",
        "fine": "nothing_to_do",
        "two": "done",
    }
    assert found["damaged"]["sentence"]
    assert job.message == "4 tables: 2 done, 1 nothing to do, 1 refused."
    assert console.table("a/two").published_version == 3
    rows = AuditEntry.objects.filter(job_id=job.pk, target_type="table", outcome="done")
    assert {row.target_label for row in rows} == {console.lake.uri("a/one"), console.lake.uri("a/two")}
    assert all(row.before["published_version"] == 2 and row.after["published_version"] == 3 for row in rows)
    assert all(row.aws_request_ids for row in rows)


def test_a_table_that_fails_is_passed_over_unless_told_to_stop(console: Console, monkeypatch) -> None:
    console.pending("a/one")
    console.pending("a/two")
    first = console.table("a/one")
    first.connection.__class__.objects.filter(pk=first.connection_id).update(endpoint_url="http://192.0.2.1:1")

    job = console.run(bulk(console, "a/one", "a/two"))
    assert (job.state, states_of(job)) == ("failed", ["failed", "failed"])

    job = console.run(bulk(console, "a/one", "a/two", stop_at_first_failure=True))
    assert (job.state, states_of(job)) == ("failed", ["failed"])
    assert job.error_text == "2 tables: 1 failed, 1 not reached."


def test_many_are_cancelled_between_two_tables(console: Console) -> None:
    console.pending("a/one")
    job = bulk(console, "a/one")
    Job.objects.filter(pk=job.pk).update(state="running", started_at=timezone.now(), heartbeat_at=timezone.now())
    job.refresh_from_db()
    context = JobContext(job)
    Job.objects.filter(pk=job.pk).update(state="cancelling")
    before = console.state()

    with pytest.raises(JobCancelled):
        kind_named("repair-many").run(context, job.params)
    assert console.state() == before


def test_repairs_that_can_lose_a_commit_are_never_made_in_bulk(console: Console) -> None:
    table = console.lost()

    job = console.run(actions.repair_many(actor(Role.ADMIN), [table], ["abandon-commit"], "All"))

    assert states_of(job) == ["refused"]
    assert "can lose a commit" in job.result["outcomes"][0]["sentence"]
    assert console.item("sales/lost", 3)


def test_several_pending_commits_of_one_table_are_published_from_the_lowest(console: Console) -> None:
    console.pending(ROOT)
    console.lake.pending(ROOT, 4)
    console.observed(ROOT)

    job = console.run(bulk(console, ROOT))

    assert states_of(job) == ["done"], job.result
    assert console.table(ROOT).published_version == 4
