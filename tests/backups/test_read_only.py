"""Where nothing may be changed, no backup starts or goes on, by whichever door; stopping one and looking are free."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from backups.actions import cancel
from backups.models import DueRun, Plan, Run
from backups.tasks import advance_runs, start_due
from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
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


def test_a_page_refuses_to_start_and_says_why(plan: Plan) -> None:
    response = signed_in(Role.OPERATOR).post(f"/backups/plans/{plan.name}/run/")
    assert response.status_code == 403
    assert "Nothing may be changed here now." in response.content.decode()
    assert REASON in response.content.decode()
    assert not Run.objects.exists()
    assert AuditEntry.objects.get(action="backup.run").outcome == "refused"


@pytest.mark.parametrize(("act", "state"), [("approve", "waiting_for_approval"), ("retry", "complete_with_gaps")])
def test_a_page_refuses_to_let_a_run_go_on(plan: Plan, act: str, state: str) -> None:
    run = make_run(plan, state, worth_retry=3)
    assert signed_in(Role.OPERATOR).post(f"/backups/runs/{run.pk}/{act}/", {"estimate": "1.00"}).status_code == 403
    run.refresh_from_db()
    assert (run.state, Run.objects.count()) == (state, 1)


@pytest.mark.parametrize("state", ["running", "waiting_for_approval"])
def test_a_run_can_be_stopped(plan: Plan, state: str) -> None:
    run = make_run(plan, state)
    act = "reject" if state == "waiting_for_approval" else "cancel"
    assert signed_in(Role.OPERATOR).post(f"/backups/runs/{run.pk}/{act}/").status_code == 302
    run.refresh_from_db()
    assert run.state == "cancelling"


def test_the_command_refuses_in_the_same_words(plan: Plan) -> None:
    with pytest.raises(CommandError, match=REASON):
        call_command("backup", "run", plan.name)
    assert not Run.objects.exists()


def test_the_schedule_starts_nothing_and_makes_up_for_it_once_afterwards(plan: Plan, settings: Settings) -> None:
    now = timezone.now()
    DueRun.objects.create(plan=plan, schedule=plan.schedule, next_at=now - timedelta(days=3))
    assert start_due(now) == []
    settings.READ_ONLY = False
    assert len(start_due(now)) == 1
    assert start_due(now) == []


def test_a_run_under_way_waits_and_says_so(plan: Plan) -> None:
    run = make_run(plan, "running")
    assert advance_runs(timezone.now()) == 0
    run.refresh_from_db()
    assert run.state == "running"
    assert run.sentence.startswith(f"Waits. {REASON}")


def test_the_vault_counts_and_a_read_only_source_can_be_backed_up(settings: Settings) -> None:
    plan = make_plan()
    plan.connection.read_only = True
    plan.connection.save()
    assert signed_in(Role.OPERATOR).post(f"/backups/plans/{plan.name}/run/").status_code == 302
    Run.objects.all().delete()
    plan.vault_connection.read_only = True
    plan.vault_connection.save()
    assert signed_in(Role.OPERATOR).post(f"/backups/plans/{plan.name}/run/").status_code == 403


def test_buttons_give_the_reason_beforehand(plan: Plan) -> None:
    client = signed_in(Role.OPERATOR)
    assert REASON in client.get(f"/backups/plans/{plan.name}/").content.decode()
    run = make_run(plan, "waiting_for_approval")
    assert REASON in client.get(f"/backups/runs/{run.pk}/").content.decode()


def test_what_s3_copies_is_stopped_although_nothing_may_be_changed(
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
