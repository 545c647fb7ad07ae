"""Carrying TTL migrations on: each tick takes the lease of a row, looks, makes at most one change and notes it."""

import logging
from datetime import datetime, timedelta

from celery import shared_task
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from coordinator.models import CommitStore, TtlMigration
from coordinator.protocols.stores import TTL_ATTRIBUTE
from coordinator.settings.store_calls import describe, ttl_request
from coordinator.settings.ttl_migration import (
    GIVE_UP,
    LOOK_EVERY,
    SETTLES_IN,
    Phase,
    TtlStep,
    after_refusal,
    next_move,
)
from dashboard.accounts.actor import Actor
from dashboard.audit.log import record
from dashboard.connections.access import EndpointNotAllowed, lake_access
from dashboard.connections.writable import is_read_only
from lake.aws.access import Lake, open_lake
from lake.aws.errors import AwsError

LEASE = timedelta(minutes=5)
"""Longer than the requests of one look may take with all their retries."""

logger = logging.getLogger(__name__)


@shared_task(name="coordinator.settings.ttl_ticks.ttl_tick")  # type: ignore[untyped-decorator]
def ttl_tick() -> None:
    """Carry on every migration that is due. One that fails does not hold up the others."""
    now = timezone.now()
    for migration in TtlMigration.objects.filter(finished_at=None, next_at__lte=now).select_related(
        "store__connection"
    ):
        try:
            carry_on(migration, now)
        except Exception:
            logger.exception("TTL migration %s could not be carried on", migration.pk)


def begin(store: CommitStore, from_attribute: str, by: str, now: datetime) -> TtlMigration | None:
    """Add a migration of the store; None where one is under way."""
    try:
        with transaction.atomic():
            return TtlMigration.objects.create(
                store=store,
                from_attribute=from_attribute,
                detail="Begins within a minute.",
                requested_by_name=by[:150],
                started_at=now,
                phase_at=now,
                next_at=now,
            )
    except IntegrityError:
        return None


def stop(migration: TtlMigration, by: str, now: datetime) -> bool:
    """End a migration where it is; False where it has ended. What DynamoDB was asked for already goes on."""
    detail = f"Stopped by {by} while {migration.get_phase_display().lower()}; TTL is as DynamoDB says of the store."
    changed = TtlMigration.objects.filter(pk=migration.pk, finished_at=None).update(
        phase=Phase.CANCELLED, phase_at=now, finished_at=now, leased_until=None, detail=detail
    )
    return bool(changed)


def carry_on(migration: TtlMigration, now: datetime) -> bool:
    """One look and at most one change; False where somebody else is at work on it, or it has ended."""
    lease = now + LEASE
    if not _take(migration, now, lease):
        return False
    migration.refresh_from_db()
    connection = migration.store.connection
    if is_read_only(connection):
        move = TtlStep(Phase.FAILED, f"The connection {connection.name} is read-only now: nothing more is changed.")
        return _note(migration, lease, move, now, ())
    try:
        with open_lake(lake_access(connection)) as lake:
            move, ids = _make(migration, lake, now)
    except (AwsError, EndpointNotAllowed) as error:
        move, ids = (
            TtlStep(Phase(migration.phase), f"DynamoDB could not be asked, tried again in a minute: {error}"),
            (),
        )
    if now - migration.started_at > GIVE_UP and move.phase not in TtlMigration.ENDED:
        move = TtlStep(Phase.FAILED, f"Given up after a day. Last: {move.detail}")
    return _note(migration, lease, move, now, ids)


def _take(migration: TtlMigration, now: datetime, lease: datetime) -> bool:
    free = Q(leased_until=None) | Q(leased_until__lt=now)
    due = TtlMigration.objects.filter(free, pk=migration.pk, finished_at=None, next_at__lte=now)
    return due.update(leased_until=lease) == 1


def _make(migration: TtlMigration, lake: Lake, now: datetime) -> tuple[TtlStep, tuple[str, ...]]:
    phase, name = Phase(migration.phase), migration.store.name
    settled = now - migration.phase_at > SETTLES_IN
    move = next_move(phase, migration.from_attribute, describe(lake, name), settled=settled)
    if not move.send:
        return move, ()
    try:
        body = ttl_request(name, move.attribute, on=move.send == "enable")
        return move, (lake.dynamodb.change("UpdateTimeToLive", body),)
    except AwsError as error:
        ids = (error.request_id,) if error.request_id else ()
        return after_refusal(phase, move.send, error, now), ids


def _note(migration: TtlMigration, lease: datetime, move: TtlStep, now: datetime, ids: tuple[str, ...]) -> bool:
    """Write the move down if the lease is still held; a phase that began or ended goes into the audit log."""
    ended = move.phase in TtlMigration.ENDED
    moved = move.phase != migration.phase
    with transaction.atomic():
        held = TtlMigration.objects.filter(pk=migration.pk, leased_until=lease, finished_at=None)
        changed = held.update(
            phase=move.phase,
            phase_at=now if moved else migration.phase_at,
            detail=move.detail,
            checked_at=now,
            next_at=now + (move.wait or LOOK_EVERY),
            leased_until=None,
            finished_at=now if ended else None,
        )
        if changed and (moved or ids):
            _audit(migration, move, ids)
    return bool(changed)


def _audit(migration: TtlMigration, move: TtlStep, ids: tuple[str, ...]) -> None:
    record(
        Actor.worker(migration.requested_by_name, None),
        "store.change",
        target_type="store",
        target_id=str(migration.store_id),
        target_label=migration.store.name,
        before={"ttl_attribute": migration.from_attribute, "phase": migration.phase},
        after={"ttl_attribute": TTL_ATTRIBUTE, "phase": str(move.phase)},
        outcome="failed" if move.phase == Phase.FAILED else "done",
        detail=move.detail,
        aws_request_ids=ids,
    )
