"""What plans of copies are made of, and how sentences name them."""

from collections.abc import Iterable
from dataclasses import dataclass

from changes.calls import Call
from coordinator.protocols.wording import thousands
from coordinator.rescue.copies import SavedCopy

KIND = "restore-copy"
"""The name of the change, in plans, digests and documents."""


@dataclass(frozen=True, slots=True)
class RestoreCalls:
    """The calls of a plan with its words; `danger` is what readers or writers may meet by it, "" for nothing."""

    calls: tuple[Call, ...]
    consequences: tuple[str, ...]
    danger: str = ""


@dataclass(frozen=True, slots=True)
class NotRestorable:
    """Why there is no plan; `why` is a short word for it."""

    reason: str
    why: str = ""


def refused_first(reasons: Iterable[NotRestorable | str]) -> NotRestorable | None:
    """The first reason that holds, None where none does; a bare sentence, "" for none, is a reason without a word."""
    found = next((one for one in reasons if one), None)
    return NotRestorable(found) if isinstance(found, str) else found


def title_of(copy: SavedCopy) -> str:
    of = "" if copy.version is None else f" of {thousands(copy.version)}"
    return f"Put the {copy.kind.words}{of} back"
