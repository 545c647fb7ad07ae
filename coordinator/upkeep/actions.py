"""What an operator may do with commit stores and buckets. Pages and commands both call these."""

import hashlib
from typing import Any

from django.utils import timezone

from coordinator.models import Bucket, CommitStore, TtlMigration
from coordinator.repairs.gate import RepairRefused
from coordinator.upkeep import ttl_ticks
from coordinator.upkeep.gate import (
    PLAN_KIND,
    PlanNeeded,
    confirmed,
    is_read_only,
    kind_of,
    losing_verb,
    require_typed,
    require_writable,
    verb_of,
)
from coordinator.upkeep.wishes import Wish, is_of_store, read_wish, subject_name, wish_document
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.audit.log import record
from dashboard.connections.models import Connection
from dashboard.jobs.actions import JobBusy, Target, run_in_foreground, submit
from dashboard.jobs.models import Job

__all__ = [
    "apply_upkeep",
    "apply_upkeep_now",
    "cancel_ttl_migration",
    "check_permissions",
    "check_permissions_now",
    "is_read_only",
    "plan_upkeep",
    "plan_upkeep_now",
]


def plan_upkeep(actor: Actor, connection: Connection, wish: Wish) -> Job:
    """Queue a fresh reading that plans one wish; changes nothing. Raises NotAllowed, WishInvalid, JobBusy."""
    return _same_wish(wish, submit(actor, PLAN_KIND, **_planning(connection, wish)))


def plan_upkeep_now(actor: Actor, connection: Connection, wish: Wish) -> Job:
    """Plan in this process and return the finished job. Raises NotAllowed, WishInvalid, JobBusy."""
    return run_in_foreground(actor, PLAN_KIND, **_planning(connection, wish))


def apply_upkeep(actor: Actor, planned: Job, digest: str, *, confirm: str = "", reason: str = "") -> Job:
    """Queue the change that this job planned; the same plan confirmed twice is one job.

    `confirm` is the store's or bucket's name as typed, where the plan names a danger. Raises NotAllowed, RepairRefused
    (its kinds: ReadOnlyMode, ConnectionReadOnly, PlanNeeded, NameNotTyped), and JobBusy while another change of the
    same store or bucket is under way. A refusal is in the audit log.
    """
    kind, work = _permitted(actor, planned, digest, confirm, reason)
    job = submit(actor, kind, **work)
    if job.params.get("digest") != digest:
        raise JobBusy(job)
    return job


def apply_upkeep_now(actor: Actor, planned: Job, digest: str, *, confirm: str = "", reason: str = "") -> Job:
    """Make the change in this process and return the finished job. Raises what `apply_upkeep` raises."""
    kind, work = _permitted(actor, planned, digest, confirm, reason)
    return run_in_foreground(actor, kind, **work)


def check_permissions(actor: Actor, connection: Connection) -> Job:
    """Queue a check of each permission of a connection; changes nothing. Raises NotAllowed."""
    return submit(actor, "check-permissions", f"Check the permissions of {connection.name}", connection=connection)


def check_permissions_now(actor: Actor, connection: Connection) -> Job:
    """Check in this process and return the finished job. Raises NotAllowed, JobBusy."""
    title = f"Check the permissions of {connection.name}"
    return run_in_foreground(actor, "check-permissions", title, connection=connection)


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


def _planning(connection: Connection, wish: Wish) -> dict[str, Any]:
    wish.check()
    return {
        "title": f"Plan: {wish.ACT.replace('-', ' ')} on {subject_name(wish)}",
        "connection": connection,
        "target": _target(connection, wish),
        "params": {"wish": wish_document(wish)},
    }


def _permitted(actor: Actor, planned: Job, digest: str, confirm: str, reason: str) -> tuple[str, dict[str, Any]]:
    """The kind of job and what to submit it with, if this actor may make the change here."""
    connection = planned.connection
    if planned.kind != PLAN_KIND or connection is None:
        raise PlanNeeded
    wish = read_wish(planned.params["wish"])
    target = _target(connection, wish)
    require(actor, verb_of(wish), target=target.label, connection=connection)
    try:
        require_writable(connection)
        document = confirmed(planned, digest)
        if losing := losing_verb(document):
            require(actor, losing, target=target.label, connection=connection)
        require_typed(document, wish, confirm)
    except RepairRefused as refusal:
        record(
            actor,
            verb_of(wish),
            target_type=target.type,
            target_id=target.id,
            target_label=target.label,
            outcome="refused",
            detail=str(refusal),
        )
        raise
    params = {
        "wish": wish_document(wish),
        "digest": digest,
        "planned_by": str(planned.pk),
        "confirm": confirm.strip(),
        "confirmed_by": actor.name,
        "source": actor.source,
    }
    return kind_of(wish), {
        "title": document["title"],
        "connection": connection,
        "target": target,
        "params": params,
        "idempotency_key": f"upkeep:{planned.pk}:{digest}",
        "reason": reason,
    }


def _target(connection: Connection, wish: Wish) -> Target:
    """A known store or bucket by its row, a new one by its name."""
    name, kind = subject_name(wish), "store" if is_of_store(wish) else "bucket"
    rows = CommitStore.objects if is_of_store(wish) else Bucket.objects
    found = rows.filter(connection=connection, name=name).values_list("pk", flat=True).first()
    return Target(kind, str(found) if found else hashlib.sha256(name.encode()).hexdigest()[:32], name)


def _same_wish(wish: Wish, job: Job) -> Job:
    """The planning under way may be of another wish: then this one has to wait."""
    if read_wish(job.params["wish"]) != wish:
        raise JobBusy(job)
    return job
