"""Trouble on the other side: roles and policies that deny, a full failure threshold, objects and manifests that change.

Copies are those of the sandbox's S3 Batch Operations; planning and reconciling are plain Python.
"""

import time
from decimal import Decimal

import pytest

from backups import actions
from backups.advancing import advance_here
from backups.models import Run
from backups.runs.spark_pipeline import SparkPipeline
from backups.runs.work import RunFailed
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job
from lake.aws.access import open_lake
from lake.aws.batch_operations import BatchOperations
from lake.backup.batch_manifest import Manifest
from tests.backups.runs.ground import KEYS, ROLE, Ground, counts
from tests.backups.runs.plain import PlainPipeline
from tests.backups.runs.world import start

pytestmark = pytest.mark.django_db
CHEAP = Decimal("0.01")


def waiting_for_approval(ground: Ground) -> Run:
    """A run whose copy job stands suspended at S3."""
    run = advance_here(start(ground.plan(engine="s3-batch", cost_ceiling_usd=CHEAP)))
    assert run.state == "waiting_for_approval"
    assert [job.status for job in ground.jobs_of(run.pk)] == ["Suspended"]
    return run


def approved(run: Run) -> Run:
    return advance_here(actions.approve(Actor.command(), run, enqueue=False))


def retried(run: Run) -> Run:
    """A second try, approved where it has to be."""
    again = advance_here(actions.retry(Actor.command(), run, enqueue=False))
    return approved(again) if again.state == "waiting_for_approval" else again


def test_a_full_failure_threshold_fails_the_run_with_what_its_report_says_and_a_second_try_copies_the_rest(ground):
    run = waiting_for_approval(ground)
    ground.rules(denied_roles=[ROLE], failure_tasks=3)
    run = approved(run)

    assert (run.state, run.error_code) == ("failed", "CopyJobFailed")
    assert "FailureRateExceeded" in run.sentence
    assert f"Of {len(KEYS)} objects, 0 are at the destination" in run.sentence
    assert run.denied + run.failed == len(KEYS) == run.worth_retry
    assert ground.copies() == {}
    run.plan.vault_connection.refresh_from_db()
    assert run.plan.vault_connection.bucket_owners == {ground.vault: "123456789012"}

    ground.own_rules()
    again = retried(run)
    assert (again.state, counts(again)) == ("complete", {"listed": len(KEYS), "copied": len(KEYS)})
    assert ground.copies() == ground.originals()


def test_what_a_policy_denies_is_told_with_its_cause_and_copied_when_it_no_longer_does(ground):
    ground.policy("Deny", "t/part-1")
    run = advance_here(start(ground.plan(engine="s3-batch")))

    assert (run.state, run.denied, run.copied) == ("complete_with_gaps", 1, len(KEYS) - 1)
    [group] = run.failures.all()
    assert (group.outcome, group.code, group.examples) == ("denied", "AccessDenied", ["t/part-1"])
    assert "Run the preflight of the plan" in group.cause

    ground.policy("Allow", "*")
    again = retried(run)
    assert (again.state, counts(again)) == ("complete", {"listed": 1, "copied": 1})
    assert ground.copies() == ground.originals()


def test_s3_refuses_to_copy_what_was_overwritten_after_the_cut_off(ground):
    run = waiting_for_approval(ground)
    ground.client.put(ground.source, "t/part-1", b"t/part-2", modified_at=time.time() + 60)
    run = approved(run)

    [group] = run.failures.all()
    assert (group.outcome, group.code, group.examples) == ("changed", "PreconditionFailed", ["t/part-1"])
    assert "t/part-1" not in ground.copies()


def test_a_manifest_that_is_changed_before_s3_reads_it_is_refused(ground, monkeypatch):
    plan_of = PlainPipeline.plan

    def plan(self, wanted):
        planned = plan_of(self, wanted)
        [manifest] = planned.manifests
        ground.client.put(manifest.bucket, manifest.key, f"{ground.source},t/part-1\n".encode())
        return planned

    monkeypatch.setattr(PlainPipeline, "plan", plan)
    run = advance_here(start(ground.plan(engine="s3-batch")))

    assert (run.state, run.error_code) == ("failed", "CopyJobRefused")
    assert "ETag" in run.sentence
    assert [stage.state for stage in run.stages.all()] == ["done", "done", "done", "failed", "skipped", "skipped"]
    steps = [(step["name"], step["state"]) for step in Job.objects.get(error_code="CopyJobRefused").steps]
    assert (run.stage, steps[-2:]) == ("copy", [("Cost gate", "done"), ("Copy", "failed")])
    assert ground.copies() == {}


def test_a_copy_job_that_somebody_cancels_at_s3_fails_the_run_and_a_second_try_copies(ground):
    run = waiting_for_approval(ground)
    with open_lake(ground.access) as lake:
        BatchOperations(lake).cancel(run.copy_jobs.get().aws_job_id)
    run = approved(run)

    assert (run.state, run.failed) == ("failed", len(KEYS))
    assert run.sentence.startswith("Copy job 1 cancelled. Of")
    assert [stage.name for stage in run.stages.filter(state="failed")] == ["copy"] == [run.stage]
    assert retried(run).state == "complete"
    assert ground.copies() == ground.originals()


@pytest.mark.parametrize(
    ("suffix", "later", "is_refused"), [("csv", 0, True), ("parquet", 60, True), ("others", 0, False)]
)
def test_spark_copies_from_no_manifest_that_was_changed_after_it_was_planned(ground, suffix, later, is_refused):
    with open_lake(ground.access) as lake:
        lake.s3.put(ground.vault, "m.parquet", b"rows")
        written = lake.s3.put(ground.vault, "m.csv", b"lines")
        manifest = Manifest("copy", ground.vault, "m.csv", written.etag, 1, 1)
        ground.client.put(ground.vault, f"m.{suffix}", b"others", modified_at=time.time() + later)
        pipeline = SparkPipeline(Connection(), lake, None)
        if is_refused:
            with pytest.raises(RunFailed, match="not there as it was planned"):
                pipeline.require_unchanged(manifest)
        else:
            pipeline.require_unchanged(manifest)
