"""What a declaration file is made of: sections, each registered by the app that owns what it declares."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import QuerySet

from dashboard.declaration.reading import Field, read_list

Values = Mapping[str, Any]
CONNECTIONS = "connections"


@dataclass(frozen=True, slots=True)
class DeclaredItem:
    """One thing that a file declares: what it is called, its values with defaults filled in, and where it stands."""

    name: str
    values: Values
    place: str


class Section(ABC):
    """One key of the file and the rows behind it. Declaring is done by dashboard.declaration.declaring.

    `what` is the word of a difference, `words` what a sentence calls one of them. `refers_to` are the keys of its
    values that name a connection.
    """

    key: ClassVar[str]
    what: ClassVar[str]
    words: ClassVar[str]
    refers_to: ClassVar[tuple[str, ...]] = ()
    fields: ClassVar[Mapping[str, Field]]

    @abstractmethod
    def read_table(self, place: str, table: object) -> DeclaredItem:
        """Read one table of the section. Raises DeclarationError naming the place and the key."""

    @abstractmethod
    def rows(self) -> QuerySet[Any]:
        """Everything of this sort that is stored, with its connections; in an order that stays."""

    @abstractmethod
    def item_of(self, row: Any) -> DeclaredItem:
        """A stored row as a file would declare it, under the same name."""

    @abstractmethod
    def save(self, item: DeclaredItem, row: Any) -> None:
        """Store the item in `row`; None: in a new one."""

    @abstractmethod
    def why_kept(self, row: Any) -> str:
        """The sentence that says why a row may not be removed, "" where it may."""

    def remove(self, row: Any) -> None:
        """Remove a row that nothing keeps."""
        row.delete()

    def stored(self) -> Iterator[DeclaredItem]:
        """Everything of this sort that is stored, as a file would declare it."""
        return map(self.item_of, self.rows())

    def read(self, written: object) -> tuple[DeclaredItem, ...]:
        """Read what the file has under `key`. Raises DeclarationError with the exact place."""
        return tuple(self.read_table(place, table) for place, table in read_list(self.key, written))

    def written(self, items: Sequence[DeclaredItem]) -> Any:
        """What the file has under `key` when it declares these items."""
        return [self.table_of(item) for item in items]

    def table_of(self, item: DeclaredItem) -> dict[str, object]:
        """The item's keys in the file; what is as it is by default is left out."""
        return {key: item.values[key] for key, field in self.fields.items() if item.values[key] != field.default}


_sections: dict[str, Section] = {}


def register(section: Section) -> None:
    """Add a section to the file, from AppConfig.ready; one that others name comes before them."""
    _sections[section.key] = section


def sections() -> tuple[Section, ...]:
    """Return every section, in the order in which they are stored."""
    return tuple(_sections.values())
