"""What the digest says of backups: each plan's age against its objective, its runs, and what they copied and cost."""

from collections import Counter
from datetime import datetime, timedelta

from django.conf import settings
from django.urls import reverse

from backups.models import Plan, RunState
from backups.queries.cards import COMPLETE, moment_of, plans_in_scope
from backups.queries.rows import age_text
from dashboard.web.states import look_of
from dashboard.web.text import file_size, one_line, thousands


def backups_section(since: datetime, now: datetime) -> str:
    """Lines of plain text, plans past their objective first; "" without plans."""
    plans = [(_age(plan, now), plan) for plan in plans_in_scope(None)]
    if not plans:
        return ""
    plans.sort(key=lambda pair: (not _is_late(*pair), pair[1].name))
    lines = [line for age, plan in plans for line in _lines(age, plan, since)]
    return "\n".join(["BACKUPS", *lines, f"  {settings.PUBLIC_URL}{reverse('backups')}", ""])


def _lines(age: timedelta | None, plan: Plan, since: datetime) -> list[str]:
    objective = age_text(timedelta(hours=plan.objective_hours))
    held = "no complete copy yet" if age is None else f"newest complete copy {age_text(age)} old"
    late = "PAST ITS OBJECTIVE, " if _is_late(age, plan) else ""
    return [f"  {one_line(plan.name)}: {late}{held}, {objective} allowed", f"    {_runs(plan, since)}"]


def _runs(plan: Plan, since: datetime) -> str:
    runs = list(plan.runs.filter(created_at__gte=since))
    if not runs:
        return "no run in this time"
    counts = Counter(run.state for run in runs)
    states = ", ".join(f"{counts[state]} {look_of(state).word.lower()}" for state in RunState.values if counts[state])
    copied, size = sum(run.copied for run in runs), sum(run.bytes_copied for run in runs)
    cost = sum((run.actual_usd for run in runs if run.actual_usd is not None), start=0)
    amount = f"{thousands(copied)} objects, {file_size(size)}, for ${cost:,.2f}"
    return f"{len(runs)} run{'' if len(runs) == 1 else 's'}: {states}; copied {amount}"


def _age(plan: Plan, now: datetime) -> timedelta | None:
    newest = plan.runs.filter(state__in=COMPLETE).order_by("-cut_off", "-created_at").first()
    return now - moment_of(newest) if newest else None


def _is_late(age: timedelta | None, plan: Plan) -> bool:
    return age is None or age > timedelta(hours=plan.objective_hours)
