"""The navigation's entries. Each app registers its own from AppConfig.ready, so the shell imports no app's models."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import connection as database
from django.db.models import QuerySet, TextField, Value
from django.db.models.functions import Cast

GROUPS = ("Lake", "Protection", "Console")


@dataclass(frozen=True, slots=True)
class NavCount:
    """A number beside an entry with the state it is of: 2 blocked."""

    state: str
    number: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What an entry counts: `rows` asks for a key and a number, of the connection in scope or, with None, of all.

    `loud` has the states that keys stand for, worst first; other keys are not shown. The number is that of the worst,
    with `in_all` that of all together.
    """

    rows: Callable[[int | None], "QuerySet[Any, tuple[Any, int]]"]
    loud: Mapping[Any, str]
    in_all: bool = False

    def of(self, numbers: Mapping[str, int]) -> NavCount | None:
        found = [(state, number) for key, state in self.loud.items() if (number := numbers.get(str(key)))]
        return (
            NavCount(found[0][0], sum(number for _, number in found[: None if self.in_all else 1])) if found else None
        )


@dataclass(frozen=True, slots=True)
class NavItem:
    """One entry of a group; lower `place` stands higher. A page without an `icon` is found by typing alone.

    `url_name` is reversed without arguments; every page whose path begins with that address belongs to the entry.
    """

    group: str
    label: str
    url_name: str
    icon: str = ""
    place: int = 99
    counted: Counted | None = None
    verb: str = ""
    """Who may do this sees the entry; empty: everybody."""


_items: dict[str, NavItem] = {}


def register(*items: NavItem) -> None:
    """Add entries; one with an address that is there already replaces it."""
    _items.update({item.url_name: item for item in items})


def registered() -> tuple[NavItem, ...]:
    """Return the entries, top to bottom within each group."""
    return tuple(sorted(_items.values(), key=lambda item: (GROUPS.index(item.group), item.place)))


def counts_of(items: Iterable[NavItem], connection: int | None) -> dict[str, NavCount | None]:
    """What each of these entries counts, by its address: one query for all of them."""
    counting = [item for item in items if item.counted]
    numbers: dict[str, dict[str, int]] = {item.url_name: {} for item in counting}
    if not numbers:
        return {}
    with database.cursor() as cursor:
        cursor.execute(*_statement(tuple(numbers), connection))
        for name, key, number in cursor.fetchall():
            numbers[name][key] = int(number)
    return {item.url_name: item.counted.of(numbers[item.url_name]) for item in counting if item.counted}


@lru_cache(256)
def _statement(names: tuple[str, ...], connection: int | None) -> tuple[str, tuple[Any, ...]]:
    """The query and its parameters. Every page asks it, and to compile it takes as long as a fifth of a page."""
    first, *others = (
        counted.rows(connection)
        .annotate(entry=Value(name, TextField()), key_as_text=Cast("key", TextField()))
        .values_list("entry", "key_as_text", "number")
        for name in names
        if (counted := _items[name].counted)
    )
    statement: tuple[str, tuple[Any, ...]] = first.union(*others, all=True).query.sql_with_params()
    return statement
