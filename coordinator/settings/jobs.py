"""The kinds of jobs of settings: `plan-upkeep`; `create-store`, `change-store`, `change-bucket` that carry it out."""

import time
from collections.abc import Callable
from dataclasses import asdict

from django.urls import reverse
from django.utils import timezone

from changes.calls import Sending
from changes.carrying_out import (
    Snapshots,
    carry_out_in_one_step,
    check_danger,
    check_shown,
    lake_to_change,
    stopped_in_words,
)
from changes.documents import planned_result
from changes.execution import Execution
from changes.gate import BEFORE_ANY_CHANGE, connection_of
from changes.plan import ChangePlan, Refusal
from coordinator.models import Bucket, CommitStore
from coordinator.observation.settings_of_aws import observe_bucket, observe_store
from coordinator.own_records import records_for
from coordinator.settings.actions import LOSING_VERB, PLAN_KIND, VERBS, ChangeParams, PlanChangeParams, PlanChangeResult
from coordinator.settings.iam_names import policies
from coordinator.settings.planning import plan_now
from coordinator.settings.requests import (
    ChangeRequest,
    CleanWriterTest,
    MigrateTtl,
    OfStore,
    change_request_document,
    read_change_request,
)
from coordinator.writer_tests.cleaning import test_of
from coordinator.writer_tests.looking import look_at
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobContext, JobFailed, JobResult
from dashboard.jobs.registry import NoParams, job_kind
from lake.aws.access import Lake, open_lake
from lake.aws.held_permissions import PermissionJudge


class PermissionsResult(JobResult):
    """Which permissions an identity has; `identity` is an ARN, "" where nobody knows it.

    Each has `feature`, `action` and `resource`, and `held`, `how` and `reason` as in `HeldPermission`.
    """

    checked_at: str
    identity: str
    permissions: list[dict[str, str]]


MOST_SHOWN = 100
"""Calls that the snapshot of a plan holds: a sweep may have hundreds."""

PAUSE_SECONDS = 2.0
"""Between two looks at a change that takes effect by and by."""


@job_kind(PLAN_KIND, queue="aws", verb="lake.plan-upkeep", changes_lake=False)
def plan_change(context: JobContext, params: PlanChangeParams) -> str:
    """Read and plan one change; changes nothing. The result is a `PlanChangeResult`."""
    change = read_change_request(params["change"])
    connection = connection_of(context)
    with open_lake(lake_access(connection)) as lake, context.step("Read and plan"):
        read_at = timezone.now()
        made = plan_now(connection, lake, change, read_at, _progress(context))
    context.result(PlanChangeResult(change=change_request_document(change)))
    context.result(planned_result(made, read_at, lake.requests.total))
    return made.reason if isinstance(made, Refusal) else f"Planned: {made.title}."


@job_kind("check-permissions", queue="aws", verb="lake.plan-upkeep", changes_lake=False)
def check_permissions(context: JobContext, params: NoParams) -> str:
    """Find out which permissions the connection has, one by one, as IAM simulates what its policies would grant.

    Changes nothing, and no single refusal ends it.
    """
    connection = connection_of(context)
    found: dict[tuple[str, ...], dict[str, str]] = {}
    with open_lake(lake_access(connection)) as lake, context.step("Check each permission"):
        judge = PermissionJudge(lake.services)
        account = judge.identity.account if judge.identity else "*"
        grants = [(policy.feature, grant) for policy in policies(connection, account) for grant in policy.grants]
        wanted = [(feature, grant, resource) for feature, grant in grants for resource in grant.resources]
        for done, (feature, grant, resource) in enumerate(wanted, start=1):
            context.check_cancelled()
            # What IAM has to be told of a request that it only imagines.
            fixed = {key: values[0] for _, key, values in grant.conditions if key.startswith("kms:")}
            judged = judge.judge(judge.principal, grant.actions, resource, {"aws:ResourceAccount": account, **fixed})
            for action, one in judged.items():
                permission = {"feature": feature, "action": action, "resource": resource, **asdict(one)}
                found[tuple(permission.values())] = permission
            context.progress(done, len(wanted))
    context.result(
        PermissionsResult(
            checked_at=timezone.now().isoformat(),
            requests=lake.requests.total,
            identity=judge.identity.arn if judge.identity else "",
            permissions=list(found.values()),
        )
    )
    held = [one["held"] for one in found.values()]
    return f"{held.count('yes'):,} held, {held.count('no'):,} missing, {held.count('unknown'):,} not known."


def carry_out(context: JobContext, params: ChangeParams) -> str:
    """Carry out one confirmed plan for a store or a bucket, and read it again."""
    change = read_change_request(params["change"])
    connection = connection_of(context)
    with lake_to_change(context) as lake:
        with context.step("Read and plan anew") as step:
            plan = plan_now(connection, lake, change, timezone.now(), _progress(context))
            if isinstance(plan, Refusal):
                raise JobFailed("Moved", f"{BEFORE_ANY_CHANGE}: {plan.reason}")
            check_shown(plan, params["digest"])
            check_danger(context, params, plan, change.subject, LOSING_VERB)
            step.then = (plan.title, "Read it again")
        kept = Snapshots(plan, {}, MOST_SHOWN)
        sending = Sending(
            lake,
            pause=lambda: _pause(context),
            check_cancelled=context.check_cancelled,
            remember=kept.remember,
            records=records_for(context, connection),
        )
        execution = carry_out_in_one_step(context, plan, kept, sending)
        with context.step("Read it again") as step:
            step.detail = _observe(connection, lake, change)
    return _closing(context, plan, execution, change)


for _kind, _verb in VERBS.items():
    job_kind(_kind, queue="aws", verb=_verb)(carry_out)


def _observe(connection: Connection, lake: Lake, change: ChangeRequest) -> str:
    """Store what AWS says now, so that pages show it; a refusal is stored with the row and ends nothing."""
    now = timezone.now()
    if isinstance(change, CleanWriterTest):
        test = test_of(connection, change)
        return look_at(test, lake).sentence if test else ""
    if isinstance(change, OfStore):
        store = CommitStore.objects.filter(connection=connection, name=change.subject).first()
        return observe_store(store, lake, now) if store else ""
    bucket = Bucket.objects.filter(connection=connection, name=change.subject).first()
    return observe_bucket(bucket, lake, now) if bucket else ""


def _closing(context: JobContext, plan: ChangePlan, execution: Execution, change: ChangeRequest) -> str:
    end = execution.end
    if end is None and isinstance(change, MigrateTtl):
        # The row may have been removed since: what DynamoDB was asked for stands all the same.
        for store in CommitStore.objects.filter(connection=connection_of(context), name=change.subject):
            context.result({"begun": reverse("store-ttl", args=[store.pk])})
        return f"{plan.title}: begun. {execution.outcomes[-1].sentence}"
    if end is None:
        return f"{plan.title}: done. {execution.outcomes[-1].sentence}"
    raise JobFailed(end.code or "Stopped", stopped_in_words(execution))


def _pause(context: JobContext) -> None:
    context.check_cancelled()
    time.sleep(PAUSE_SECONDS)


def _progress(context: JobContext) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        context.check_cancelled()
        context.progress(done, total)

    return tell
