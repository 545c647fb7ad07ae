"""Plans that will pass their objective unless somebody acts, or a run under way ends before."""

from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse

from backups.models import ACTIVE, Run, RunState
from backups.queries.cards import next_due, plans_in_scope
from backups.queries.rows import run_url, standing, way_on
from dashboard.deadlines.judging import register_source
from dashboard.deadlines.models import Due, DueKind


def objectives(now: datetime) -> Iterator[Due]:
    """A plan that was never started has no objective to pass."""
    for plan in plans_in_scope(None).order_by("pk"):
        stands, newest = standing(plan, now), plan.runs.select_related("plan").first()
        at, page = stands.missed_at, reverse("backup-plan", args=[plan.name])
        if at is None or newest is None:
            continue
        stops, path = _way(newest) or ("Start a run: none is scheduled before.", page)
        if path == page and (due := next_due(plan, now)) and due < at:
            continue
        lost = "No table of it is proven to be restorable."
        if stands.proof:
            lost = f"A table may then lack what is older than {stands.objective_text}."
        yield Due(
            key=f"objective:{plan.pk}",
            kind=DueKind.BACKUP,
            at=at,
            state="info" if stops.startswith("Nothing needed") else "attention",
            happens=f"{plan.name} {'has passed' if stands.is_past else 'passes'} its objective",
            lost=lost,
            stops=stops,
            act_path=path,
            subject=plan.name,
            path=page,
            connection=plan.connection,
            vault_connection=plan.vault_connection,
        )


def _way(newest: Run) -> tuple[str, str] | None:
    """What stops it and where, as the newest run stands; None where that run is over and did not fail."""
    if newest.state == RunState.WAITING_FOR_APPROVAL:
        return "Approve the run that waits, or reject it and start another.", run_url(newest)
    if newest.state in ACTIVE:
        return "Nothing needed if the run under way ends before.", run_url(newest)
    if newest.state == RunState.FAILED:
        return "Put right what ended the newest run, and start another.", way_on(newest)[0]
    return None


register_source("plans", "backup plans", objectives)
