"""Completion reports as S3 Batch Operations writes them, and as the Spark copy engine does: their rows, in Arrow.

A file is CSV without a header: bucket, key, version id, task status, HTTP status, error code and result message, each
in quotation marks, the key URL-encoded (S3 User Guide, "Examples: S3 Batch Operations completion reports"). Rows carry
the HTTP status before the error code, although their schema line says otherwise; of the two columns the one of digits
alone is the status, so that either order is read right.

Each line stands for itself, so that a file may be cut at any line's end: of a message with a line break only its
beginning is kept, and its rest names no bucket.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from lake.aws.access import Access
from lake.aws.s3 import S3, ObjectBody
from lake.backup.objects import BucketPrefix
from lake.spark.backups.encoding import percent_decoded
from lake.spark.backups.places import s3_of
from lake.spark.backups.stored import whole
from lake.spark.backups.tasks import Batches, Share, shares_of
from lake.spark.errors import SparkRefused

REPORTED = "reported"
COLUMNS = ("bucket", "key", "version_id", "task_status", "fifth", "sixth", "message")
LOOK_AHEAD = 64 * 1024
"""How far behind a share's end its last line's is looked for at first, in bytes."""
_USED = tuple(name for name in COLUMNS if name != "version_id")
_RESULTS = re.compile(r"/results/[^/]+\.csv$")


def reported_schema() -> Any:
    """What a report says of a copy: an empty field is null, as is `succeeded` where the line ends before it."""
    texts = [(name, pa.string()) for name in ("http_status", "code", "message")]
    return pa.schema([("key", pa.string()), ("succeeded", pa.bool_()), *texts])


def file_shares(files: Iterable[Mapping[str, Any]]) -> list[Share]:
    """Result files {"bucket", "key", "size", "etag"} in shares, which are read as long as each has that ETag."""
    return [
        share
        for one in files
        for share in shares_of(one["bucket"], one["key"], int(one["size"]), etag=one["etag"], kind=REPORTED)
    ]


def report_shares(access: Access, places: list[BucketPrefix]) -> list[Share]:
    """The result files of all reports below `places`, in shares: a job has few, whatever the number of its objects."""
    s3 = s3_of(access)
    return [
        share
        for place in places
        for page in s3.list(place.bucket, place.prefix)
        for found in page.objects
        if _RESULTS.search(found.key)
        for share in shares_of(place.bucket, found.key, found.size, kind=REPORTED)
    ]


def report_batches(access: Access, share: Share, source_bucket: str) -> Batches:
    """What the lines that begin in the share say of objects of that bucket, as `reported_schema` has it.

    A key is there several times where its copy was tried again. SparkRefused where the file is not there, or holds
    what no key encodes to.
    """
    with whole(share.bucket, share.key):
        lines = lines_of(s3_of(access), share)
    try:
        rows = rows_of(lines, source_bucket)
    except ValueError as error:
        raise SparkRefused(
            f"The report s3://{share.bucket}/{share.key} holds a key that is not URL-encoded, or not as UTF-8: restore "
            f"the report, or take it away and reconcile by what the destination shows."
        ) from error
    if rows.num_rows:
        yield rows


def lines_of(s3: S3, share: Share) -> bytes:
    """The lines that begin within the share, whole. Raises AwsError; SparkRefused for another ETag than the share's."""
    first, behind = share.number * share.bytes, (share.number + 1) * share.bytes
    # The byte before tells whether a line begins with the share.
    begin = max(0, first - 1)
    if share.number + 1 == share.of:
        data = _get(s3, share, begin).data
        end = len(data)
    else:
        data, end = _until_break(s3, share, begin, behind - 1)
    start = data.find(b"\n", 0, end) + 1 if first else 0
    return data[start:end] if start or not first else b""


