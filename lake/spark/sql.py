"""The one place where a name or a text becomes part of an SQL statement."""

import re
from collections.abc import Mapping

_UNPLACEABLE = re.compile(r"(?<![:/])/(?=/)|/\.{1,2}(?=/|$)")


def delta_path(uri: str) -> str:
    """Quote a table's location for SQL as delta.`…`.

    ValueError for a location that Hadoop would take for another one (a part `.` or `..`, or an empty one), and for
    control characters, which no table's path holds.
    """
    if not uri or _has_control_characters(uri):
        raise ValueError(f"{uri!r} is no table location: it is empty or holds control characters.")
    if _UNPLACEABLE.search(uri):
        raise ValueError(f"{uri!r} is no table location: Spark folds the parts '.', '..' and '//' into another path.")
    return f"delta.{quote_name(uri)}"


def quote_name(name: str) -> str:
    """Quote a column's name or another identifier as `…`; ValueError where it is empty or holds control characters."""
    if not name or _has_control_characters(name):
        raise ValueError(f"{name!r} is no name: it is empty or holds control characters.")
    return f"`{name.replace('`', '``')}`"


def quote_text(text: str) -> str:
    """Quote a text for SQL as '…': a backslash and a quote are escaped; ValueError for control characters."""
    if _has_control_characters(text):
        raise ValueError(f"{text!r} holds control characters, which a SQL text here never needs.")
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def property_list(properties: Mapping[str, str]) -> str:
    """Write table properties as ('name' = 'value', …), as TBLPROPERTIES takes them; at least one."""
    written = ", ".join(f"{quote_text(name)} = {quote_text(value)}" for name, value in properties.items())
    return f"({written})"


def _has_control_characters(text: str) -> bool:
    return any(ord(character) < 32 or ord(character) == 127 for character in text)
