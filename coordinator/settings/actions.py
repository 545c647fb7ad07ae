"""What an operator may do with commit stores and buckets. Pages and commands both call these."""

import hashlib
from functools import partial

from django.utils import timezone

from changes.asking import WantedChange, ask_for, young_plan
from changes.documents import PlanDocument, PlannedResult, planned_by
from changes.gate import Confirmation, PlanNeeded
from coordinator.contract import RequestedChange
from coordinator.models import Bucket, CommitStore, TtlMigration
from coordinator.settings import ttl_ticks
from coordinator.settings.requests import (
    ChangeRequest,
    OfStore,
    change_request_document,
    read_change_request,
)
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.audit.log import record
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Target, ask
from dashboard.jobs.models import Job

PLAN_KIND = "plan-upkeep"
LOSING_VERB = "bucket.change-losing"
VERBS = {"create-store": "store.create", "change-store": "store.change", "change-bucket": "bucket.change"}


class PlanChangeParams(RequestedChange):
    """Of the job that plans a change."""


class PlanChangeResult(PlannedResult, RequestedChange):
    """The plan, and the change that it is of."""


class ChangeParams(PlanChangeParams, Confirmation):
    """Of every job that carries a change out."""


def verb_of(change: ChangeRequest) -> str:
    """The verb that an actor needs for it."""
    return VERBS[change.KIND]


def losing_verb(document: PlanDocument | None) -> str:
    """The verb that an actor needs besides for a plan that can lose something, "" for one that cannot."""
    return LOSING_VERB if document and document["can_lose"] else ""


def plan_change(actor: Actor, connection: Connection, change: ChangeRequest, *, here: bool = False) -> Job:
    """Have one change planned from a fresh reading; changes nothing. Raises NotAllowed, ChangeInvalid, JobBusy."""
    change.check()
    title = f"Plan: {change.ACT.replace('-', ' ')} on {change.subject}"
    target, params = _target(connection, change), PlanChangeParams(change=change_request_document(change))
    job = ask(actor, PLAN_KIND, title, here=here, connection=connection, target=target, params=params)
    if read_change_request(job.params["change"]) != change:
        raise JobBusy(job)  # the planning under way is of another change: this one has to wait
    return job


def apply_change(
    actor: Actor, planned: Job, digest: str, *, confirm: str = "", reason: str = "", here: bool = False
) -> Job:
    """Have the change made that this job planned; the same plan confirmed twice is one job.

    `confirm` is the store's or bucket's name as typed, where the plan names a danger. Raises NotAllowed, ChangeRefused
    (its kinds: ReadOnlyMode, ConnectionReadOnly, PlanNeeded, NameNotTyped), and JobBusy while another change of the
    same store or bucket is under way. A refusal is in the audit log.
    """
    if planned.kind != PLAN_KIND:
        raise PlanNeeded
    change = read_change_request(planned.params["change"])
    if planned.connection is None:
        raise PlanNeeded
    target = _target(planned.connection, change)
    wanted = WantedChange(planned, change.KIND, verb_of(change), change.subject, LOSING_VERB, target=target)
    shown = partial(young_plan, planned, planned_by(planned), digest)
    return ask_for(actor, wanted, shown, digest, confirm=confirm, reason=reason, here=here)


def check_permissions(actor: Actor, connection: Connection, *, here: bool = False) -> Job:
    """Have each permission of a connection checked; changes nothing. Raises NotAllowed, JobBusy."""
    title = f"Check the permissions of {connection.name}"
    return ask(actor, "check-permissions", title, here=here, connection=connection)


def cancel_ttl_migration(actor: Actor, migration: TtlMigration) -> bool:
    """End a move of TTL where it is; False where it has ended. What DynamoDB was asked for goes on.

    Raises NotAllowed.
    """
    store = migration.store
    require(actor, "store.change", target=store.name, connection=store.connection)
    stopped = ttl_ticks.stop(migration, actor.name, timezone.now())
    if stopped:
        record(
            actor,
            "store.change",
            target_type="store",
            target_id=str(store.pk),
            target_label=store.name,
            before={"phase": migration.phase},
            after={"phase": TtlMigration.Phase.CANCELLED.value},
            detail="Stopped moving TTL.",
        )
    return stopped


def _target(connection: Connection, change: ChangeRequest) -> Target:
    """A known store or bucket by its row, a new one by its name."""
    name, kind = change.subject, "store" if isinstance(change, OfStore) else "bucket"
    rows = CommitStore.objects if isinstance(change, OfStore) else Bucket.objects
    found = rows.filter(connection=connection, name=name).values_list("pk", flat=True).first()
    return Target(kind, str(found) if found else hashlib.sha256(name.encode()).hexdigest()[:32], name)
