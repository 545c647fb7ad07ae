"""The one place where a name or a text becomes part of an SQL statement."""

import re
import unicodedata
from collections.abc import Mapping

_FOLDED = re.compile(r"(?<![:/])/(?=/)|/\.{1,2}(?=/|$)")
_UNSAFE = {"Cc", "Cs"}
"""Unicode's categories of control characters and of halves of surrogate pairs, which no UTF-8 text holds."""


def location_problem(uri: str) -> str:
    """Why Spark cannot be given a table's location, in one sentence; "" where it can.

    Hadoop takes a location with a part `.` or `..`, or an empty one, for another one.
    """
    if not uri:
        return "The path is empty: name the table's location, such as s3a://bucket/path."
    if found := _control_character(uri):
        return f"The path holds the control character {found!a}, which no SQL text carries safely: move the table."
    if _FOLDED.search(uri):
        return "The path holds an empty part, '.' or '..', which Hadoop takes for another place: move the table."
    return ""


def delta_path(uri: str) -> str:
    """Quote a table's location for SQL as delta.`…`; ValueError where `location_problem` names one."""
    if problem := location_problem(uri):
        raise ValueError(f"{uri!r} is no table location. {problem}")
    return f"delta.{quote_name(uri)}"


def quote_name(name: str) -> str:
    """Quote a column's name or another identifier as `…`; ValueError where it is empty or holds control characters."""
    if not name or _control_character(name):
        raise ValueError(f"{name!r} is no name: it is empty or holds control characters.")
    return f"`{name.replace('`', '``')}`"


def quote_text(text: str) -> str:
    """Quote a text for SQL as '…': a backslash and a quote are escaped; ValueError for control characters."""
    if _control_character(text):
        raise ValueError(f"{text!r} holds control characters, which a SQL text here never needs.")
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def property_list(properties: Mapping[str, str]) -> str:
    """Write table properties as ('name' = 'value', …), as TBLPROPERTIES takes them; at least one."""
    written = ", ".join(f"{quote_text(name)} = {quote_text(value)}" for name, value in properties.items())
    return f"({written})"


def _control_character(text: str) -> str:
    """The first one, "" where there is none."""
    return next((one for one in text if unicodedata.category(one) in _UNSAFE), "")
