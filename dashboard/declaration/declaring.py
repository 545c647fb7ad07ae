"""Storing a declaration: all of it or nothing, with a row in the audit log."""

from typing import Any

from django.db import transaction

from dashboard.accounts.actor import Actor
from dashboard.audit.log import record
from dashboard.declaration.differences import (
    Declaration,
    Difference,
    PlannedChange,
    difference,
    stored_items,
    why_named,
)
from dashboard.declaration.reading import DeclarationError
from dashboard.declaration.sections import CONNECTIONS


@transaction.atomic
def declare(actor: Actor, declared: Declaration, source: str, *, prune: bool = False) -> Difference:
    """Store what a file called `source` declares and say what that changed; a second time it changes nothing.

    Raises DeclarationError where what was to go has come into use meanwhile; then nothing is stored.
    """
    found = store(declared, prune=prune)
    if found.changes:
        record(
            actor,
            "lake.declare",
            target_label=source,
            before={f"{change.what} {change.name}": change.before for change in found.changes},
            after={f"{change.what} {change.name}": change.after for change in found.changes},
        )
    return found


@transaction.atomic
def store(declared: Declaration, *, prune: bool = False) -> Difference:
    """Store a declaration without a word in the audit log, for those who write one of their own."""
    found = difference(declared, prune=prune)
    for step in found.steps:
        if step.item is not None:
            step.section.save(step.item, step.row)
        else:
            _remove(step)
    return found


def _remove(step: PlannedChange) -> None:
    """Hold the row and look once more: whoever begins to refer to it after that is refused by the database."""
    row = step.section.model._default_manager.select_for_update().filter(pk=step.row.pk).first()
    if row is None:
        return
    if why := _why_kept(step, row):
        raise DeclarationError(f"{step.change.what} {step.change.name} came into use meanwhile: {why} Look again.")
    step.section.remove(row)


def _why_kept(step: PlannedChange, row: Any) -> str:
    """As when it was compared; what names a connection has gone before it by now."""
    named = why_named(step.change.name, stored_items) if step.section.key == CONNECTIONS else ""
    return named or step.section.why_kept(row)
