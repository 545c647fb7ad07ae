"""The small things that several pages, alerts and the digest say of plans and runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse

from backups.models import Plan, PointState, Run, RunState
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


def proven_text(proofs: Iterable[Run | None]) -> str:
    """What these runs proved of their tables; "" where there was nothing to prove."""
    counts = [proof.points_by_state for proof in proofs if proof]
    proven = sum(one[PointState.PROVEN] for one in counts)
    total = sum(sum(one.values()) - one[PointState.TOO_NEW] for one in counts)
    if not total:
        return ""
    tables = f"{total:,} table{'' if total == 1 else 's'}"
    return f"When copied, {proven:,} of {tables} could be restored within the objective of that time."


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


def at_most_text(age: timedelta) -> str:
    """An age rounded up to what is written of it."""
    hour = timedelta(hours=1)
    unit = timedelta(seconds=1) if age < hour else hour / 60 if age < 72 * hour else hour
    return age_text(unit * -(-age // unit))


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the tables of a plan may be behind their source now. `proof` is the newest run that proved them, None
    without one; `begun_at` is when the plan was first started, None where it never was."""

    proof: Run | None
    begun_at: datetime | None
    objective: timedelta
    now: datetime

    @property
    def behind(self) -> timedelta | None:
        """What is older than that is in the newest version that can be restored of each table; None where that is not
        known of one."""
        return self.now - self.proof.holds_until if self.proof and self.proof.holds_until else None

    @property
    def missed_at(self) -> datetime | None:
        """When the objective is, or was, missed: without a proof that long after the plan was first started, and where
        it is not known how far behind a table is, when that was found. None for a plan that was never started."""
        if self.proof is None:
            return self.begun_at + self.objective if self.begun_at else None
        return self.proof.holds_until + self.objective if self.proof.holds_until else self.proof.not_known_since

    @property
    def is_past(self) -> bool:
        is_unknown = self.proof is not None and self.behind is None
        return is_unknown or (self.missed_at is not None and self.missed_at <= self.now)

    @property
    def share(self) -> int | None:
        """How far behind, as percent of the objective."""
        return None if self.behind is None else round(100 * self.behind / self.objective)

    @property
    def behind_text(self) -> str:
        return age_text(self.behind) if self.behind is not None else ""

    @property
    def objective_text(self) -> str:
        return age_text(self.objective)


def standing(plan: Plan, now: datetime) -> Standing:
    """Where a plan stands now."""
    proof = plan.runs.proofs().select_related("plan").first()
    first = None if proof else plan.runs.order_by("created_at").values_list("created_at", flat=True).first()
    return Standing(proof, first, timedelta(hours=plan.objective_hours), now)
