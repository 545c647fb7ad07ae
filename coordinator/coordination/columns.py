"""Columns of a new table, as a form asks for them, written as CREATE TABLE takes them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lake.spark.jobs.create_table import column

COMMON_TYPES = (
    "STRING",
    "BIGINT",
    "INT",
    "DOUBLE",
    "DECIMAL(18,2)",
    "BOOLEAN",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "BINARY",
    "ARRAY<STRING>",
    "MAP<STRING, STRING>",
)
_BLANKS = re.compile(r"\s+")
_OPENING, _CLOSING = "(<", ")>"


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """One row of the form as typed; a row without name and type is left out."""

    name: str = ""
    type: str = ""
    required: bool = False
    partition: bool = False
    comment: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.name.strip() or self.type.strip() or self.comment.strip())


def columns_ddl(rows: Iterable[ColumnRow]) -> str:
    """`name TYPE, name TYPE`; ValueError, in a sentence, for a row that is no column."""
    return ", ".join(_ddl(row) for row in rows if not row.is_empty)


def partition_names(rows: Iterable[ColumnRow]) -> tuple[str, ...]:
    """The columns that the table is partitioned by, in the order of the form."""
    return tuple(row.name.strip() for row in rows if row.partition and row.name.strip())


def one_line(ddl: str) -> str:
    """DDL that was typed over several lines."""
    return _BLANKS.sub(" ", ddl).strip()


def _ddl(row: ColumnRow) -> str:
    name, data_type = row.name.strip(), one_line(row.type)
    if not name:
        raise ValueError(f"A column of type {data_type or '(none)'} has no name.")
    if not _is_one_type(data_type):
        raise ValueError(f"The column {name} has no type that CREATE TABLE takes: write one, such as BIGINT.")
    return column(name, data_type, nullable=not row.required, comment=row.comment.strip())


def _is_one_type(text: str) -> bool:
    """One type and nothing beside it: brackets close, and a comma stands only within them."""
    depth = 0
    for character in text:
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth < 0 or (depth == 0 and character == ","):
            return False
        if not (character.isalnum() or character in "_ ,:`()<>"):
            return False
    return depth == 0 and bool(text)
