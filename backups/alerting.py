"""What alerts tell of backups that are late, failed or too far behind their source, and the digest of all of them."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.urls import reverse

from backups.models import ACTIVE, Plan, Run, RunState
from backups.queries.cards import plans_in_scope
from backups.queries.rows import Standing, lacks_permission, proven_text, standing, way_on
from dashboard.alerts.problems import Problem, ProblemKind, register_source
from dashboard.web.states import look_of
from dashboard.web.text import file_size, one_line, thousands

LATE_INVENTORY = ProblemKind(
    "late-inventory", "A backup waits for its inventory", "hours", threshold=12, least=1, most=720
)
FAILED_RUN = ProblemKind("failed-backup", "A backup failed or left gaps", "count", threshold=1, least=1, most=1)
OVER_OBJECTIVE = ProblemKind(
    "backup-age", "A backup is further behind than its objective", "hours", threshold=0, most=720
)
KINDS = (LATE_INVENTORY, FAILED_RUN, OVER_OBJECTIVE)
LOOK_AT_TABLES = "Look at which tables cannot be restored as their plan promises, and why."
_HOUR = timedelta(hours=1)


def backup_problems(now: datetime) -> Iterator[Problem]:
    """Yield every problem of every plan."""
    yield from late_inventories(now)
    yield from failed_runs()
    yield from old_backups(now)


def late_inventories(now: datetime) -> Iterator[Problem]:
    """Runs that still wait for an inventory, by how long."""
    runs = Run.objects.filter(state=RunState.WAITING_FOR_INVENTORY).exclude(plan__inventory="")
    for run in runs.select_related("plan__vault_connection").order_by("pk"):
        since = run.due_at or run.created_at
        yield _problem(
            LATE_INVENTORY,
            run.plan,
            str(run.pk),
            severity="warning",
            measure=(now - since) / _HOUR,
            headline=f"The backup {run.plan.name} waits for its inventory.",
            since=since,
            meaning=run.sentence,
            advice="Look whether the inventory configuration of the source bucket is enabled and may write.",
        )


def failed_runs() -> Iterator[Problem]:
    """Plans whose newest finished run failed or left gaps."""
    for plan in Plan.objects.select_related("vault_connection").order_by("pk"):
        last = plan.runs.exclude(state__in=(*ACTIVE, RunState.CANCELLED)).first()
        if last is None or last.state == RunState.COMPLETE:
            continue
        is_failed, (path, link) = last.state == RunState.FAILED, way_on(last)
        what = "failed" if is_failed else "left gaps"
        yield _problem(
            FAILED_RUN,
            plan,
            str(last.pk),
            severity="critical" if is_failed else "warning",
            measure=1,
            headline=f"The backup {plan.name} {what}.",
            since=last.finished_at or last.created_at,
            meaning=last.sentence,
            advice=_advice(last),
            title="A backup failed" if is_failed else "A backup left gaps",
            path=path,
            link=link,
        )


def _advice(run: Run) -> str:
    if lacks_permission(run):
        return "Check the plan's permissions, put right what is missing, and start another run."
    if run.state == RunState.FAILED:
        return "Put right what ended the run, and start another."
    return "Look at what was left over, by cause, and try it again." if run.left_over else LOOK_AT_TABLES


def old_backups(now: datetime) -> Iterator[Problem]:
    """Plans with a schedule of which a table may be further behind its source than the objective, by the hours above
    it, and those of which that is not known of a table, by the hours since that was found."""
    for plan in Plan.objects.exclude(schedule="").select_related("vault_connection").order_by("pk"):
        stands = standing(plan, now)
        if stands.missed_at is None or not stands.is_past:
            continue
        headline, advice = f"It is not known of every table of {plan.name} how far behind it is.", LOOK_AT_TABLES
        if stands.proof is None or stands.behind is not None:
            advice = "Start a run, or look why the last one did not end."
            headline = f"The backup {plan.name} has no proven copy."
        if stands.behind is not None:
            headline = f"The backup {plan.name} is up to {stands.behind / _HOUR:,.0f} hours behind its source."
        yield _problem(
            OVER_OBJECTIVE,
            plan,
            "age",
            severity="critical",
            measure=(now - stands.missed_at) / _HOUR,
            headline=headline,
            since=stands.missed_at,
            meaning=f"The objective is {plan.objective_hours} hours. {proven_text([stands.proof])}".strip(),
            advice=advice,
        )


def _problem(kind: ProblemKind, plan: Plan, subject: str, *, advice: str, **told: Any) -> Problem:
    """A problem of a plan, by default with the way to its page."""
    way = {"path": reverse("backup-plan", args=[plan.name]), "link": "See the plan"}
    return Problem(
        kind=kind.name,
        key=f"{kind.name}:{plan.pk}:{subject}",
        cause=f"{kind.name}:{plan.pk}",
        subject=plan.name,
        next_step=advice,
        advice=advice,
        connection=plan.vault_connection_id,
        plan=plan.name,
        also_tell=tuple(map(str, plan.notify)),
        **way | told,
    )


def backups_section(since: datetime, now: datetime) -> str:
    """Lines of plain text, plans past their objective first; "" without plans."""
    plans = [(standing(plan, now), plan) for plan in plans_in_scope(None)]
    if not plans:
        return ""
    plans.sort(key=lambda pair: (not pair[0].is_past, pair[0].proof is not None, pair[1].name))
    lines = [line for stands, plan in plans for line in _lines(stands, plan, since)]
    return "\n".join(["BACKUPS", *lines, f"  {settings.PUBLIC_URL}{reverse('backups')}", ""])


def _lines(stands: Standing, plan: Plan, since: datetime) -> list[str]:
    held = f"up to {stands.behind_text} behind its source"
    if stands.behind is None:
        held = "not known how far behind" if stands.proof else "no proven copy yet"
    late = "PAST ITS OBJECTIVE, " if stands.is_past else ""
    return [
        f"  {one_line(plan.name)}: {late}{held}, {stands.objective_text} allowed",
        f"    {_runs_in_words(plan, since)}",
    ]


def _runs_in_words(plan: Plan, since: datetime) -> str:
    runs = list(plan.runs.filter(created_at__gte=since))
    if not runs:
        return "no run in this time"
    counts = Counter(run.state for run in runs)
    states = ", ".join(f"{counts[state]} {look_of(state).word.lower()}" for state in RunState.values if counts[state])
    copied, size = sum(run.copied for run in runs), sum(run.bytes_copied for run in runs)
    cost = sum((run.actual_usd for run in runs if run.actual_usd is not None), start=0)
    amount = f"{thousands(copied)} objects, {file_size(size)}, for ${cost:,.2f}"
    return f"{len(runs)} run{'' if len(runs) == 1 else 's'}: {states}; copied {amount}"


register_source("backups", backup_problems, *KINDS)
