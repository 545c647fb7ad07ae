"""Saved copies of a table, and the plan to put one back, from what jobs have stored."""

import shlex
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from changes.gate import read_at
from changes.pages import PlanPage
from coordinator.contract import CopyDocument
from coordinator.models import DeltaTable
from coordinator.repairs.fresh import jobs_about
from coordinator.rescue.actions import LIST_KIND, ListRescueResult, PlanRescueParams, PlanRescueResult
from coordinator.rescue.copies import CopyKind
from dashboard.jobs.models import ACTIVE, Job, JobState


@dataclass(frozen=True, slots=True)
class CopyList:
    """What the last listing found: each copy with its kind. `under_way` is one that has not ended, `failed` one
    that ended after it in error.

    `unreadable` are objects beside the copies that are none. `left_out` were seen and are not shown; `more` says that
    there are others still.
    """

    job: Job | None
    under_way: Job | None
    failed: Job | None
    copies: tuple[tuple[CopyDocument, str], ...]
    unreadable: tuple[CopyDocument, ...]
    refused: str
    left_out: int
    more: bool
    read_at: datetime | None


def copy_list(table: DeltaTable) -> CopyList:
    """Three queries, however many copies there are."""
    jobs = jobs_about(table, LIST_KIND)
    newest, last = jobs.first(), jobs.filter(state=JobState.SUCCEEDED).first()
    result: ListRescueResult = last.result if last else {}
    found, refused = result.get("copies", []), result.get("not_listed", [])
    ended_badly = newest is not None and newest != last and newest.is_finished
    return CopyList(
        job=last,
        under_way=jobs.filter(state__in=ACTIVE).first(),
        failed=newest if ended_badly else None,
        copies=tuple((one, CopyKind(one["kind"] or "").label) for one in found if not one["unreadable"]),
        unreadable=tuple(one for one in found if one["unreadable"]),
        refused=refused[0]["reason"] if refused else "",
        left_out=result.get("left_out", 0),
        more=result.get("more", False),
        read_at=read_at(last) if last else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorePage(PlanPage):
    """The page of a plan that puts one copy back; `by_hand` is the command for an item."""

    copy: str
    by_hand: str


def restore_page(table: DeltaTable, job: Job) -> RestorePage:
    result: PlanRescueResult = job.result
    params: PlanRescueParams = job.params
    plan, copy, by_hand = result.get("plan"), params["copy"], result.get("command", "")
    return RestorePage(
        job=job,
        plan=plan,
        refusal=result.get("refusal"),
        command=command_line(table, copy, loses=bool(plan and plan["can_lose"])),
        name=table.name,
        place=copy,
        back=reverse("table-rescue", args=[table.pk]),
        called="Put a copy back",
        copy=copy,
        by_hand=by_hand,
    )


def command_line(table: DeltaTable, copy: str, *, loses: bool) -> str:
    """The command that does the same."""
    confirm = ["--confirm", table.name] if loses else []
    return shlex.join(["levee", "rescue", "restore", copy, *confirm, "--apply"])
