"""Declaration files: TOML in, TOML out."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dashboard.declaration.reading import DeclarationError

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def read_document(file: Path) -> dict[str, object]:
    """Parse the TOML file. Raises DeclarationError with the line of a mistake."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DeclarationError(f"it cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise DeclarationError(f"it is not UTF-8 at byte {error.start}.") from error
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError(f"it is not valid TOML: {error}.") from error


def as_toml(document: Mapping[str, Any]) -> str:
    """Write sections as TOML: a mapping of tables as [section.NAME], a sequence of them as [[section]]."""
    return "\n".join(text for section, tables in document.items() for text in _tables(section, tables))


def _tables(section: str, tables: Any) -> Iterator[str]:
    if isinstance(tables, Mapping):
        for name, table in tables.items():
            yield _table(f"[{_key(section)}.{_key(name)}]", table)
        return
    for table in tables:
        yield _table(f"[[{_key(section)}]]", table)


def _table(header: str, values: Mapping[str, Any]) -> str:
    return "".join(f"{line}\n" for line in (header, *(f"{_key(key)} = {_value(values[key])}" for key in values)))


def _key(name: str) -> str:
    return name if name and _BARE.issuperset(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(one)}' for key, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(_value(one) for one in value)}]"
    return repr(value)


def _text(text: str) -> str:
    """A basic string; what is not printable is written as its number, so that no terminal obeys it."""
    return f'"{"".join(_character(one) for one in text)}"'


def _character(one: str) -> str:
    if one in '"\\':
        return f"\\{one}"
    if one.isprintable():
        return one
    return f"\\u{ord(one):04x}" if ord(one) < 0x10000 else f"\\U{ord(one):08x}"
