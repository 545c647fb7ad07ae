"""The page of jobs in its parts: what failed and was not made good, and the schedule's jobs as a line a kind."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, QuerySet

from dashboard.accounts.actor import Actor
from dashboard.jobs.models import Job, JobState

SCHEDULE = Actor.schedule().name
FAILED_FOR = timedelta(days=7)
MOST_FAILED = 20
BARS = 40
_FAILED = (JobState.FAILED, JobState.LOST)
_TOLD = (*_FAILED, JobState.SUCCEEDED, JobState.OVERTAKEN)
"""Ends that say how the work went; one that was cancelled says nothing."""


@dataclass(frozen=True, slots=True)
class ScheduleLine:
    """The newest jobs of one kind that the schedule asked for: `states` oldest first; `newest` is the last of them."""

    kind: str
    newest: Job
    states: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.kind.replace("-", " ").capitalize()

    @property
    def failed(self) -> int:
        return sum(state in _FAILED for state in self.states)

    @property
    def in_words(self) -> str:
        """`Newest 40, oldest left: 38 succeeded, 2 failed`."""
        counted = ", ".join(f"{number} {state}" for state, number in Counter(self.states).most_common())
        return f"Newest {len(self.states)}, oldest left: {counted}"


def failed_lately(rows: "QuerySet[Job]", now: datetime) -> list[Job]:
    """Failures of the last seven days, newest first, of which no later job of the same kind and target tells."""
    same = Job.objects.filter(kind=OuterRef("kind"), target_key=OuterRef("target_key"), state__in=_TOLD)
    failed = rows.filter(state__in=_FAILED, created_at__gte=now - FAILED_FOR)
    standing = failed.exclude(Exists(same.filter(created_at__gt=OuterRef("created_at"))))
    return list(standing.order_by("-created_at", "-id")[:MOST_FAILED])


def schedule_lines(rows: "QuerySet[Job]") -> list[ScheduleLine]:
    """A line for each kind that the schedule asks for, those with a failed newest job first."""
    kinds = rows.order_by("kind").values_list("kind", flat=True).distinct()
    lines = [line for kind in kinds if (line := _line(kind, rows.filter(kind=kind, requested_by_name=SCHEDULE)))]
    return sorted(lines, key=lambda line: (line.newest.state not in _FAILED, not line.failed, line.kind))


def _line(kind: str, rows: "QuerySet[Job]") -> ScheduleLine | None:
    shown = ("id", "kind", "state", "title", "message", "error_text", "created_at", "started_at", "finished_at")
    newest_first = list(rows.only(*shown).order_by("-created_at", "-id")[:BARS])
    if not newest_first:
        return None
    return ScheduleLine(kind, newest_first[0], tuple(str(job.state) for job in reversed(newest_first)))
