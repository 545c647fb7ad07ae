"""What `levee store NAME …` and `levee bucket NAME …` share: plan one change, print it, carry it out with `--apply`."""

from collections.abc import Iterator
from contextlib import contextmanager

from changes.commands import (
    NOTHING_CHANGED,
    ChangeCommand,
    closing_in_words,
    has_failed,
    job_document,
    or_failed,
    plan_in_words,
    require_planned,
    require_read,
)
from changes.documents import PlanDocument, RefusalDocument
from changes.plan import NOTHING_TO_DO
from coordinator.contract import SettingJson
from coordinator.settings.actions import PlanChangeResult, apply_change, plan_change
from coordinator.settings.requests import ChangeInvalid, ChangeRequest, subject_name
from dashboard.accounts.actor import Actor
from dashboard.commands import Failed, Options, UsageError
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job


class SettingsCommand(ChangeCommand):
    """Plans a change of a store or a bucket."""

    def change(self, connection: Connection, change: ChangeRequest, options: Options) -> None:
        """Print the plan, or carry it out. Raises ChangeInvalid, UsageError (2) or Failed (1)."""
        self.check_change(options)
        planned = plan_change(Actor.command(), connection, change, here=True)
        require_read(planned, subject_name(change))
        result: PlanChangeResult = planned.result
        plan, refusal = result["plan"], result["refusal"]
        job = _apply(planned, plan, change, options) if plan and options["apply"] else None
        self.emit(_document(result, job), list(_as_text(plan, refusal, job, applied=options["apply"])))
        require_planned(refusal, f"Nothing was planned: {refusal['reason']}" if refusal else "")
        if job and has_failed(job):
            raise Failed(f"The change was not made whole: see above and `levee job {job.pk}`.")


@contextmanager
def or_usage_error() -> Iterator[None]:
    """A change that cannot be, as the options have it, is a wrong use of the command."""
    try:
        yield
    except ChangeInvalid as invalid:
        raise UsageError(str(invalid)) from invalid


def _apply(planned: Job, plan: PlanDocument, change: ChangeRequest, options: Options) -> Job:
    confirm = options["confirm"]
    if plan["danger"] and confirm.strip() != subject_name(change):
        raise UsageError(f"{plan['danger']} Add --confirm {subject_name(change)}.")
    with or_failed():
        here, reason = not options["enqueue"], options["reason"]
        return apply_change(Actor.command(), planned, plan["digest"], confirm=confirm, reason=reason, here=here)


def _document(result: PlanChangeResult, job: Job | None) -> SettingJson:
    return {
        "read_at": result["read_at"],
        "change": result["change"],
        "plan": result["plan"],
        "refusal": result["refusal"],
        "job": job_document(job) if job else None,
    }


def _as_text(
    plan: PlanDocument | None, refusal: RefusalDocument | None, job: Job | None, *, applied: bool
) -> Iterator[str]:
    if refusal:
        yield refusal["reason"] if refusal["why"] == NOTHING_TO_DO else f"Not now: {refusal['reason']}"
    if plan:
        yield from _plan_lines(plan)
    if job:
        yield from ("", closing_in_words(job))
    elif plan and not applied:
        yield from ("", NOTHING_CHANGED)


def _plan_lines(plan: PlanDocument) -> Iterator[str]:
    yield plan["title"]
    yield from plan_in_words(plan)
    for setting, delta, ours in plan["beside"]:
        yield f"  {setting}: {ours} (Delta would have made: {delta})"
    texts = plan["equivalents"]
    for title, text in (("AWS CLI", texts["aws_cli"]), ("Terraform", texts["terraform"])):
        if text:
            yield from ("", f"{title}:", *(f"  {line}" for line in text.split("\n")))
    if reason := texts["not_offered"]:
        yield from ("", f"Not offered for AWS CLI: {reason}")
    if plan["danger"]:
        yield from ("", f"DANGER: {plan['danger']}")
