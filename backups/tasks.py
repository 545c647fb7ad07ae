"""The tick of backups: starts what the schedule wants, and submits a job for each run that can go on."""

from datetime import datetime

from celery import shared_task
from django.db.models import Q
from django.utils import timezone

from backups.actions import RunRefused, start_run
from backups.advancing import submit_advance
from backups.cron import ScheduleError, parse_schedule
from backups.models import ACTIVE, DueRun, Plan, Run, RunState
from dashboard.accounts.actor import Actor
from dashboard.connections.writable import ReadOnlyMode, is_read_only


@shared_task  # type: ignore[untyped-decorator]
def backup_tick() -> None:
    """One round; safe to run in several processes at once, since every change is conditional."""
    now = timezone.now()
    start_due(now)
    advance_runs(now)


def start_due(now: datetime) -> list[Run]:
    """Start a run of each plan whose time has come; however many times were missed, one run makes up for them."""
    plans = Plan.objects.exclude(schedule="").filter(paused=False).select_related("vault_connection")
    # A time that comes while nothing may be changed stays due: the run is made up for afterwards.
    return [run for plan in plans if not is_read_only(plan.vault_connection) and (run := _start(plan, now))]


def advance_runs(now: datetime) -> int:
    """Submit the next job of each run that waits on nobody, or has waited long enough; returns how many."""
    ready = Run.objects.filter(state__in=ACTIVE).exclude(state=RunState.WAITING_FOR_APPROVAL)
    ready = ready.filter(Q(look_again_at=None) | Q(look_again_at__lte=now)).select_related(
        "plan__vault_connection", "worker"
    )
    free = [run for run in ready if run.worker is None or run.worker.is_finished]
    return sum(_submit(run) for run in free)


def _submit(run: Run) -> bool:
    """Submit its next job; where nothing may be changed, the run waits and says so."""
    try:
        submit_advance(run)
    except ReadOnlyMode as refusal:
        Run.objects.filter(pk=run.pk, worker=run.worker, state=run.state).update(sentence=f"Waits. {refusal}")
        return False
    return True


def _start(plan: Plan, now: datetime) -> Run | None:
    try:
        schedule = parse_schedule(plan.schedule)
    except ScheduleError:
        return None
    due, is_new = DueRun.objects.get_or_create(
        plan=plan, defaults={"schedule": plan.schedule, "next_at": schedule.next_after(now)}
    )
    if is_new:
        return None
    seen = DueRun.objects.filter(pk=due.pk, next_at=due.next_at)
    if due.schedule != plan.schedule:
        seen.update(schedule=plan.schedule, next_at=schedule.next_after(now))
        return None
    if due.next_at > now or not seen.update(next_at=schedule.next_after(now)):
        return None
    try:
        return start_run(Actor.schedule(), plan, due_at=due.next_at)
    except RunRefused:
        return None  # said in the audit log, and by how far behind the plan's tables come to be
