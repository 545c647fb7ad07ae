"""What may be done with plans (add, edit, check, pause) and with their runs (start, approve, end, try again)."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from backups import inventory_setup, lifecycle
from backups.advancing import submit_advance
from backups.destinations import why_overlapping
from backups.models import ACTIVE, CopyJob, Plan, Run, RunStage, RunState, Stage
from backups.outcomes import OVER
from backups.policies.preflight import PREFLIGHT_KIND, PreflightParams
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.connections.models import Connection
from dashboard.connections.writable import ReadOnlyMode, require_writable
from dashboard.declaration.declaring import store
from dashboard.declaration.differences import read_declaration
from dashboard.declaration.reading import DeclarationError
from dashboard.jobs import lifecycle as jobs
from dashboard.jobs.actions import Target, run_in_foreground, submit
from dashboard.jobs.models import Job

HIGHEST_PRIORITY = 2**31 - 1
"""S3 Control API reference, UpdateJobPriority."""
PLACE = "plans[0]"


class RunRefused(Exception):
    """The run is not in a state for it; the message says why, in one sentence."""


def start_run(actor: Actor, plan: Plan, *, due_at: datetime | None = None, enqueue: bool = True) -> Run:
    """Start a backup, or return the one under way: a plan has one at a time. Raises NotAllowed, ReadOnlyMode,
    RunRefused.

    `due_at` is when the schedule wanted it; `enqueue` hands it to the workers when the transaction commits.
    """
    _require_startable(actor, "backup.run", plan)
    return _start(actor, plan, enqueue=enqueue, due_at=due_at)


def retry(actor: Actor, run: Run, *, enqueue: bool = True) -> Run:
    """Start a run that takes what an earlier one left for another try. Raises as `start_run`, and RunRefused."""
    _require_startable(actor, "backup.run", run.plan)
    if not run.is_finished:
        raise RunRefused(f"Run {run.pk} is still {run.state}: wait for its end, then try again what failed.")
    newer = run.plan.runs.proofs().filter(created_at__gt=run.created_at).first()
    if newer and newer.destination != run.destination:
        raise RunRefused(
            f"A newer run has been proven, at {newer.destination}: start a new run, which copies to there."
        )
    if not run.worth_retry:
        raise RunRefused(f"Run {run.pk} left nothing that is worth another try: start a new run.")
    return _start(actor, run.plan, enqueue=enqueue, retry_of=run)


def approve(actor: Actor, run: Run, estimate_shown: Decimal | None = None, *, enqueue: bool = True) -> Run:
    """Let a run copy that waits for approval. Raises RunRefused if it does not, or costs another sum than was shown."""
    _require_startable(actor, "backup.approve", run.plan)
    shown = run.estimate_usd if estimate_shown is None else estimate_shown
    with transaction.atomic():
        waiting = Run.objects.filter(pk=run.pk, estimate_usd=shown)
        fields: dict[str, Any] = {
            "approved_by_name": actor.name[:150],
            "approved_at": timezone.now(),
            "look_again_at": None,
        }
        if not (waiting.exists() and lifecycle.move(run.pk, RunState.RUNNING, sentence="Approved.", **fields)):
            run.refresh_from_db()
            raise RunRefused(_why_not(run, shown))
        run.refresh_from_db()
        lifecycle.audit(actor, "backup.approve", run, after={"estimate_usd": str(shown)})
        if enqueue:
            submit_advance(run)
    return run


def reject(actor: Actor, run: Run, reason: str = "", *, enqueue: bool = True) -> Run:
    """End a run that waits for approval without copying anything. Raises RunRefused, NotAllowed."""
    require(actor, "backup.cancel", target=run.plan.name, connection=run.plan.vault_connection)
    if run.state != RunState.WAITING_FOR_APPROVAL:
        raise RunRefused(_why_not(run, run.estimate_usd))
    return _end(actor, run, "backup.reject", reason, enqueue=enqueue)


def cancel(actor: Actor, run: Run, reason: str = "", *, enqueue: bool = True) -> Run:
    """Ask a run to stop; copies under way at AWS are cancelled there. Raises RunRefused, NotAllowed."""
    require(actor, "backup.cancel", target=run.plan.name, connection=run.plan.vault_connection)
    return _end(actor, run, "backup.cancel", reason, enqueue=enqueue)


def set_priority(actor: Actor, run: Run, priority: int) -> int:
    """Give the copy jobs of a run at AWS another priority from their next look on; returns how many there are.

    S3 lets the higher number go first. Raises RunRefused where no copy job is under way there, NotAllowed.
    """
    _require_startable(actor, "backup.run", run.plan)
    if not 0 <= priority <= HIGHEST_PRIORITY:
        raise RunRefused(f"A priority is from 0 to {HIGHEST_PRIORITY:,}.")
    rows = copy_jobs_with_priority(run)
    before = [row.priority for row in rows]
    if not before:
        raise RunRefused(f"Run {run.pk} has no copy job of S3 Batch Operations under way: nothing to prefer.")
    rows.update(priority=priority)
    Run.objects.filter(pk=run.pk).update(look_again_at=None)
    lifecycle.audit(actor, "backup.prefer", run, before={"priority": before}, after={"priority": priority})
    return len(before)


def copy_jobs_with_priority(run: Run) -> QuerySet[CopyJob]:
    """The copy jobs of a run that are under way at AWS."""
    rows = run.copy_jobs.filter(engine=Plan.Engine.S3_BATCH).exclude(status__in=OVER).exclude(aws_job_id="")
    return rows.none() if run.is_finished else rows


def set_paused(actor: Actor, plan: Plan, paused: bool) -> None:
    """Let the schedule of a plan start nothing, or runs again from its next time on; a run under way goes on."""
    require(actor, "backup.plan", target=plan.name, connection=plan.vault_connection)
    with transaction.atomic():
        if Plan.objects.filter(pk=plan.pk, paused=not paused).update(paused=paused):
            lifecycle.audit(actor, "backup.plan", plan, before={"paused": not paused}, after={"paused": paused})


def _require_startable(actor: Actor, verb: str, plan: Plan) -> None:
    """Raise NotAllowed, ReadOnlyMode where nothing may be changed in the vault, and RunRefused where another plan
    copies to the same place; each is in the audit log.
    """
    require(actor, verb, target=plan.name, connection=plan.vault_connection)
    try:
        require_writable(plan.vault_connection)
        if why := why_overlapping(plan.name, plan.destination):
            raise RunRefused(why)
    except (ReadOnlyMode, RunRefused) as refusal:
        lifecycle.audit(actor, verb, plan, outcome="refused", detail=str(refusal))
        raise


def _start(actor: Actor, plan: Plan, *, enqueue: bool, **fields: Any) -> Run:
    try:
        with transaction.atomic():
            run = Run.objects.create(
                plan=plan,
                requested_by=actor.user,
                requested_by_name=actor.name[:150],
                sentence="Waits for its first look.",
                **fields,
            )
            RunStage.objects.bulk_create(
                RunStage(run=run, number=number, name=stage) for number, stage in enumerate(Stage, start=1)
            )
            lifecycle.audit(actor, "backup.run", run, outcome="requested")
    except IntegrityError:
        standing = Run.objects.filter(plan=plan, state__in=ACTIVE).first()
        if standing is None:
            raise
        run = standing
    if enqueue and run.state != RunState.WAITING_FOR_APPROVAL:
        submit_advance(run)
    return run


def _end(actor: Actor, run: Run, action: str, reason: str, *, enqueue: bool) -> Run:
    with transaction.atomic():
        sentence = f"{actor.name} asked to stop it. {reason}".strip()
        if not lifecycle.move(run.pk, RunState.CANCELLING, sentence=sentence, look_again_at=None):
            run.refresh_from_db()
            raise RunRefused(f"Run {run.pk} is {run.state} already: nothing to stop.")
        run.refresh_from_db()
        lifecycle.audit(actor, action, run, detail=reason)
        if run.worker_id:
            # Spark copies within the job that holds the run: it is to stop, so that another can cancel the rest.
            jobs.request_cancel(run.worker_id, actor.name)
        if enqueue:
            submit_advance(run)
    return run


def _why_not(run: Run, shown: Decimal | None) -> str:
    if run.state == RunState.WAITING_FOR_APPROVAL:
        return f"Run {run.pk} now costs ${run.estimate_usd}, and ${shown} was shown: look again before approving."
    return f"Run {run.pk} is {run.state}: it does not wait for approval."


@transaction.atomic
def save_plan(actor: Actor, values: Mapping[str, Any], plan: Plan | None = None) -> Plan:
    """Add a plan, or change one, by the same rules as `levee apply`; `values` are the keys of its `[[plans]]`.

    Raises NotAllowed, and DeclarationError that names the key as plans[0].key.
    """
    target = plan.name if plan else str(values.get("name", ""))
    for connection in _concerned(values, plan):
        require(actor, "backup.plan", target=target, connection=connection)
    declared = read_declaration({"plans": [dict(values)]})
    [wanted] = declared["plans"]
    if plan is None and Plan.objects.filter(name=wanted.name).exists():
        raise DeclarationError(f"{PLACE}.name: a plan is called {wanted.name!r} already: choose another name.")
    if plan is not None and plan.name != wanted.name:
        raise DeclarationError(f"{PLACE}.name: a plan keeps its name, which its runs and their evidence carry.")
    changes = store(declared).changes
    saved = Plan.objects.select_related("connection", "vault_connection").get(name=wanted.name)
    if changes:
        lifecycle.audit(actor, "backup.plan", saved, before=changes[0].before, after=wanted.values)
    return saved


def _concerned(values: Mapping[str, Any], plan: Plan | None) -> set[Connection | None]:
    """Every connection that the plan reads or writes through, before and after; None for a name that is none."""
    names = {values.get("connection", ""), values.get("vault_connection") or values.get("connection", "")}
    found = {name: Connection.objects.filter(name=name).first() for name in names}
    return {*found.values(), *((plan.connection, plan.vault_connection) if plan else ())}


def ask_for_preflight(actor: Actor, plan: Plan) -> Job:
    """Queue a check of every permission of the plan; changes nothing. Raises NotAllowed."""
    return submit(
        actor,
        PREFLIGHT_KIND,
        f"Check the permissions of {plan.name}",
        connection=plan.vault_connection,
        target=Target("plan", str(plan.pk), plan.name),
        params=PreflightParams(plan=plan.pk),
    )


def ask_for_inventory(
    actor: Actor,
    plan: Plan,
    format: str = inventory_setup.FORMATS[0],
    frequency: str = inventory_setup.FREQUENCIES[0],
    *,
    replace: bool = False,
    enqueue: bool = True,
) -> Job:
    """Put the plan's inventory configuration on its source; `replace` one of the same id that says something else.

    Queued, or run here where `enqueue` is false. Raises NotAllowed, and PlaceUnfit where S3 could not deliver there.
    """
    configuration = inventory_setup.configuration_of(plan, format, frequency)
    start = submit if enqueue else run_in_foreground
    return start(
        actor,
        inventory_setup.KIND,
        f"Set up the inventory {configuration.id} for {plan.name}",
        connection=plan.connection,
        target=Target("plan", str(plan.pk), plan.name),
        params=inventory_setup.InventoryParams(plan=plan.pk, format=format, frequency=frequency, replace=replace),
    )
