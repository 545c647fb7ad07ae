"""The navigation's entries. Each app registers its own from AppConfig.ready, so the shell imports no app's models."""

from collections.abc import Callable
from dataclasses import dataclass

GROUPS = ("Lake", "Protection", "Console")


@dataclass(frozen=True, slots=True)
class NavCount:
    """A number beside an entry with the state it is of: 2 blocked."""

    state: str
    number: int


@dataclass(frozen=True, slots=True)
class NavItem:
    """One entry of a group; lower `place` stands higher. A page without an `icon` is found by typing alone.

    `url_name` is reversed without arguments; every page whose path begins with that address belongs to the entry.
    `count` gets the id of the connection in scope, or None for all, and costs one indexed query; None: nothing to say.
    """

    group: str
    label: str
    url_name: str
    icon: str = ""
    place: int = 99
    count: Callable[[int | None], NavCount | None] | None = None
    verb: str = ""
    """Who may do this sees the entry; empty: everybody."""


_items: dict[str, NavItem] = {}


def register(*items: NavItem) -> None:
    """Add entries; one with an address that is there already replaces it."""
    _items.update({item.url_name: item for item in items})


def registered() -> tuple[NavItem, ...]:
    """Return the entries, top to bottom within each group."""
    return tuple(sorted(_items.values(), key=lambda item: (GROUPS.index(item.group), item.place)))
