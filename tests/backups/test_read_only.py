"""Where nothing may be changed, no backup starts or goes on; stopping one and looking are free."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from backups.actions import cancel
from backups.models import DueRun, Plan, Run
from backups.tasks import start_due
from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from tests.backups.page_records import make_plan, make_run
from tests.backups.runs.world import World, inhabit, start, tick
from tests.backups.runs.world import make_plan as plan_of_a_world
from tests.builders.people import signed_in

pytestmark = pytest.mark.django_db

REASON = "Levee is in read-only mode"


@pytest.fixture
def plan(settings: Settings) -> Plan:
    settings.READ_ONLY = True
    return make_plan()


@pytest.mark.parametrize("state", ["", "waiting_for_approval", "complete_with_gaps"])
def test_a_page_says_beforehand_why_nothing_starts_or_goes_on(plan: Plan, state: str) -> None:
    """That it does not, and that runs can be stopped, is told of every address in tests/security."""
    page = f"runs/{make_run(plan, state, worth_retry=3).pk}" if state else f"plans/{plan.name}"
    assert REASON in signed_in(Role.OPERATOR).get(f"/backups/{page}/").content.decode()


def test_the_schedule_starts_nothing_and_makes_up_for_it_once_afterwards(plan: Plan, settings: Settings) -> None:
    now = timezone.now()
    DueRun.objects.create(plan=plan, schedule=plan.schedule, next_at=now - timedelta(days=3))
    assert start_due(now) == []
    settings.READ_ONLY = False
    assert len(start_due(now)) == 1
    assert start_due(now) == []


def test_the_vault_counts_and_a_read_only_source_can_be_backed_up() -> None:
    plan, client = make_plan(), signed_in(Role.OPERATOR)
    for connection, status in ((plan.connection, 302), (plan.vault_connection, 403)):
        Run.objects.all().delete()
        connection.read_only = True
        connection.save()
        assert client.post(f"/backups/plans/{plan.name}/run/").status_code == status


def test_a_run_under_way_waits_and_what_s3_copies_is_stopped_all_the_same(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = inhabit(monkeypatch, World())
    world.batch.polls_until_done = 1000
    run = start(plan_of_a_world(engine="s3-batch"))
    tick(world, rounds=4)
    settings.READ_ONLY = True
    tick(world, rounds=4)
    run.refresh_from_db()
    assert (run.state, run.sentence.startswith(f"Waits. {REASON}")) == ("running", True)
    cancel(Actor.command(), run, enqueue=False)
    tick(world, rounds=4)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert [job.status for job in world.batch.jobs.values()] == ["Cancelled"]
