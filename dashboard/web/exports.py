"""Exports of a list: the same query, whole, as CSV for spreadsheets, or JSON or JSON lines for programs."""

import base64
import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse

_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/jsonl; charset=utf-8",
}
MOST_ROWS = 5_000
"""Of a list that is answered at once; of more a job makes a file."""
# What a spreadsheet may take for the beginning of a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def is_large(rows: QuerySet[Any]) -> bool:
    return rows.order_by()[MOST_ROWS : MOST_ROWS + 1].exists()


def export(rows: Iterable[Mapping[str, Any]], form: str, name: str) -> HttpResponse:
    """Answer `rows`, which all have the same keys, as a download called `name`; `form` is csv, json or jsonl."""
    found = list(rows)
    content = "".join(lines(found, form, name)).encode()
    digest = hashlib.sha256(content).digest()
    return HttpResponse(content, headers=headers(form, name, len(found), len(content), digest))


def headers(form: str, name: str, rows: int, length: int, digest: bytes) -> dict[str, str]:
    """Those of a download, by which a client sees a cut: its length, its digest (RFC 9530), its number of rows."""
    return {
        "Content-Type": _KINDS[form],
        "Content-Disposition": f'attachment; filename="{file_name(name)}.{form}"',
        "Content-Length": str(length),
        "Repr-Digest": f"sha-256=:{base64.b64encode(digest).decode()}:",
        "Levee-Rows": str(rows),
    }


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
    for place, row in enumerate(rows):
        if place == 0:
            writer.writerow(row.keys())
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
