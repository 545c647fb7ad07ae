"""What planning live files alone left out, and what kept it from leaving out more. The document is of any shape."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from backups.models import Run


@dataclass(frozen=True, slots=True)
class LiveFiles:
    """`unread` are tables that are copied whole, with the reason; `more` of them are not named.

    `inside` and `outside` count files that tables name by absolute paths, `named_by` are the first such tables.
    """

    objects: int
    bytes: int
    unread: tuple[tuple[str, str], ...]
    more: int
    inside: int
    outside: int
    named_by: tuple[str, ...]


def live_files(run: Run) -> LiveFiles | None:
    """None for a run of all files, or one that is not planned yet."""
    said = _mapping(run.tables)
    if "left_out" not in said:
        return None
    left, unread, references = (_mapping(said.get(name)) for name in ("left_out", "unread", "references"))
    named = tuple((str(one["table"]), str(one.get("reason") or "")) for one in _rows(unread))
    return LiveFiles(
        objects=_whole(left.get("objects")),
        bytes=_whole(left.get("bytes")),
        unread=named,
        more=max(0, _whole(unread.get("count")) - len(named)),
        inside=_whole(references.get("inside")),
        outside=_whole(references.get("outside")),
        named_by=tuple(str(one["table"]) for one in _rows(references)),
    )


def _rows(document: dict[str, Any]) -> Iterable[dict[str, Any]]:
    found = document.get("examples")
    return [one for one in found if isinstance(one, dict) and "table" in one] if isinstance(found, list) else []


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _whole(number: object) -> int:
    return number if isinstance(number, int) else 0
