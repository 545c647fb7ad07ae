"""What goes wrong between a run and AWS: said in a sentence with its cure, tried again, and given up in the end."""

from types import SimpleNamespace

import pytest

from backups import actions, jobs
from backups.advancing import advance_here
from backups.models import CopyJob, Run
from dashboard.accounts.actor import Actor
from dashboard.jobs.models import Job
from lake.aws.errors import AwsError
from tests.backups.runs.world import make_plan, start, tick

pytestmark = pytest.mark.django_db

EXPIRED = AwsError("ExpiredToken", "The provided token has expired", "R1", "s3:ListObjectsV2", "", "s3://lake")
DENIED = AwsError("AccessDenied", "Access Denied", "R2", "s3:GetObject", "s3:GetObject", "s3://lake")
STAGE_OF = {
    "plan": "manifest",
    "create": "cost_gate",
    "status": "cost_gate",
    "confirm": "copy",
    "reconcile": "reconcile",
}


@pytest.mark.parametrize("point", STAGE_OF)
@pytest.mark.parametrize(("error", "cure"), [(EXPIRED, "Renew the credentials"), (DENIED, "Run the preflight")])
def test_a_trouble_is_said_with_its_cure_tried_again_and_leaves_no_trace_when_it_ends(world, point, error, cure):
    world.trouble_at = {point: error}
    run = start(make_plan(engine="s3-batch"))
    tick(world, rounds=5)
    run.refresh_from_db()
    assert (run.state, run.stage, run.error_code) == ("running", STAGE_OF[point], error.code)
    assert [said for said in (error.message, cure, "Tried again in") if said not in run.sentence] == []
    assert run.stages.get(name=run.stage).detail == run.sentence

    world.trouble_at = {}
    tick(world)
    run.refresh_from_db()
    assert (run.state, run.error_code, run.copied, len(world.batch.jobs)) == ("complete", "", 10, 1)


@pytest.mark.parametrize("point", STAGE_OF)
def test_six_troubles_in_a_row_end_the_run_and_a_new_one_finishes(world, point):
    plan = make_plan(engine="s3-batch")
    world.trouble_at = {point: DENIED}
    run = start(plan)
    tick(world)
    run.refresh_from_db()
    assert (run.state, run.failed_attempts) == ("failed", 5)
    assert run.sentence.endswith("It went wrong 6 times in a row.")
    assert run.stages.get(name=STAGE_OF[point]).state == "failed"

    world.trouble_at = {}
    again = start(plan)
    tick(world)
    again.refresh_from_db()
    assert (again.state, again.copied + again.already_there) == ("complete", 10)


def test_a_role_that_may_not_read_the_inventory_is_said_and_given_up(world):
    world.s3.refuses = DENIED
    run = start(make_plan(inventory="s3a://lists/lake/daily/"))
    tick(world, rounds=2)
    run.refresh_from_db()
    assert (run.state, run.failed_attempts) == ("waiting_for_inventory", 2)
    assert "the permission s3:GetObject is missing. Run the preflight of the plan" in run.sentence
    tick(world)
    run.refresh_from_db()
    assert (run.state, run.error_code) == ("failed", "AccessDenied")
    assert [stage.state for stage in run.stages.all()] == ["failed"] + ["skipped"] * 5


def test_a_lake_that_cannot_be_opened_is_a_failed_attempt(world, monkeypatch):
    def refuse(access, **_):
        raise AwsError("BadConfiguration", "the AWS configuration files cannot be used")

    monkeypatch.setattr(jobs, "open_lake", refuse)
    run = start(make_plan())
    tick(world, rounds=1)
    run.refresh_from_db()
    assert (run.failed_attempts, run.worker) == (1, None)
    assert "configuration files cannot be used" in run.sentence
    tick(world)
    run.refresh_from_db()
    assert (run.state, run.error_code) == ("failed", "BadConfiguration")
    assert Job.objects.count() == 6


def test_a_run_whose_copies_cannot_be_ended_does_not_cancel_for_ever(world):
    run = start(make_plan(engine="s3-batch"))
    tick(world, rounds=2)
    world.trouble_at = {"status": DENIED}
    actions.cancel(Actor.command(), run, enqueue=False)
    tick(world)

    run.refresh_from_db()
    assert (run.state, run.error_code) == ("failed", "AccessDenied")


def test_what_changed_since_the_inventory_is_copied_as_it_is_now_by_a_second_try(world, monkeypatch):
    """What is new is told from what changed by the moment up to which a run takes things, which moves on."""
    wanted = []
    plan_of = type(jobs.parts(None)[0]).plan

    def plan(self, what):
        wanted.append(what)
        return plan_of(self, what)

    monkeypatch.setattr(type(jobs.parts(None)[0]), "plan", plan)
    world.denied = {"t/part-5"}
    first = start(make_plan())
    tick(world)
    first.refresh_from_db()
    world.denied = set()
    again = actions.retry(Actor.command(), first, enqueue=False)
    tick(world)

    again.refresh_from_db()
    assert again.state == "complete"
    assert again.cut_off == first.cut_off == wanted[0].cut_off
    assert wanted[1].cut_off == again.started_at > first.cut_off


@pytest.mark.django_db(transaction=True)
def test_a_command_waits_for_the_run_that_another_process_holds(world, monkeypatch):
    """Without a pause it would make jobs as fast as the database takes them."""
    run = start(make_plan())
    holder = Job.objects.create(kind="backup-data", title="Back up", requested_by_name="schedule", state="running")
    Job.objects.filter(pk=holder.pk).update(heartbeat_at=jobs.timezone.now())
    Run.objects.filter(pk=run.pk).update(worker=holder)
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 3:
            Job.objects.filter(pk=holder.pk).update(state="succeeded")

    monkeypatch.setattr("backups.advancing.time", SimpleNamespace(sleep=pause))

    assert advance_here(run).state == "complete"
    assert pauses == [2.0] * 3
    assert CopyJob.objects.count() == 1


POINTS = {
    "spark": ["plan", "planned", "copy", "copied", "reconcile"],
    "s3-batch": ["plan", "planned", "create", "created", "status", "confirm", "confirmed", "reconcile"],
}


@pytest.mark.parametrize(("engine", "point"), [(engine, point) for engine, some in POINTS.items() for point in some])
def test_a_run_can_be_cancelled_wherever_it_is(world, monkeypatch, engine, point):
    run = start(make_plan(engine=engine))

    def passing(at):
        if at == point:
            monkeypatch.setattr(world, "passing", lambda at: None)
            actions.cancel(Actor.command(), run, enqueue=False)

    monkeypatch.setattr(world, "passing", passing)
    world.batch.polls_until_done = 0 if point == "reconcile" else 100
    tick(world)

    run.refresh_from_db()
    assert run.state == "cancelled"
    assert {job.status for job in world.batch.jobs.values()} <= {"Complete" if point == "reconcile" else "Cancelled"}
    assert {row.status for row in run.copy_jobs.all()} <= {"Cancelled", "Complete"}
    assert {stage.state for stage in run.stages.all()} <= {"done", "skipped"}
    assert start(run.plan).pk != run.pk
