"""The kinds of jobs of settings: `plan-upkeep`; `create-store`, `change-store`, `change-bucket` that carry it out."""

import time
from collections import Counter
from collections.abc import Callable, Mapping

from django.utils import timezone

from changes.calls import Result, Sending
from changes.documents import OutcomeDocument, call_document, outcome_document, planned_result
from changes.execution import CallOutcome, Execution, execute
from changes.gate import BEFORE_ANY_CHANGE, check_loss, check_name, check_writable, connection_of
from changes.plan import ChangePlan, Refusal
from coordinator.models import Bucket, CommitStore
from coordinator.observation.settings_of_aws import observe_bucket_now, observe_store_now
from coordinator.own_records import records_for
from coordinator.settings.gate import LOSING_VERB, PLAN_KIND, VERBS, ChangeParams, PlanChangeParams, PlanChangeResult
from coordinator.settings.permission_checks import Permissions, check_all
from coordinator.settings.planning import plan_now
from coordinator.settings.requests import (
    ChangeRequest,
    change_request_document,
    is_of_store,
    read_change_request,
    subject_name,
)
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed, JobResult
from dashboard.jobs.registry import NoParams, job_kind
from lake.aws.access import Lake, open_lake


class PermissionsResult(JobResult, Permissions):
    checked_at: str


MOST_SHOWN = 100
"""Calls that the snapshot of a plan holds: a sweep may have hundreds."""

PAUSE_SECONDS = 2.0
"""Between two looks at a change that takes effect by and by."""


@job_kind(PLAN_KIND, queue="aws", verb="lake.plan-upkeep", changes_lake=False)
def plan_change(context: JobContext, params: PlanChangeParams) -> str:
    """Read and plan one change; changes nothing. The result is a `PlanChangeResult`."""
    change = read_change_request(params["wish"])
    connection = connection_of(context)
    with open_lake(lake_access(connection)) as lake, context.step("Read and plan"):
        read_at = timezone.now()
        made = plan_now(connection, lake, change, read_at, _progress(context))
    context.result(PlanChangeResult(wish=change_request_document(change)))
    context.result(planned_result(made, read_at, lake.requests.total))
    return made.reason if isinstance(made, Refusal) else f"Planned: {made.title}."


@job_kind("check-permissions", queue="aws", verb="lake.plan-upkeep", changes_lake=False)
def check_permissions(context: JobContext, params: NoParams) -> str:
    """Find out which permissions the connection has, one by one. Changes nothing."""
    connection = connection_of(context)
    with open_lake(lake_access(connection)) as lake, context.step("Check each permission"):
        found = check_all(connection, lake, context.progress, context.check_cancelled)
    held = [one["held"] for one in found["permissions"]]
    context.result(
        PermissionsResult(
            checked_at=timezone.now().isoformat(),
            requests=lake.requests.total,
            identity=found["identity"],
            permissions=found["permissions"],
        )
    )
    return f"{held.count('yes'):,} held, {held.count('no'):,} missing, {held.count('unknown'):,} not known."


@job_kind("create-store", queue="aws", verb=VERBS["create-store"])
def create_store(context: JobContext, params: ChangeParams) -> str:
    """Carry out one confirmed plan of a new store."""
    return _apply(context, params)


@job_kind("change-store", queue="aws", verb=VERBS["change-store"])
def change_store(context: JobContext, params: ChangeParams) -> str:
    """Carry out one confirmed plan."""
    return _apply(context, params)


@job_kind("change-bucket", queue="aws", verb=VERBS["change-bucket"])
def change_bucket(context: JobContext, params: ChangeParams) -> str:
    """Carry out one confirmed plan for a bucket."""
    return _apply(context, params)


def _apply(context: JobContext, params: ChangeParams) -> str:
    change = read_change_request(params["wish"])
    connection = connection_of(context)
    check_writable(connection)
    with open_lake(lake_access(connection)) as lake:
        with context.step("Read and plan anew"):
            plan = _confirmed(params, plan_now(connection, lake, change, timezone.now(), _progress(context)))
            if plan.can_lose:
                check_loss(context, params, LOSING_VERB, subject_name(change))
            elif plan.danger:
                check_name(params, subject_name(change))
        execution = _carry_out(context, connection, lake, plan)
        with context.step("Read it again") as step:
            step.detail = _observe(connection, lake, change)
    context.result({"requests": lake.requests.total})
    return _closing(plan, execution)


def _carry_out(context: JobContext, connection: Connection, lake: Lake, plan: ChangePlan) -> Execution:
    documents: list[OutcomeDocument] = []
    ids: list[str] = []
    counts: Counter[str] = Counter()
    before: dict[str, object] = {"calls": [call_document(call) for call in plan.calls[:MOST_SHOWN]]}
    after: dict[str, object] = {"calls": documents}
    context.result({"outcomes": documents, "before": before, "after": after, "aws_request_ids": ids})

    def remember(was: Mapping[str, object], will: Mapping[str, object]) -> None:
        before.update(was)
        after.update(will)

    def note(place: int, outcome: CallOutcome) -> None:
        documents.append(outcome_document(outcome))
        ids.extend(outcome.request_ids)
        counts.update(outcome.answer.counts)
        after.update(counts)
        level = "INFO" if outcome.may_go_on else "WARN"
        context.log(outcome.sentence, level=level, step=f"call {place + 1}")
        context.progress(place + 1, len(plan.calls))

    sending = Sending(
        lake,
        pause=lambda: _pause(context),
        check_cancelled=context.check_cancelled,
        remember=remember,
        records=records_for(context, connection),
    )
    with context.step(plan.title) as step:
        execution = execute(plan.calls, sending, note)
        step.detail = execution.outcomes[-1].sentence
        step.state = "failed" if execution.end else "done"
    return execution


def _confirmed(params: ChangeParams, made: ChangePlan | Refusal) -> ChangePlan:
    if isinstance(made, Refusal):
        raise JobFailed("Moved", f"{BEFORE_ANY_CHANGE}: {made.reason}")
    if made.digest != params["digest"]:
        changed = "what the plan rests on has changed since it was shown. Plan it again."
        raise JobFailed("Moved", f"{BEFORE_ANY_CHANGE}: {changed}")
    return made


def _observe(connection: Connection, lake: Lake, change: ChangeRequest) -> str:
    """Store what AWS says now, so that pages show it; a refusal is stored with the row and ends nothing."""
    now = timezone.now()
    if is_of_store(change):
        store = CommitStore.objects.filter(connection=connection, name=subject_name(change)).first()
        return observe_store_now(store, lake, now) if store else ""
    bucket = Bucket.objects.filter(connection=connection, name=subject_name(change)).first()
    return observe_bucket_now(bucket, lake, now) if bucket else ""


def _closing(plan: ChangePlan, execution: Execution) -> str:
    end = execution.end
    if end is None:
        return f"{plan.title}: done. {execution.outcomes[-1].sentence}"
    changed = any(one.result is Result.DONE for one in execution.outcomes)
    place = (
        f"Stopped at call {len(execution.outcomes)} of {len(plan.calls)}" if changed else "Stopped before any change"
    )
    if end.result is Result.FAILED and not changed:
        place = "Failed"
    raise JobFailed(end.code or "Stopped", f"{place}: {end.sentence}")


def _pause(context: JobContext) -> None:
    context.check_cancelled()
    time.sleep(PAUSE_SECONDS)


def _progress(context: JobContext) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        context.check_cancelled()
        context.progress(done, total)

    return tell
