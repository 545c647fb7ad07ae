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


def test_no_run_starts_and_the_page_says_why_beforehand(plan: Plan) -> None:
    client, page = signed_in(Role.OPERATOR), f"/backups/plans/{plan.name}/"
    assert REASON in client.get(page).content.decode()
    assert client.post(f"{page}run/").status_code == 403
    assert not Run.objects.exists()
    assert AuditEntry.objects.get(action="backup.run").outcome == "refused"


@pytest.mark.parametrize(("act", "state"), [("approve", "waiting_for_approval"), ("retry", "complete_with_gaps")])
def test_no_run_goes_on_and_its_page_says_why_beforehand(plan: Plan, act: str, state: str) -> None:
    run = make_run(plan, state, worth_retry=3)
    client, page = signed_in(Role.OPERATOR), f"/backups/runs/{run.pk}/"
    assert REASON in client.get(page).content.decode()
    assert client.post(f"{page}{act}/", {"estimate": "86.57"}).status_code == 403
    run.refresh_from_db()
    assert (run.state, Run.objects.count()) == (state, 1)


@pytest.mark.parametrize(("act", "state"), [("cancel", "running"), ("reject", "waiting_for_approval")])
def test_a_run_can_be_stopped(plan: Plan, act: str, state: str) -> None:
    run = make_run(plan, state)
    assert signed_in(Role.OPERATOR).post(f"/backups/runs/{run.pk}/{act}/").status_code == 302
    run.refresh_from_db()
    assert run.state == "cancelling"


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
