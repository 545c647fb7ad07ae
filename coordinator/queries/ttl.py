"""Where a move of TTL is: its phases in order, each with what is known of it."""

from dataclasses import dataclass
from datetime import datetime

from coordinator.models import TtlMigration

Phase = TtlMigration.Phase


@dataclass(frozen=True, slots=True)
class TtlPlace:
    """One phase; `state` is the word of a job's step: next, running or done. `at` is when it began."""

    title: str
    says: str
    state: str
    at: datetime | None


def ttl_places(migration: TtlMigration) -> list[TtlPlace]:
    """The four phases; a move that has ended keeps no word of the phase it ended in, so its sentence says it."""
    left = migration.from_attribute or "the other attribute"
    phases = (
        (Phase.DISABLING, "Switch TTL off", f"One call, for TTL on {left}."),
        (Phase.WAITING_OFF, "Wait until it is off", "DynamoDB takes up to an hour."),
        (Phase.ENABLING, "Switch TTL on by expireTime", "DynamoDB takes one change in about an hour."),
        (Phase.WAITING_ON, "See that it is on", "DynamoDB takes up to an hour again."),
    )
    order = [phase.value for phase, _, _ in phases]
    here = order.index(migration.phase) if migration.phase in order else -1
    places = []
    for place, (_, title, says) in enumerate(phases):
        if migration.phase == Phase.DONE or (here >= 0 and place < here):
            state = "done"
        else:
            state = "running" if place == here else "next"
        told = migration.detail if place == here and migration.detail else says
        places.append(TtlPlace(title, told, state, migration.phase_at if place == here else None))
    return places
