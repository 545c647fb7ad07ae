"""Reading tables of a declaration file (TOML): typed, and every mistake named with its exact place."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class DeclarationError(ValueError):
    """The file is not a valid declaration; `args[0]` names the place and says what to write."""


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a table: its type, whether it must be there, and a check that returns a complaint or nothing.

    `longest` is the characters of a text that can be stored, `most` the largest number.
    """

    kind: type[str] | type[int] | type[float] | type[bool] | type[dict] | type[list]  # type: ignore[type-arg]
    required: bool = False
    default: Any = None
    check: Callable[[Any], str] | None = None
    longest: int = 1_024
    most: int = 2**31 - 1


def pattern(form: re.Pattern[str], words: str) -> Field:
    """A text that has to be there and to match; `words` say what it has to be."""
    return Field(str, required=True, check=lambda text: "" if form.fullmatch(text) else f"{text!r} is not {words}.")


_KIND_WORDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "an array",
}


def read_table(place: str, table: object, fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return the values of `table` with defaults filled in. Raises DeclarationError naming `place` and the key."""
    if not isinstance(table, dict):
        raise DeclarationError(f"{place} is {_word_of(table)}: write a table.")
    if unknown := sorted(set(table) - set(fields)):
        known = ", ".join(fields)
        raise DeclarationError(f"{place} has an unknown key {unknown[0]!r}. Known keys: {known}.")
    return {key: _read_value(f"{place}.{key}", table.get(key), field) for key, field in fields.items()}


def read_list(place: str, tables: object) -> list[tuple[str, object]]:
    """Return the tables of an array with the place of each. Raises DeclarationError when it is no array."""
    if not isinstance(tables, list):
        raise DeclarationError(f"{place} is {_word_of(tables)}: write [[{place}]] before each of its tables.")
    return [(f"{place}[{number}]", table) for number, table in enumerate(tables)]


def _read_value(place: str, value: object, field: Field) -> Any:
    if value is None:
        if field.required:
            raise DeclarationError(f"{place} is missing: write {_KIND_WORDS[field.kind]}.")
        return field.default
    accepted: tuple[type, ...] = (int, float) if field.kind is float else (field.kind,)
    if not isinstance(value, accepted) or isinstance(value, bool) != (field.kind is bool):
        raise DeclarationError(f"{place} is {_word_of(value)}: write {_KIND_WORDS[field.kind]}.")
    if unfit := _unfit(value, field):
        raise DeclarationError(f"{place} {unfit}")
    if field.check and (complaint := field.check(value)):
        raise DeclarationError(f"{place}: {complaint}")
    return value


def _unfit(value: Any, field: Field) -> str:
    """Why no database column takes the value."""
    if isinstance(value, str) and "\0" in value:
        return "holds a NUL character, which no text here can have."
    if isinstance(value, str) and len(value) > field.longest:
        return f"has {len(value):,} characters: write at most {field.longest:,}."
    if isinstance(value, int | float) and not -field.most <= value <= field.most:
        return f"is {value}: write a number up to {field.most:,}."
    return ""


def require_once(place: str, what: str, names: Sequence[object]) -> None:
    """Raise DeclarationError where an array names one thing twice; `names` are those of its tables in order."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise DeclarationError(f"{place}[{number}] declares the same {what} as {place}[{names.index(name)}].")


def _word_of(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, list):
        return "an array"
    return _KIND_WORDS.get(type(value), f"a {type(value).__name__}")
