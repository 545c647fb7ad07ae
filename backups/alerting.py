"""What is wrong with backups, as alerts tell it: late inventories, failed runs, copies older than the objective."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import QuerySet

from backups.models import ACTIVE, Plan, Run, RunState
from dashboard.alerts.problems import Problem, ProblemKind, ProblemSeverity

LATE_INVENTORY = ProblemKind(
    "late-inventory", "A backup waits for its inventory", "hours", threshold=12, least=1, most=720
)
FAILED_RUN = ProblemKind("failed-backup", "A backup failed or left gaps", "count", threshold=1, least=1, most=1)
OVER_OBJECTIVE = ProblemKind("backup-age", "A backup is older than its objective", "hours", threshold=0, most=720)
KINDS = (LATE_INVENTORY, FAILED_RUN, OVER_OBJECTIVE)
_HOUR = timedelta(hours=1)
_SAFE = (RunState.COMPLETE, RunState.COMPLETE_WITH_GAPS)


def backup_problems(now: datetime) -> Iterator[Problem]:
    """Yield every problem of every plan."""
    yield from late_inventories(now)
    yield from failed_runs()
    yield from old_backups(now)


def late_inventories(now: datetime) -> Iterator[Problem]:
    """Runs that still wait for an inventory, by how long."""
    for run in _runs().filter(state=RunState.WAITING_FOR_INVENTORY).exclude(plan__inventory=""):
        since = run.due_at or run.created_at
        yield _problem(
            LATE_INVENTORY,
            run.plan,
            str(run.pk),
            "warning",
            (now - since) / _HOUR,
            f"The backup {run.plan.name} waits for its inventory.",
            since,
            meaning=run.sentence,
            advice="Look whether the inventory configuration of the source bucket is enabled and may write.",
        )


def failed_runs() -> Iterator[Problem]:
    """Plans whose newest finished run failed or left gaps."""
    for plan in Plan.objects.select_related("vault_connection").order_by("pk"):
        last = plan.runs.exclude(state__in=(*ACTIVE, RunState.CANCELLED)).first()
        if last is None or last.state == RunState.COMPLETE:
            continue
        is_failed = last.state == RunState.FAILED
        what = "failed" if is_failed else "left gaps"
        yield _problem(
            FAILED_RUN,
            plan,
            str(last.pk),
            "critical" if is_failed else "warning",
            1,
            f"The backup {plan.name} {what}.",
            last.finished_at or last.created_at,
            meaning=last.sentence,
            advice="The run's page groups what is missing by cause and says what to do.",
        )


def old_backups(now: datetime) -> Iterator[Problem]:
    """Plans with a schedule whose newest backup is older than the objective, by the hours above it.

    The age counts from the cut-off, up to which everything was taken to be in the copy.
    """
    for plan in Plan.objects.exclude(schedule="").select_related("vault_connection").order_by("pk"):
        newest = plan.runs.filter(state__in=_SAFE).order_by("-cut_off").first()
        since = newest.cut_off if newest else _first_start(plan)
        if since is None:
            continue
        over = (now - since) / _HOUR - plan.objective_hours
        if over > 0:
            yield _problem(
                OVER_OBJECTIVE,
                plan,
                "age",
                "critical",
                over,
                f"The newest backup of {plan.name} is {(now - since) / _HOUR:,.0f} hours old.",
                since + timedelta(hours=plan.objective_hours),
                meaning=f"The objective is {plan.objective_hours} hours.",
                advice="Start a run, or look why the last one did not end.",
            )


def _first_start(plan: Plan) -> datetime | None:
    """When the plan was first run: without any backup its age counts from there."""
    return plan.runs.order_by("created_at").values_list("created_at", flat=True).first()


def _runs() -> QuerySet[Run]:
    return Run.objects.select_related("plan__vault_connection").order_by("pk")


def _problem(
    kind: ProblemKind,
    plan: Plan,
    subject: str,
    severity: ProblemSeverity,
    measure: float,
    headline: str,
    since: datetime,
    meaning: str,
    advice: str,
) -> Problem:
    return Problem(
        kind=kind.name,
        key=f"{kind.name}:{plan.pk}:{subject}",
        cause=f"{kind.name}:{plan.pk}",
        severity=severity,
        measure=measure,
        headline=headline,
        since=since,
        meaning=meaning,
        advice=advice,
        connection=plan.vault_connection_id,
        plan=plan.name,
        also_tell=tuple(map(str, plan.notify)),
    )
