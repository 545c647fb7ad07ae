"""What a declaration would add, change and remove, and what it may not remove. Nothing is stored here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, TypedDict

from dashboard.declaration.reading import DeclarationError, require_once
from dashboard.declaration.sections import CONNECTIONS, DeclaredItem, Section, Values, sections
from dashboard.web.text import one_line

Declaration = Mapping[str, tuple[DeclaredItem, ...]]
"""What a file declares by the keys of its sections; a key that the file does not have is not there."""


@dataclass(frozen=True, slots=True)
class DeclaredChange:
    """One difference between the declaration and what is stored.

    `before` is None for something new, `after` for something that goes.
    """

    what: Annotated[str, "connection | watch | store | plan"]
    name: Annotated[str, "prod/delta_log"]
    before: Values | None
    after: Values | None

    def __str__(self) -> str:
        name = one_line(self.name)
        if self.before is None:
            return f"add {self.what} {name}"
        if self.after is None:
            return f"remove {self.what} {name}"
        return f"change {self.what} {name}: {', '.join(self._changed(self.before, self.after))}"

    @staticmethod
    def _changed(before: Values, after: Values) -> Iterator[str]:
        for key, value in after.items():
            if before.get(key) != value:
                yield f"{key} {before.get(key)!r} becomes {value!r}"


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that the file no longer names and that may not be removed; `why` is one sentence."""

    what: Annotated[str, "plan"]
    name: Annotated[str, "nightly"]
    why: str

    def __str__(self) -> str:
        return one_line(f"keep {self.what} {self.name}: {self.why}")


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A change with what carries it out: the section, the item to store and the row that is there."""

    section: Section
    change: DeclaredChange
    item: DeclaredItem | None = None
    row: Any = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Steps in the order in which they are taken, and what stays although the file does not name it."""

    steps: tuple[PlannedChange, ...] = ()
    kept: tuple[Kept, ...] = ()

    @property
    def changes(self) -> tuple[DeclaredChange, ...]:
        return tuple(step.change for step in self.steps)


class ApplyJson(TypedDict):
    """`apply FILE --json`; `kept` is empty without `--prune`."""

    applied: bool
    changes: Sequence[DeclaredChange]
    kept: Sequence[Kept]


def read_declaration(document: Mapping[str, Any]) -> Declaration:
    """Read every section that the document has. Raises DeclarationError with the exact place."""
    if unknown := sorted(set(document) - {section.key for section in sections()}):
        known = ", ".join(section.key for section in sections())
        raise DeclarationError(f"it has an unknown section {unknown[0]!r}. Known sections: {known}.")
    declared = {section.key: section.read(document[section.key]) for section in sections() if section.key in document}
    _require_connections(declared)
    for section in sections():
        require_once(section.key, section.words, [item.name for item in declared.get(section.key, ())])
    return declared


def difference(declared: Declaration, *, prune: bool = False) -> Difference:
    """Compare with what is stored; with `prune` also name what goes, of the sections that the file has."""
    stored = {section.key: {section.item_of(row).name: row for row in section.rows()} for section in sections()}
    steps = [step for section in sections() for step in _additions(section, declared, stored[section.key])]
    if not prune:
        return Difference(tuple(steps))
    going, kept = _removals(declared, stored)
    return Difference((*steps, *going), tuple(kept))


def _additions(section: Section, declared: Declaration, stored: Mapping[str, Any]) -> Iterator[PlannedChange]:
    """Say what storing the items of a section would add or change."""
    for item in declared.get(section.key, ()):
        row = stored.get(item.name)
        before = None if row is None else section.item_of(row).values
        if before != item.values:
            yield PlannedChange(section, DeclaredChange(section.what, item.name, before, item.values), item, row)


def _removals(declared: Declaration, stored: Mapping[str, Mapping[str, Any]]) -> tuple[list[PlannedChange], list[Kept]]:
    """Say what goes and what stays, from the last section on, so that what names a connection goes before it."""
    going: list[PlannedChange] = []
    kept: list[Kept] = []

    def unnamed(section: Section) -> list[tuple[str, Any]]:
        named = {item.name for item in declared.get(section.key, ())}
        return [(name, row) for name, row in stored[section.key].items() if name not in named]

    def left(section: Section) -> Iterator[DeclaredItem]:
        """What there will be once all that is declared is stored and all that goes has gone."""
        gone = {step.change.name for step in going if step.section is section}
        yield from declared.get(section.key, ())
        yield from (section.item_of(row) for name, row in unnamed(section) if name not in gone)

    for section in (one for one in reversed(sections()) if one.key in declared):
        for name, row in unnamed(section):
            user = why_named(name, left) if section.key == CONNECTIONS else ""
            if why := user or section.why_kept(row):
                kept.append(Kept(section.what, name, why))
            else:
                before = section.item_of(row).values
                going.append(PlannedChange(section, DeclaredChange(section.what, name, before, None), row=row))
    return going, kept


def why_named(connection: str, left: Callable[[Section], Iterable[DeclaredItem]]) -> str:
    """Say which thing names the connection among those that are left of each section, "" where none does."""
    for section in sections():
        for item in left(section):
            if connection in (item.values[key] for key in section.refers_to):
                return f"The {section.words} {item.name} names it, and stays."
    return ""


def stored_items(section: Section) -> Iterator[DeclaredItem]:
    """Everything of the section that is stored."""
    return map(section.item_of, section.rows())


def _require_connections(declared: Declaration) -> None:
    names = {item.name for item in declared.get(CONNECTIONS, ())}
    names |= {item.name for section in sections() if section.key == CONNECTIONS for item in stored_items(section)}
    for section in sections():
        for item, key in product(declared.get(section.key, ()), section.refers_to):
            if (named := item.values[key]) not in names:
                raise DeclarationError(
                    f"{item.place}.{key} names {named!r}, which is not declared: "
                    f"add [connections.{named}] or name one of {', '.join(sorted(names)) or 'none yet'}."
                )
