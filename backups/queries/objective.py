"""Whether a plan's newest copy is older than its objective allows: the same for pages, digest and alerts."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from backups.models import Plan, Run


@dataclass(frozen=True, slots=True)
class CopyAge:
    """`copy` is the newest run that made one, None without; `since` is the moment up to which everything was copied, or
    that of the plan's first start, None for a plan that was never started. `over` is how far that lies beyond the
    objective, at most 0 where it does not."""

    copy: Run | None
    since: datetime | None
    age: timedelta | None
    over: timedelta

    @property
    def is_past(self) -> bool:
        return self.over > timedelta()


def copy_age(plan: Plan, now: datetime) -> CopyAge:
    """Where a plan stands now. Without any copy the objective counts from the first start."""
    copy = plan.runs.copies().select_related("plan").order_by("-cut_off", "-created_at").first()
    since = moment_of(copy) if copy else plan.runs.order_by("created_at").values_list("created_at", flat=True).first()
    over = now - since - timedelta(hours=plan.objective_hours) if since else timedelta()
    return CopyAge(copy, since, now - moment_of(copy) if copy else None, over)


def moment_of(run: Run) -> datetime:
    """The moment that a run's copy holds: what came later may be missing from it."""
    return run.cut_off or run.started_at or run.created_at
