"""What `levee store NAME …` and `levee bucket NAME …` share: plan one change, print it, carry it out with `--apply`."""

from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from changes.documents import PlanDocument, RefusalDocument
from coordinator.queries.settings_plan import equivalents_of
from coordinator.settings.actions import apply_change, plan_change
from coordinator.settings.requests import ChangeInvalid, ChangeRequest, subject_name
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, JsonCommand, UsageError
from dashboard.connections.models import Connection
from dashboard.connections.writable import ChangeRefused
from dashboard.jobs.models import Job, JobState

Document = dict[str, Any]
NOTHING_TO_DO = "nothing-to-do"


class SettingsCommand(JsonCommand):
    """Plans a change by a fresh reading; nothing is sent without `--apply`. Needs neither server nor worker."""

    def add_change_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="carry out what is planned")
        parser.add_argument("--confirm", metavar="NAME", default="", help="the name, where a change cannot be undone")
        parser.add_argument("--enqueue", action="store_true", help="with --apply: hand the work to the workers")

    def change(self, connection: Connection, change: ChangeRequest, options: Document) -> None:
        """Print the plan, or carry it out. Raises UsageError (2) or Failed (1)."""
        if options["enqueue"] and not options["apply"]:
            raise UsageError("--enqueue hands the work to the workers: it goes with --apply.")
        planned = self._plan(connection, change)
        plan, refusal = planned.result["plan"], planned.result["refusal"]
        job = self._apply(planned, change, options) if plan and options["apply"] else None
        self.emit(_document(planned, job), list(_as_text(plan, refusal, job, applied=options["apply"])))
        if refusal and refusal["why"] != NOTHING_TO_DO:
            raise Failed(f"Nothing was planned: {refusal['reason']}")
        if job and job.is_finished and job.state != JobState.SUCCEEDED:
            raise Failed(f"The change was not made whole: see above and `levee job {job.pk}`.")

    def _plan(self, connection: Connection, change: ChangeRequest) -> Job:
        try:
            planned = plan_change(Actor.command(), connection, change, here=True)
        except ChangeInvalid as invalid:
            raise UsageError(str(invalid)) from invalid
        if planned.state != JobState.SUCCEEDED:
            raise Failed(f"{subject_name(change)} could not be read: {planned.error_text or planned.message}")
        return planned

    def _apply(self, planned: Job, change: ChangeRequest, options: Document) -> Job:
        plan = planned.result["plan"]
        if plan["danger"] and options["confirm"].strip() != subject_name(change):
            raise UsageError(f"{plan['danger']} Add --confirm {subject_name(change)}.")
        confirmed = {"confirm": options["confirm"], "here": not options["enqueue"]}
        try:
            return apply_change(Actor.command(), planned, plan["digest"], **confirmed)
        except ChangeRefused as refusal:
            raise Failed(str(refusal)) from refusal


def _document(planned: Job, job: Job | None) -> Document:
    plan, refusal = planned.result["plan"], planned.result["refusal"]
    return {
        "read_at": planned.result["read_at"],
        "wish": planned.result["wish"],
        "plan": plan and {**plan, "act": plan["kind"]},
        "refusal": refusal and {**refusal, "act": refusal["kind"], "code": refusal["why"]},
        "job": _job_document(job),
    }


def _job_document(job: Job | None) -> Document | None:
    if job is None:
        return None
    return {
        "id": str(job.pk),
        "title": job.title,
        "state": job.state,
        "message": job.message,
        "error": {"code": job.error_code, "text": job.error_text} if job.error_code else None,
        "outcomes": [{**one, "result": one["outcome"]} for one in job.result.get("outcomes", [])],
        "aws_request_ids": job.result.get("aws_request_ids", []),
    }


def _as_text(
    plan: PlanDocument | None, refusal: RefusalDocument | None, job: Job | None, *, applied: bool
) -> Iterator[str]:
    if refusal:
        yield refusal["reason"] if refusal["why"] == NOTHING_TO_DO else f"Not now: {refusal['reason']}"
    if plan:
        yield from _plan_lines(plan)
    if job:
        yield from (
            "",
            f"{job.title}: queued as job {job.pk}" if not job.is_finished else job.error_text or job.message,
        )
    elif plan and not applied:
        yield from ("", "Nothing was changed. --apply carries it out.")


def _plan_lines(plan: PlanDocument) -> Iterator[str]:
    yield plan["title"]
    for number, call in enumerate(plan["calls"], start=1):
        yield f"  {number}. {call['says']}"
        yield f"     {call['operation']}{', if ' + call['condition'] if call['condition'] else ''}"
    yield from (f"  {sentence}" for sentence in plan["consequences"])
    for setting, delta, ours in plan["beside"]:
        yield f"  {setting}: {ours} (Delta would have made: {delta})"
    for title, text in equivalents_of(plan):
        yield from ("", f"{title}:", *(f"  {line}" for line in text.splitlines()))
    if plan["danger"]:
        yield from ("", f"DANGER: {plan['danger']}")
