"""Declaration files: TOML in, TOML out."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dashboard.declaration.reading import DeclarationError
from dashboard.web.text import visible

_BARE = re.compile(r"[A-Za-z0-9_-]+")


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
            yield _table(f"[{section}.{name if _BARE.fullmatch(name) else _value(name)}]", table)
        return
    for table in tables:
        yield _table(f"[[{section}]]", table)


def _table(header: str, values: Mapping[str, Any]) -> str:
    return "".join(f"{line}\n" for line in (header, *(f"{key} = {_value(value)}" for key, value in values.items())))


def _value(value: Any) -> str:
    """As JSON writes it, which TOML reads as well, but for tables; what no terminal should obey is in numbers."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_value(one)}' for key, one in value.items())} }}"
    return visible(json.dumps(value, ensure_ascii=False))
