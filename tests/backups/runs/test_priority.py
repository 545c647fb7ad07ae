"""The priority of a run's copy jobs at AWS, changed while they are under way."""

import json

import pytest
from django.core.management import call_command

from backups.actions import RunRefused, set_priority
from backups.models import Plan, Run
from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from lake.aws.errors import AwsError
from tests.backups.runs.world import World, make_plan, start, tick
from tests.builders.people import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
ROLE = "arn:aws:iam::123456789012:role/levee-backup"


@pytest.fixture
def world(world) -> World:
    world.batch.polls_until_done = 1_000
    return world


@pytest.fixture
def run(world) -> Run:
    """A run whose copy job AWS is at work on."""
    run = start(make_plan(engine=Plan.Engine.S3_BATCH, role_arn=ROLE))
    tick(world, rounds=4)
    run.refresh_from_db()
    return run


def at_aws(world: World) -> set[int]:
    return {job.priority for job in world.batch.jobs.values()}


def test_a_copy_job_gets_the_priority_at_its_next_look(world, run):
    assert at_aws(world) == {10}
    set_priority(Actor.command(), run, 90)
    assert at_aws(world) == {10}
    tick(world, rounds=1)
    assert at_aws(world) == {90}
    entry = AuditEntry.objects.get(action="backup.prefer")
    assert (entry.before["priority"], entry.after["priority"]) == ([10], 90)


def test_a_page_and_a_command_set_it_and_nothing_that_is_none(world, run, capsys):
    operator, page = signed_in(Role.OPERATOR), f"/backups/runs/{run.pk}/"
    assert 'name="priority"' in operator.get(page).content.decode()
    for sent in ("", "-1", "high", "2147483648", "٣"):
        answer = operator.post(f"{page}prefer/", {"priority": sent}, follow=True)
        assert "A priority is from 0 to 2,147,483,647." in answer.content.decode()
    assert run.copy_jobs.get().priority == 10
    operator.post(f"{page}prefer/", {"priority": "70"})
    assert run.copy_jobs.get().priority == 70

    call_command("backup", "prefer", str(run.pk), "20", "--json")
    assert [job["priority"] for job in json.loads(capsys.readouterr().out)["copy_jobs"]] == [20]


def test_a_run_without_a_job_at_aws_has_none(world):
    run = start(make_plan())
    tick(world)
    run.refresh_from_db()
    with pytest.raises(RunRefused, match="nothing to prefer"):
        set_priority(Actor.command(), run, 1)


def test_a_job_that_ended_meanwhile_needs_no_priority(world, run):
    def ended(job_id: str, priority: int) -> None:
        raise AwsError("JobStatusException", "it has ended", "", "s3:UpdateJobPriority", "", job_id)

    world.batch.set_priority = ended
    set_priority(Actor.command(), run, 90)
    tick(world, rounds=1)
    run.refresh_from_db()

    assert run.state == "running"
    assert run.failed_attempts == 0
