"""Runs from their start to their end, with everything that may happen in between."""

from dataclasses import replace
from decimal import Decimal

import pytest

from backups import actions
from backups.models import Run
from backups.runs.ports import UnsafeObjects
from dashboard.accounts.actor import Actor
from dashboard.audit.models import AuditEntry
from dashboard.jobs.models import Job
from tests.backups.runs.world import NOW, World, make_plan, start, tick

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("locks")]


def finish(world: World, run: Run) -> Run:
    tick(world)
    run.refresh_from_db()
    return run


@pytest.mark.parametrize("engine", ["spark", "s3-batch"])
def test_a_run_copies_what_the_destination_lacks_and_completes(world, engine):
    world.pool = {"t/part-3": b"xxx"}

    run = finish(world, start(make_plan(engine=engine)))

    assert run.state == "complete"
    assert (run.listed, run.copied, run.already_there) == (10, 9, 1)
    assert world.pool == world.source
    assert [stage.state for stage in run.stages.all()] == ["done"] * 6


def test_objects_that_change_or_vanish_between_inventory_and_copy_are_never_called_safe(world, monkeypatch):
    copy = world.copy

    def copy_later(key: str) -> tuple[int, int]:
        world.source["t/part-1"] = b"other"
        world.source.pop("t/part-2", None)
        return copy(key)

    monkeypatch.setattr(world, "copy", copy_later)

    run = finish(world, start(make_plan()))

    assert run.state == "complete_with_gaps"
    assert (run.copied, run.changed, run.vanished) == (8, 1, 1)
    assert "1 are not: see the causes. 1 had been deleted from the source before." in run.sentence
    assert {group.outcome for group in run.failures.all()} == {"changed", "vanished"}


@pytest.mark.parametrize("source", [{}, {"t/part-1": b"x"}])
def test_a_run_that_copied_nothing_where_nothing_was_is_no_copy(world, monkeypatch, source):
    world.source = dict(source)
    monkeypatch.setattr(world, "copy", lambda key: (403, 0))

    run = finish(world, start(make_plan()))

    assert (run.state, run.error_code) == ("failed", "NothingCopied")
    assert run.sentence.startswith("Nothing was copied and nothing was there, so there is no copy. Of ")
    assert not run.plan.runs.copies()


def test_what_is_too_new_is_no_gap(world, monkeypatch):
    from tests.backups.runs.world import MemoryPipeline

    monkeypatch.setattr(MemoryPipeline, "_outcome", lambda *_: "copied")
    reconcile = MemoryPipeline.reconcile

    def reconcile_later(self, *args):
        found = reconcile(self, *args)
        new = UnsafeObjects("too_new", "", 1, 0, 1, ("t/part-9",))
        return replace(found, counts={"copied": 9, "too_new": 1}, groups=(new,))

    monkeypatch.setattr(MemoryPipeline, "reconcile", reconcile_later)
    run = finish(world, start(make_plan()))
    assert (run.state, run.too_new, run.left_over, run.failures.count()) == ("complete", 1, 0, 0)


def test_outcomes_that_do_not_add_up_fail_the_run(world, monkeypatch):
    from tests.backups.runs.world import MemoryPipeline

    reconcile = MemoryPipeline.reconcile

    def forgetful(self, *args):
        found = reconcile(self, *args)
        return type(found)(found.listed, {"copied": 9}, 0, (), {})

    monkeypatch.setattr(MemoryPipeline, "reconcile", forgetful)

    run = finish(world, start(make_plan()))

    assert (run.state, run.error_code, run.copied) == ("failed", "OutcomesDoNotAddUp", 0)


def test_nothing_is_copied_where_s3_counts_other_tasks_than_the_manifest_has(world):
    world.batch.miscounts = True

    run = finish(world, start(make_plan(engine="s3-batch")))

    assert (run.state, run.error_code, world.copies) == ("failed", "ManifestMiscounted", 0)
    assert Job.objects.get(state="failed").error_code == "ManifestMiscounted"


@pytest.mark.parametrize(
    ("engine", "ends_at", "told"), [("s3-batch", NOW, NOW), ("s3-batch", None, None), ("spark", NOW, None)]
)
def test_reconciling_hears_when_s3_ended_the_copies_whose_reports_name_no_etag(world, engine, ends_at, told):
    world.batch.ends_at = ends_at
    finish(world, start(make_plan(engine=engine)))
    assert world.copied_until == [told]


def test_large_objects_go_to_spark_although_the_plan_says_s3_batch(world):
    world.large_from = 8

    run = finish(world, start(make_plan(engine="s3-batch")))

    assert {(row.lane, row.engine) for row in run.copy_jobs.all()} == {("copy", "s3-batch"), ("multipart", "spark")}
    assert (run.state, run.copied) == ("complete", 10)


def test_an_estimate_above_the_ceiling_waits_suspended_until_an_operator_approves(world):
    run = finish(world, start(make_plan(engine="s3-batch", cost_ceiling_usd=Decimal("0.10"))))

    assert run.state == "waiting_for_approval"
    assert [job.status for job in world.batch.jobs.values()] == ["Suspended"]
    assert world.copies == 0
    assert {job.shown_state for job in Job.objects.all()} == {"begun"}

    actions.approve(Actor.command(), run, run.estimate_usd, enqueue=False)
    assert finish(world, run).state == "complete"
    assert run.approved_by_name == "command"
    with pytest.raises(actions.RunRefused, match="does not wait for approval"):
        actions.approve(Actor.command(), run, enqueue=False)


def test_a_rejected_run_ends_cancelled_and_its_suspended_job_with_it(world):
    run = finish(world, start(make_plan(engine="s3-batch", cost_ceiling_usd=Decimal("0.10"))))

    actions.reject(Actor.command(), run, "Too dear.", enqueue=False)

    assert finish(world, run).state == "cancelled"
    assert [job.status for job in world.batch.jobs.values()] == ["Cancelled"]
    assert world.copies == 0


def test_a_finished_run_cannot_be_cancelled(world):
    run = finish(world, start(make_plan()))

    with pytest.raises(actions.RunRefused, match="complete already"):
        actions.cancel(Actor.command(), run)


def test_a_run_without_gaps_has_nothing_to_try_again(world):
    run = finish(world, start(make_plan()))

    with pytest.raises(actions.RunRefused, match="nothing that is worth another try"):
        actions.retry(Actor.command(), run)


def test_who_started_approved_and_stopped_is_in_the_audit_log(world):
    run = finish(world, start(make_plan(engine="s3-batch", cost_ceiling_usd=Decimal("0.10"))))
    actions.approve(Actor.command(), run, enqueue=False)
    actions.cancel(Actor.command(), run, "Wrong bucket.", enqueue=False)

    finish(world, run)

    rows = AuditEntry.objects.filter(target_type="run", target_label="warehouse-daily").order_by("pk")
    assert list(rows.values_list("action", "outcome")) == [
        ("backup.run", "requested"),
        ("backup.approve", "done"),
        ("backup.cancel", "done"),
        ("backup.run", "done"),
    ]
