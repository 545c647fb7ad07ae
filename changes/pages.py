"""The page of a plan, whatever it changes: what it shows, and what becomes of a confirmation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from changes.documents import CallDocument, PlanDocument, RefusalDocument
from changes.gate import LASTS_IN_WORDS, NameNotTyped, NotConfirmed, is_too_old, read_at
from dashboard.connections.writable import ChangeRefused
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.models import Job
from dashboard.web.answers import SeeOther

TEMPLATE = "changes/plan.html"
POLL_SECONDS = 2
_LONGEST_DIGEST, _LONGEST_NAME, _LONGEST_REASON = 64, 600, 500


@dataclass(frozen=True, slots=True)
class PageWords:
    """The sentences of a page that differ by what is changed. `title` stands where there is no plan.

    `danger` is what stands before a plan's own words for what can be lost, `if_word` between an operation and its
    condition; `rest` is what is done after the last call, as its title and its sentence. `gone` is said where there are
    plans, and none of this change. Of calls that are alike the page writes out `most_calls`, None for all of them, and
    `more_calls` says what the others are; what a call sends can be unfolded below `call_more`, "" where it stands
    elsewhere on the page.
    """

    title: str
    being_read: str
    safe: str
    refused: str
    nothing: str
    rest: tuple[str, str]
    danger: str = "{}"
    danger_means: str = "Before the first call everything is read once more; if anything has moved, nothing is sent."
    if_word: str = ": "
    call_more: str = "The request"
    gone: str = ""
    most_calls: int | None = None
    more_calls: str = ""


@dataclass(frozen=True, slots=True)
class PageSlots:
    """The templates of what only one kind of change has, "" for none; `again` is the form that plans once more.

    `verdict` stands in place of the page's own words of a plan or a refusal, `above` before the confirmation, and
    `instead` or, with the width of the page, `refused` where there is no plan.
    """

    crumbs: str
    again: str
    verdict: str = ""
    above: str = ""
    fields: str = ""
    sections: str = ""
    beside: str = ""
    aside: str = ""
    instead: str = ""
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPage:
    """What a planning job found, as its page shows it; at most one of `plan` and `refusal` holds.

    `led_to` is the job that this plan has led to already. `name` is what is typed to confirm a danger, `place` what the
    plan is about, and `back` where that is shown; it may be confirmed while it `lasts`.
    """

    job: Job
    plan: PlanDocument | None
    refusal: RefusalDocument | None
    led_to: Job | None
    command: str
    name: str
    place: str
    back: str
    words: PageWords
    slots: PageSlots

    lasts: ClassVar[str] = LASTS_IN_WORDS

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
        return shown["title"] if shown else self.words.title

    @property
    def button(self) -> str:
        return self.title

    @property
    def danger(self) -> str:
        """What can be lost or go wrong, as a sentence; "" for nothing."""
        return self.words.danger.format(self.plan["danger"]) if self.plan and self.plan["danger"] else ""

    @property
    def calls(self) -> list[CallDocument]:
        return list(self.plan["calls"][: self.words.most_calls]) if self.plan else []

    @property
    def calls_left_out(self) -> int:
        return len(self.plan["calls"]) - len(self.calls) if self.plan else 0


class Confirmed(NamedTuple):
    """What a person sent to confirm a plan: its digest, the name as typed, the reason."""

    digest: str
    confirm: str
    reason: str


def plan_page(request: HttpRequest, page: PlanPage, context: Mapping[str, Any]) -> HttpResponse:
    """The page, or while it polls what of it can change."""
    return render(request, f"{TEMPLATE}#plan" if getattr(request, "htmx", False) else TEMPLATE, _all(page, context))


def confirmed(
    request: HttpRequest, page: PlanPage, context: Mapping[str, Any], act: Callable[[Confirmed], Job]
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
        return render(request, TEMPLATE, _all(page, context) | told, status=status)
    return SeeOther(reverse("job", args=[job.pk]))


def _all(page: PlanPage, context: Mapping[str, Any]) -> dict[str, object]:
    return {"page": page, "poll_seconds": page.poll_seconds, **context}
