"""The page of a plan, whatever it changes: what it shows, and what becomes of a confirmation.

A view names its template, which fills the blocks of `changes/plan.html` with what is said of its kind of change alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from changes.asking import led_to
from changes.documents import CallDocument, PlanDocument, RefusalDocument
from changes.gate import LASTS_IN_WORDS, NameNotTyped, NotConfirmed, is_too_old, read_at
from dashboard.connections.writable import ChangeRefused
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.models import Job
from dashboard.web.answers import SeeOther

POLL_SECONDS = 2
_LONGEST_DIGEST, _LONGEST_NAME, _LONGEST_REASON = 64, 600, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPage:
    """What a planning job found, as its page shows it; at most one of `plan` and `refusal` holds.

    `name` is what is typed to confirm a danger, `place` what the
    plan is about, and `back` where that is shown; it may be confirmed while it `lasts`. `called` is its title where
    there is no plan. Of calls that are alike the page writes out `most_calls`, None for all of them.
    """

    job: Job
    plan: PlanDocument | None
    refusal: RefusalDocument | None
    command: str
    name: str
    place: str
    back: str
    called: str

    lasts: ClassVar[str] = LASTS_IN_WORDS
    most_calls: ClassVar[int | None] = None

    @property
    def led_to(self) -> Job | None:
        """The job that this plan has led to already."""
        return led_to(self.job, self.plan)

    @property
    def poll_seconds(self) -> int | None:
        return None if self.job.is_finished else POLL_SECONDS

    @property
    def read_at(self) -> datetime | None:
        """When the lake was read for the plan."""
        return read_at(self.job)

    @property
    def too_old(self) -> bool:
        return self.job.is_finished and is_too_old(self.read_at)

    @property
    def title(self) -> str:
        shown = self.plan or self.refusal
        return shown["title"] if shown else self.called

    @property
    def button(self) -> str:
        return self.title

    @property
    def calls(self) -> list[CallDocument]:
        return list(self.plan["calls"][: self.most_calls]) if self.plan else []

    @property
    def calls_left_out(self) -> int:
        return len(self.plan["calls"]) - len(self.calls) if self.plan else 0


class Confirmed(NamedTuple):
    """What a person sent to confirm a plan: its digest, the name as typed, the reason."""

    digest: str
    confirm: str
    reason: str


def plan_page(
    request: HttpRequest, template: str, page: PlanPage, context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """The page, or while it polls what of it can change."""
    shown = {"page": page, "poll_seconds": page.poll_seconds, **context}
    return render(request, template, shown, status=status)


def confirmed(
    request: HttpRequest, template: str, page: PlanPage, context: Mapping[str, Any], act: Callable[[Confirmed], Job]
) -> HttpResponse:
    """Ask for what the page shows and go to that job; a refusal is said on the page, and nothing typed is lost."""
    sent = Confirmed(
        request.POST.get("digest", "")[:_LONGEST_DIGEST],
        request.POST.get("confirm", "")[:_LONGEST_NAME],
        request.POST.get("reason", "")[:_LONGEST_REASON],
    )
    try:
        job = act(sent)
    except (ChangeRefused, JobBusy) as refusal:
        typed_wrong = isinstance(refusal, NameNotTyped)
        told = {
            "refused": str(refusal),
            "busy": refusal.job if isinstance(refusal, JobBusy) else None,
            "name_error": str(refusal) if typed_wrong else "",
            "reason": sent.reason,
        }
        status = 422 if isinstance(refusal, NotConfirmed) else 409
        return plan_page(request, template, page, {**context, **told}, status)
    return SeeOther(reverse("job", args=[job.pk]))
