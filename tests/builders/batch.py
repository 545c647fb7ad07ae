"""Manifests of S3 Batch Operations written, and results of its reports read, line by line and simple at a glance."""

import csv
from collections.abc import Iterable, Iterator, Sequence

from lake.backup.completion_report import FAILED, SUCCEEDED
from lake.backup.objects import FileUnreadable, ManifestObject, TaskResult, decoded_key, encoded_key

COLUMNS = 7


def write_lines(objects: Iterable[ManifestObject]) -> Iterator[str]:
    """One line for each object."""
    for one in objects:
        yield f"{one.bucket},{encoded_key(one.key)}\n"


def read_results(lines: Iterable[str]) -> Iterator[TaskResult]:
    """The rows of one file; `lines` keep their line ends, since messages may hold some. Raises FileUnreadable."""
    rows = csv.reader(lines, strict=True)
    try:
        for row in rows:
            yield _result(row, rows.line_num)
    except csv.Error as error:
        raise FileUnreadable(f"Line {rows.line_num} of the report is no CSV: {error}.") from error


def _result(row: Sequence[str], line: int) -> TaskResult:
    if len(row) != COLUMNS:
        raise FileUnreadable(f"Line {line} of the report has {len(row)} columns instead of {COLUMNS}.")
    bucket, key, _, word, fifth, sixth, message = row
    if word not in {SUCCEEDED, FAILED}:
        raise FileUnreadable(f"Line {line} of the report says neither succeeded nor failed: {word!r}.")
    status, code = (fifth, sixth) if _is_status(fifth) else (sixth, fifth)
    if not _is_status(status):
        raise FileUnreadable(f"Line {line} of the report has no HTTP status: {fifth!r}, {sixth!r}.")
    return TaskResult(bucket, decoded_key(key), word == SUCCEEDED, int(status), code, message)


def _is_status(text: str) -> bool:
    return text.isascii() and text.isdecimal()