def _until_break(s3: S3, share: Share, begin: int, last: int) -> tuple[bytes, int]:
    """The file's bytes from `begin` on, and how many they are up to the first line break at `last` or behind it."""
    data, ahead = b"", LOOK_AHEAD
    while True:
        body = _get(s3, share, begin + len(data), last + ahead)
        data += body.data
        found = data.find(b"\n", last - begin)
        if found >= 0 or begin + len(data) >= body.size:
            return data, found + 1 or len(data)
        ahead *= 4


def _get(s3: S3, share: Share, first: int, last: int | None = None) -> ObjectBody:
    body = s3.get(share.bucket, share.key, first=first, last=last)
    if share.etag and body.etag != share.etag:
        raise SparkRefused(
            f"The report s3://{share.bucket}/{share.key} was changed after its MD5 was verified: nothing is concluded "
            f"from it. See who may write there, and start another run."
        )
    return body


def rows_of(lines: bytes, source_bucket: str) -> Any:
    """A record batch of `reported_schema` of whole lines; ValueError for a key that is not URL-encoded."""
    rows = _table(lines)
    is_ours = pc.and_(pc.fill_null(pc.equal(rows["bucket"], source_bucket), False), pc.is_valid(rows["key"]))
    if is_ours.false_count:
        rows = rows.filter(is_ours)
    fifth, sixth = rows["fifth"], rows["sixth"]
    is_status = pc.fill_null(pc.ascii_is_decimal(fifth), False)
    columns = [
        percent_decoded(rows["key"]),
        pc.equal(pc.ascii_lower(rows["task_status"]), "succeeded"),
        pc.if_else(is_status, fifth, sixth),
        pc.if_else(is_status, sixth, fifth),
        rows["message"],
    ]
    return pa.RecordBatch.from_arrays(columns, schema=reported_schema())


def _table(lines: bytes) -> Any:
    """The columns but the version's, as a record batch of strings; an empty field is null."""
    try:
        rows = _read_at_once(lines)
    except pa.ArrowInvalid:
        return _read_singly(lines)
    return rows if rows.num_rows == _lines(lines) else _read_singly(lines)


def _read_at_once(lines: bytes) -> Any:
    """ArrowInvalid where a line has more columns or fewer, or is no UTF-8. Lines within a quoted field are joined."""
    # Without the last break, which belonged to the last line's message where no quotation mark ends that.
    table = arrow_csv.read_csv(
        pa.BufferReader(memoryview(lines)[: -1 if lines.endswith(b"\n") else None]),
        # In one block, as joining several would copy all.
        arrow_csv.ReadOptions(use_threads=False, column_names=COLUMNS, block_size=len(lines) + 1),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=_USED,
            column_types=dict.fromkeys(COLUMNS, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )
    arrays = [column.combine_chunks() for column in table.columns]
    return pa.RecordBatch.from_arrays(arrays, names=_USED)


def _lines(data: bytes) -> int | None:
    """How many lines there are, the last one's end missing or not; None where some may end with a carriage return."""
    if b"\r" in data:
        return None
    # Several times as fast as bytes.count().
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n"))) + (not data.endswith(b"\n"))


def _read_singly(lines: bytes) -> Any:
    """Each line for itself: what it lacks is null, and what is behind its seventh field is left out."""
    columns: list[list[str | None]] = [[] for _ in COLUMNS]
    for line in lines.splitlines():
        for column, field in zip(columns, _fields(line.decode(errors="replace")), strict=True):
            column.append(field)
    held = {name: pa.array(column, pa.string()) for name, column in zip(COLUMNS, columns, strict=True)}
    return pa.RecordBatch.from_arrays([held[name] for name in _USED], names=_USED)


def _fields(line: str) -> list[str | None]:
    try:
        fields = next(csv.reader([line]), [])
    except csv.Error:
        # A field above 128 KiB, which no report has.
        fields = []
    return [*(field or None for field in fields), *[None] * len(COLUMNS)][: len(COLUMNS)]
