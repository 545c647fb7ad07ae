"""Storing a declaration: all of it or nothing, with a row in the audit log."""

from collections.abc import Iterator, Sequence

from django.db import transaction

from dashboard.accounts.actor import Actor
from dashboard.audit.log import record
from dashboard.declaration.differences import Declaration, DeclaredChange, Difference, Kept
from dashboard.declaration.sections import CONNECTIONS, DeclaredItem, Section, sections


def difference(declared: Declaration, *, prune: bool = False) -> Difference:
    """Say what storing a declaration would change: it is stored, and taken back."""
    with transaction.atomic():
        found = store(declared, prune=prune)
        transaction.set_rollback(True)
    return found


@transaction.atomic
def declare(actor: Actor, declared: Declaration, source: str, *, prune: bool = False) -> Difference:
    """Store what a file called `source` declares and say what that changed; a second time it changes nothing."""
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
    """Store a declaration without a word in the audit log, for those who write one of their own.

    With `prune` what the sections of the file no longer name goes, from the last section on, so that what names a
    connection goes before it.
    """
    saved = [change for section in sections() for change in _save(section, declared.get(section.key, ()))]
    going = [one for one in reversed(sections()) if prune and one.key in declared]
    pruned = [end for section in going for end in _prune(section, declared[section.key])]
    removed = [end for end in pruned if isinstance(end, DeclaredChange)]
    return Difference((*saved, *removed), tuple(end for end in pruned if isinstance(end, Kept)))


def _save(section: Section, items: Sequence[DeclaredItem]) -> Iterator[DeclaredChange]:
    stored = {section.item_of(row).name: row for row in section.rows()}
    for item in items:
        row = stored.get(item.name)
        before = None if row is None else section.item_of(row).values
        if before != item.values:
            section.save(item, row)
            yield DeclaredChange(section.what, item.name, before, item.values)


def _prune(section: Section, items: Sequence[DeclaredItem]) -> Iterator[DeclaredChange | Kept]:
    """Remove what `items` do not name and nothing keeps; whoever refers to a row once it is held is refused."""
    named = {item.name for item in items}
    unnamed = [row for row in section.rows() if section.item_of(row).name not in named]
    held = section.rows().model._default_manager.select_for_update().filter(pk__in=[row.pk for row in unnamed])
    for row in held.order_by("pk"):
        item = section.item_of(row)
        named_by = _why_named(item.name) if section.key == CONNECTIONS else ""
        if why := named_by or section.why_kept(row):
            yield Kept(section.what, item.name, why)
        else:
            section.remove(row)
            yield DeclaredChange(section.what, item.name, item.values, None)


def _why_named(connection: str) -> str:
    """Say which thing that is stored names the connection, "" where none does."""
    for section in sections():
        for item in section.stored():
            if connection in (item.values[key] for key in section.refers_to):
                return f"The {section.words} {item.name} names it, and stays."
    return ""
