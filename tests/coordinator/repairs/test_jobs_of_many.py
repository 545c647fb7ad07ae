"""Repairs of many tables, and of several versions of one, as jobs."""

import pytest
from django.utils import timezone

from coordinator import actions
from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.jobs.context import JobCancelled, JobContext
from dashboard.jobs.models import Job
from dashboard.jobs.registry import kind_named
from tests.builders.people import actor
from tests.coordinator.repairs.console import Console

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("JSON")]
ROOT = "sales/orders"


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
    console.lake.table(ROOT, 3, log_store=True)
    console.lake.pending(ROOT, 3)
    console.lake.pending(ROOT, 4)
    console.observed(ROOT)

    job = console.run(bulk(console, ROOT))

    assert states_of(job) == ["done"], job.result
    assert console.table(ROOT).published_version == 4
