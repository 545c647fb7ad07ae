"""What `levee store NAME …` and `levee bucket NAME …` share: plan one change, print it, carry it out with `--apply`."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.template.loader import render_to_string

from changes.commands import ChangeCommand, has_failed, job_document, or_failed, require_planned, require_read
from changes.documents import PlanDocument
from coordinator.contract import SettingJson
from coordinator.settings.actions import PlanChangeResult, apply_change, plan_change
from coordinator.settings.requests import ChangeInvalid, ChangeRequest
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
        require_read(planned, change.subject)
        result: PlanChangeResult = planned.result
        plan, refusal = result["plan"], result["refusal"]
        job = _apply(planned, plan, change, options) if plan and options["apply"] else None
        document: SettingJson = {
            "read_at": result["read_at"],
            "change": result["change"],
            "plan": plan,
            "refusal": refusal,
            "job": job_document(job) if job else None,
        }
        self.emit(document, render_to_string("coordinator/settings_plan.txt", {"told": document}))
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
    if plan["danger"] and confirm.strip() != change.subject:
        raise UsageError(f"{plan['danger']} Add --confirm {change.subject}.")
    with or_failed():
        here, reason = not options["enqueue"], options["reason"]
        return apply_change(Actor.command(), planned, plan["digest"], confirm=confirm, reason=reason, here=here)
