"""Exports of a list: the same query, whole, as CSV for spreadsheets or JSON for programs."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

from django.http import StreamingHttpResponse

FORMATS = ("csv", "json")
# What a spreadsheet may take for the beginning of a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def export(rows: Iterable[Mapping[str, Any]], form: str, name: str) -> StreamingHttpResponse:
    """Stream `rows`, which all have the same keys, as a download called `name`; `form` is one of FORMATS."""
    content = _csv(rows) if form == "csv" else _json(rows, name)
    kind = "text/csv; charset=utf-8" if form == "csv" else "application/json"
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    return StreamingHttpResponse(content, content_type=kind, headers=headers)


def guarded(value: Any) -> Any:
    """The value as a spreadsheet may have it: text that looks like a formula starts with an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
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


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
