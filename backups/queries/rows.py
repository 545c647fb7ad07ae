"""The small rows that several pages of backups show."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse

from backups.models import Run, RunState
from backups.outcomes import COPY_REFUSED, GAPS
from dashboard.web.text import duration, thousands
from lake.aws.errors import ACCESS_DENIED

_FOR_LACK_OF_PERMISSION = frozenset({COPY_REFUSED, *ACCESS_DENIED})


@dataclass(frozen=True, slots=True)
class Fact:
    """A named value: text or a moment, with more in small beneath it."""

    label: str
    value: str = ""
    more: str = ""
    url: str = ""
    at: datetime | None = None
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Headline:
    """The sentence on top of a page, its state, and where it leads."""

    state: str
    headline: str
    detail: str = ""
    url: str = ""
    act: str = ""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list. Counts are None while they are not known."""

    url: str
    label: str
    plan: str
    state: str
    began: datetime | None
    took: timedelta | None
    listed: int | None
    copied: int | None
    left_over: int | None
    cost: str
    sentence: str
    kept: str = ""


UNPROVEN = "This counts the copying. Whether the copy can be restored is not proven."


def run_row(run: Run, kept: Mapping[datetime, tuple[str, ...]] | None = None) -> RunRow:
    """A run in a list; `kept` are the whole copies of its plan, as `backups.retention.kept_as` gives them."""
    is_reconciled = run.state in {"complete", "complete_with_gaps"}
    return RunRow(
        url=run_url(run),
        label=run_label(run),
        plan=run.plan.name,
        state=run.state,
        began=run.started_at,
        took=took(run),
        listed=run.listed or None,
        copied=run.copied if is_reconciled else None,
        left_over=left_over(run) if is_reconciled else None,
        cost=cost_text(run),
        sentence=run.sentence if run.state != "complete" else "",
        kept=_kept(run, kept) if kept is not None else "",
    )


def _kept(run: Run, kept: Mapping[datetime, tuple[str, ...]]) -> str:
    """What a copy is kept as, in words; "" for a run that is none."""
    if run.state != "complete" or run.cut_off is None or run.cut_off not in kept:
        return ""
    names = kept[run.cut_off]
    return f"kept, {' and '.join(names)}" if names else "may go"


def copied_of(run: Run) -> str:
    """What is known of a run's copy: 1,234 of 1,240 objects."""
    return f"{thousands(run.copied + run.already_there)} of {objects(run.listed)}"


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


def run_label(run: Run) -> str:
    """The moment that a run holds, by which people tell it from others: 20 November 02:00."""
    moment = run.cut_off or run.due_at or run.created_at
    return f"{moment.day} {moment:%B %H:%M}"


def left_over(run: Run) -> int:
    """Objects that were listed and are not safe."""
    return sum(run.counts[outcome.value] for outcome in GAPS)


def took(run: Run) -> timedelta | None:
    if run.started_at is None or run.finished_at is None:
        return None
    return run.finished_at - run.started_at


def cost_text(run: Run) -> str:
    """What a run cost, or is estimated to; empty before the estimate."""
    if run.actual_usd is not None:
        return f"${run.actual_usd:,.2f}"
    return f"≈ ${run.estimate_usd:,.2f}" if run.estimate_usd is not None else ""


def age_text(age: timedelta) -> str:
    """An age or objective as people agree on them: in hours below two days, 31 h 42 min."""
    minutes = round(age.total_seconds() / 60)
    if not 60 <= minutes < 72 * 60:
        return duration(age)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h" + (f" {rest} min" if rest else "")


def objects(number: int) -> str:
    return f"{thousands(number)} object{'' if number == 1 else 's'}"
