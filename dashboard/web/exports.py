"""Exports of a list: the same query, whole, as CSV for spreadsheets, or JSON or JSON lines for programs."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

from django.http import StreamingHttpResponse

_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/jsonl; charset=utf-8",
}
# What a spreadsheet may take for the beginning of a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def export(rows: Iterable[Mapping[str, Any]], form: str, name: str) -> StreamingHttpResponse:
    """Stream `rows`, which all have the same keys, as a download called `name`; `form` is csv, json or jsonl."""
    headers = {"Content-Disposition": f'attachment; filename="{file_name(name)}.{form}"'}
    return StreamingHttpResponse(lines(rows, form, name), content_type=_KINDS[form], headers=headers)


def file_name(name: str) -> str:
    """The name with a hyphen for whatever a file system, a shell or a header may stumble over."""
    return re.sub(r"[^A-Za-z0-9._-]+|^[.-]+", "-", name)[:100]


def lines(rows: Iterable[Mapping[str, Any]], form: str, name: str) -> Iterator[str]:
    """Yield the text of an export bit by bit; nothing is held but one row."""
    if form == "csv":
        return _csv(rows)
    return _json_lines(rows) if form == "jsonl" else _json(rows, name)


def guarded(value: Any) -> Any:
    """The value as a spreadsheet may have it: text that looks like a formula starts with an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict | list):
        return json.dumps(value, default=_plain, ensure_ascii=False)
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def _csv(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        return
    writer.writerow(first.keys())
    for row in chain([first], iterator):
        writer.writerow([guarded(value) for value in row.values()])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _json(rows: Iterable[Mapping[str, Any]], name: str) -> Iterator[str]:
    yield f'{{"{name}": ['
    for place, row in enumerate(rows):
        yield (",\n" if place else "\n") + json.dumps(row, default=_plain, ensure_ascii=False)
    yield "\n]}\n"


def _json_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, default=_plain, ensure_ascii=False) + "\n"


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
