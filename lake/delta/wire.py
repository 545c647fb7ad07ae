"""Reading DynamoDB items in wire form (`{"complete": {"S": "true"}}`) without ever trusting them.

What is not as the protocol has it becomes a sentence in `problems`; nothing raises, whatever the item holds.
"""

import re
from collections.abc import Mapping
from typing import Any

from lake.delta.names import MAX_VERSION

# An item may hold thousands of malformed elements; the first problems say what is wrong with it.
MOST_PROBLEMS = 20

_INTEGER = re.compile(r"-?[0-9]{1,19}")
_SHOWN_CHARACTERS = 80


def shown(value: object) -> str:
    """A value as a sentence may quote it: escaped and at most some 80 characters long."""
    text = value if isinstance(value, str) else repr(value)
    return ascii(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…")


class AttributeReader:
    """Reads the attributes of one item, or of one map within it; `prefix` begins the name of each in a problem."""

    def __init__(self, item: object, prefix: str = "") -> None:
        self.problems: list[str] = []
        self._prefix = prefix
        self._item = item if isinstance(item, dict) else {}
        if not isinstance(item, dict):
            self.note("", "the item is not a map of attributes.")

    def has(self, name: str) -> bool:
        """Whether the item has this attribute, of whatever type."""
        return name in self._item

    def note(self, name: str, reason: str) -> None:
        """Add one problem, a sentence that begins with the attribute's name."""
        self.problems.append(f"{self._prefix}{name} {reason}".strip())

    def text(self, name: str) -> str | None:
        """An S; None, with a problem, where it is absent, of another type or cannot be stored."""
        value = self._value(name, "S", str, "text (S)")
        if isinstance(value, str) and "\0" in value:
            self.note(name, f"is {shown(value)}, which holds a NUL character.")
        return value if isinstance(value, str) else None

    def boolean(self, name: str) -> bool | None:
        """A BOOL; None, with a problem, where it is absent or of another type."""
        value = self._value(name, "BOOL", bool, "BOOL")
        return value if isinstance(value, bool) else None

    def integer(self, name: str, *, required: bool) -> int | None:
        """A whole N from 0 to 2^63 - 1; None, with a problem, where it is anything else."""
        if not required and not self.has(name):
            return None
        value = self._value(name, "N", str, "number (N)")
        if not isinstance(value, str):
            return None
        number = int(value) if _INTEGER.fullmatch(value) else None
        if number is None or not 0 <= number <= MAX_VERSION:
            self.note(name, f"is {shown(value)}, not a whole number from 0 to {MAX_VERSION}.")
            return None
        return number

    def elements(self, name: str) -> list[Any]:
        """The wire values of an L; empty, with a problem, where it is absent or of another type."""
        value = self._value(name, "L", list, "list (L)")
        return value if isinstance(value, list) else []

    def _value(self, name: str, wire_type: str, python_type: type, expected: str) -> object:
        if name not in self._item:
            self.note(name, "is missing.")
            return None
        attribute = self._item[name]
        if not isinstance(attribute, dict) or len(attribute) != 1:
            self.note(name, "is not one value in DynamoDB's wire form.")
            return None
        [(actual, value)] = attribute.items()
        if actual != wire_type or not isinstance(value, python_type):
            self.note(name, f"is {_described(actual, value)}, not {expected}.")
            return None
        return value


def _described(wire_type: object, value: object) -> str:
    if wire_type in ("S", "N", "BOOL"):
        return f"{wire_type} {shown(value)}"
    return f"of type {shown(wire_type)}"


def in_order(value: Any) -> Any:
    """The same value with the names of every map sorted: DynamoDB gives them in no order."""
    if isinstance(value, Mapping):
        return {name: in_order(value[name]) for name in sorted(value)}
    return [in_order(one) for one in value] if isinstance(value, list) else value
