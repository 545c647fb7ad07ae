"""The small things that several pages, alerts and the digest say of plans and runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse

from backups.models import Plan, Run, RunState
from backups.outcomes import COPY_REFUSED
from dashboard.web.text import duration
from lake.aws.errors import ACCESS_DENIED

_FOR_LACK_OF_PERMISSION = frozenset({COPY_REFUSED, *ACCESS_DENIED})


@dataclass(frozen=True, slots=True)
class Headline:
    """The sentence on top of a page, its state, and where it leads."""

    state: str
    headline: str
    detail: str = ""
    url: str = ""
    act: str = ""


UNPROVEN = "This counts the copying. Whether the copy can be restored is not proven."


def proven_text(copies: Iterable[Run | None]) -> str:
    """What was proven of the tables in these copies when their runs ended."""
    points = [copy.tables.get("points") for copy in copies if copy]
    if not points or None in points:
        return UNPROVEN
    proven, total = 0, 0
    for counts in points:
        proven += counts.get("proven", 0)
        total += sum(counts.values()) - counts.get("too_new", 0)
    return f"When copied, {proven:,} of {total:,} tables could be restored within the objective."


def kept_text(run: Run, kept: Mapping[datetime, tuple[str, ...]]) -> str:
    """What a run's copy is kept as, of the whole copies that `kept_as` gives; "" for a run that is none."""
    if run.state != RunState.COMPLETE or run.cut_off is None or run.cut_off not in kept:
        return ""
    names = kept[run.cut_off]
    return f"kept, {' and '.join(names)}" if names else "may go"


def lacks_permission(run: Run) -> bool:
    """Whether a run failed for what the preflight of its plan finds."""
    return run.state == RunState.FAILED and run.error_code in _FOR_LACK_OF_PERMISSION


def way_on(run: Run) -> tuple[str, str]:
    """Where somebody goes who wants a failed run put right, and what the button says."""
    if lacks_permission(run):
        return f"{reverse('backup-plan-policies', args=[run.plan.name])}#preflight", "Check the permissions"
    return run_url(run), "See the run"


def run_url(run: Run) -> str:
    return reverse("backup-run", args=[run.pk])


def age_text(age: timedelta) -> str:
    """An age or objective as people agree on them: in hours below two days, 31 h 42 min."""
    minutes = round(age.total_seconds() / 60)
    if not 60 <= minutes < 72 * 60:
        return duration(age)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h" + (f" {rest} min" if rest else "")


@dataclass(frozen=True, slots=True)
class CopyAge:
    """`copy` is the newest run that made one, None without; `since` is the moment up to which everything was copied, or
    that of the plan's first start, None for a plan that was never started. `over` is how far that lies beyond the
    objective, at most 0 where it does not."""

    copy: Run | None
    since: datetime | None
    age: timedelta | None
    objective: timedelta
    over: timedelta

    @property
    def is_past(self) -> bool:
        return self.over > timedelta()

    @property
    def share(self) -> int | None:
        """The age as percent of the objective."""
        return None if self.age is None else round(100 * self.age / self.objective)

    @property
    def missed_at(self) -> datetime | None:
        """When the newest copy is, or was, as old as the objective allows; None without a copy."""
        return moment_of(self.copy) + self.objective if self.copy else None

    @property
    def age_text(self) -> str:
        return age_text(self.age) if self.age is not None else ""

    @property
    def objective_text(self) -> str:
        return age_text(self.objective)


def copy_age(plan: Plan, now: datetime) -> CopyAge:
    """Where a plan stands now. Without any copy the objective counts from the first start."""
    copy = plan.runs.copies().select_related("plan").order_by("-cut_off", "-created_at").first()
    first = None if copy else plan.runs.order_by("created_at").values_list("created_at", flat=True).first()
    return age_of(plan, copy, first, now)


def age_of(plan: Plan, copy: Run | None, begun_at: datetime | None, now: datetime) -> CopyAge:
    """Where a plan stands by its newest copy; without one by when it was first started."""
    since = moment_of(copy) if copy else begun_at
    objective = timedelta(hours=plan.objective_hours)
    over = now - since - objective if since else timedelta()
    return CopyAge(copy, since, now - moment_of(copy) if copy else None, objective, over)


def moment_of(run: Run) -> datetime:
    """The moment that a run's copy holds: what came later may be missing from it."""
    return run.cut_off or run.started_at or run.created_at
