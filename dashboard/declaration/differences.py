"""What a file declares, and what declaring it adds, changes and removes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, TypedDict

from dashboard.declaration.reading import DeclarationError, require_once
from dashboard.declaration.sections import CONNECTIONS, DeclaredItem, Values, sections
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
class Difference:
    """Changes in the order in which they are made, and what stays although the file does not name it."""

    changes: tuple[DeclaredChange, ...] = ()
    kept: tuple[Kept, ...] = ()


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


def _require_connections(declared: Declaration) -> None:
    names = {item.name for item in declared.get(CONNECTIONS, ())}
    names |= {item.name for section in sections() if section.key == CONNECTIONS for item in section.stored()}
    for section in sections():
        for item, key in product(declared.get(section.key, ()), section.refers_to):
            if (named := item.values[key]) not in names:
                raise DeclarationError(
                    f"{item.place}.{key} names {named!r}, which is not declared: "
                    f"add [connections.{named}] or name one of {', '.join(sorted(names)) or 'none yet'}."
                )
