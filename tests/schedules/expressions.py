"""DynamoDB's condition, key condition and update expressions, over items in wire form.

As much of the grammar as conditional writes of items need (Amazon DynamoDB Developer Guide, "Condition and filter
expressions", "Update expressions"); everything else is refused, so that no expression is taken for true unread.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Value = Mapping[str, Any]
"""One attribute in wire form: {"S": "true"}."""
Item = dict[str, dict[str, Any]]

TOKEN = re.compile(r"\s*([#:]?[A-Za-z_][A-Za-z0-9_]*|<=|>=|<>|[=<>(),])")
ORDERED: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


class InvalidExpression(Exception):
    """DynamoDB's ValidationException, or a piece of its grammar that is not played here."""


def plain(value: Value | None) -> Any:
    """A value that equals another one exactly where DynamoDB says that both are equal."""
    if value is None:
        return None
    [(kind, held)] = value.items()
    match kind:
        case "N":
            return "N", Decimal(held)
        case "L":
            return "L", tuple(plain(one) for one in held)
        case "M":
            return "M", tuple(sorted((name, plain(one)) for name, one in held.items()))
        case "S" | "BOOL" | "NULL":
            return kind, held
    raise InvalidExpression(f"the type {kind} is not played here")


@dataclass
class _Reader:
    """Reads one expression from left to right."""

    names: Mapping[str, str]
    values: Mapping[str, Value]
    tokens: list[str]

    @classmethod
    def of(cls, text: str, names: Mapping[str, str], values: Mapping[str, Value]) -> "_Reader":
        tokens, place = [], 0
        while place < len(text.rstrip()):
            found = TOKEN.match(text, place)
            if found is None:
                raise InvalidExpression(f"{text!r} cannot be read from {place} on")
            tokens.append(found[1])
            place = found.end()
        return cls(names, values, tokens)

    def next(self, *wanted: str) -> str:
        if not self.tokens or (wanted and self.tokens[0] not in wanted):
            raise InvalidExpression(f"{wanted or 'a token'} was expected before {self.tokens[:1]}")
        return self.tokens.pop(0)

    def has(self, *wanted: str) -> bool:
        return bool(self.tokens) and self.tokens[0] in wanted

    def name(self) -> str:
        token = self.next()
        if token[0] != "#":
            return token
        if token not in self.names:
            raise InvalidExpression(f"the name {token} is not given")
        return self.names[token]

    def value(self) -> Value:
        token = self.next()
        if token not in self.values:
            raise InvalidExpression(f"the value {token} is not given")
        return self.values[token]


def placeholders(*texts: str) -> set[str]:
    """The names and values that expressions use; DynamoDB refuses any other that is given."""
    return {found for text in texts for found in re.findall(r"[#:]\w+", text)}


def holds(text: str, item: Item, names: Mapping[str, str], values: Mapping[str, Value]) -> bool:
    """Whether a condition holds of an item ({} where there is none)."""
    reader = _Reader.of(text, names, values)
    result = _either(reader, item)
    if reader.tokens:
        raise InvalidExpression(f"{reader.tokens} are left over")
    return result


def _either(reader: _Reader, item: Item) -> bool:
    result = _both(reader, item)
    while reader.has("OR"):
        reader.next()
        result = _both(reader, item) or result
    return result


def _both(reader: _Reader, item: Item) -> bool:
    result = _one(reader, item)
    while reader.has("AND"):
        reader.next()
        result = _one(reader, item) and result
    return result


def _one(reader: _Reader, item: Item) -> bool:
    if reader.has("NOT"):
        reader.next()
        return not _one(reader, item)
    if reader.has("("):
        reader.next()
        result = _either(reader, item)
        reader.next(")")
        return result
    if reader.has("attribute_exists", "attribute_not_exists"):
        exists = reader.next() == "attribute_exists"
        reader.next("(")
        found = reader.name() in item
        reader.next(")")
        return found is exists
    return _compared(reader, item)


def _compared(reader: _Reader, item: Item) -> bool:
    one = _operand(reader, item)
    sign = reader.next("=", "<>", *ORDERED)
    other = _operand(reader, item)
    if sign == "=":
        return one is not None and one == other
    if sign == "<>":
        return one != other
    # Values of two types are never in order.
    return one is not None and other is not None and one[0] == other[0] and ORDERED[sign](one[1], other[1])


def _operand(reader: _Reader, item: Item) -> Any:
    if reader.has("size"):
        reader.next()
        reader.next("(")
        held = item.get(reader.name())
        reader.next(")")
        return _size(held)
    if reader.tokens and reader.tokens[0].startswith(":"):
        return plain(reader.value())
    return plain(item.get(reader.name()))


def _size(value: Value | None) -> Any:
    if value is None:
        return None
    [(kind, held)] = value.items()
    return ("N", Decimal(len(held.encode()) if kind == "S" else len(held))) if kind in ("S", "L", "M") else None


def updated(text: str, item: Item, names: Mapping[str, str], values: Mapping[str, Value]) -> Item:
    """The item after an update: SET of values and of lists made longer, REMOVE."""
    reader = _Reader.of(text, names, values)
    changed = dict(item)
    while reader.tokens:
        action = reader.next("SET", "REMOVE")
        while True:
            name = reader.name()
            if action == "REMOVE":
                changed.pop(name, None)
            else:
                reader.next("=")
                changed[name] = dict(_assigned(reader, item))
            if not reader.has(","):
                break
            reader.next()
    return changed


def _assigned(reader: _Reader, item: Item) -> Value:
    if not reader.has("list_append"):
        return reader.value() if reader.has(*reader.values) else _held(item, reader.name())
    reader.next()
    reader.next("(")
    first = _assigned(reader, item)
    reader.next(",")
    second = _assigned(reader, item)
    reader.next(")")
    return {"L": [*first["L"], *second["L"]]}


def _held(item: Item, name: str) -> Value:
    if name not in item:
        raise InvalidExpression(f"the item has no {name} to update from")
    return item[name]


def key_range(text: str, names: Mapping[str, str], values: Mapping[str, Value]) -> Sequence[str]:
    """[hash name, hash text] of a key condition, followed by [range name, least text] where it has one."""
    reader = _Reader.of(text, names, values)
    found = [reader.name(), reader.next("=") and reader.value()["S"]]
    if reader.has("AND"):
        reader.next()
        found += [reader.name(), reader.next(">=") and reader.value()["S"]]
    if reader.tokens:
        raise InvalidExpression(f"{reader.tokens} are left over")
    return found
