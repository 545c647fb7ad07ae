"""Files of S3 as Arrow batches, read in ranges by the executors' Python; refused where they are not whole."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from pyarrow import ArrowException, csv, orc, parquet

from lake.aws.access import Access
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.delta.checkpoint import SeekableFile
from lake.spark.backups.places import s3_of
from lake.spark.backups.tasks import Batches, Share
from lake.spark.errors import SparkRefused

ROWS = 100_000
"""How many rows a batch holds at most."""
BUFFER = 4 * 1024**2
BLOCK = 8 * 1024**2
"""Bytes of CSV that are parsed at once."""
_MISSING = frozenset({"NoSuchKey", "NotFound"})


def parquet_batches(access: Access, share: Share, columns: Sequence[str] | None = None) -> Batches:
    """The rows of the share's row groups; all columns, or those of `columns` that the file has.

    SparkRefused where the file is not there or not whole.
    """
    with whole(share.bucket, share.key):
        file = parquet.ParquetFile(open_object(access, share.bucket, share.key), pre_buffer=True)
        if mine := _share_of(share, file.num_row_groups):
            wanted = _held(columns, file.schema_arrow.names)
            yield from file.iter_batches(ROWS, row_groups=mine, columns=wanted, use_threads=False)


def orc_batches(access: Access, share: Share, columns: Sequence[str] | None = None) -> Batches:
    """The rows of the share's stripes, as `parquet_batches` gives those of row groups."""
    with whole(share.bucket, share.key):
        # It reads in small pieces.
        file = orc.ORCFile(io.BufferedReader(open_object(access, share.bucket, share.key), BUFFER))
        for stripe in _share_of(share, file.nstripes):
            yield file.read_stripe(stripe, columns=_held(columns, file.schema.names))


def csv_batches(access: Access, share: Share, names: Sequence[str]) -> Batches:
    """The rows of a file of CSV without a header, compressed where its name ends in .gz; all columns are strings.

    SparkRefused where it is not there or not whole, or has a row of another number of columns.
    """
    with whole(share.bucket, share.key):
        stream = io.BufferedReader(open_object(access, share.bucket, share.key), BUFFER)
        yield from csv.open_csv(
            pa.CompressedInputStream(stream, "gzip") if share.key.endswith(".gz") else stream,
            read_options=csv.ReadOptions(column_names=list(names), use_threads=False, block_size=BLOCK),
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )


def _share_of(share: Share, parts: int) -> list[int]:
    """Which of a file's parts are the share's."""
    return list(range(parts * share.number // share.of, parts * (share.number + 1) // share.of))


def _held(columns: Sequence[str] | None, names: Sequence[str]) -> list[str] | None:
    return None if columns is None else [name for name in columns if name in names]


def open_object(access: Access, bucket: str, key: str) -> "ObjectFile":
    """An object as a seekable file, whose reads are a ranged GET each."""
    return ObjectFile(s3_of(access), bucket, key, None)


@contextmanager
def whole(bucket: str, key: str) -> Iterator[None]:
    """Refuse in a sentence what is missing, cut off or of another format than the block takes it for."""
    try:
        yield
    except AwsError as error:
        if error.code in _MISSING:
            raise SparkRefused(f"s3://{bucket}/{key} is not there: restore it, or start anew without it.") from error
        raise
    except (ArrowException, OSError, EOFError) as error:
        raise SparkRefused(
            f"s3://{bucket}/{key} cannot be read, as it is cut off, damaged or of another format: start anew with a "
            f"whole one."
        ) from error


class ObjectFile(SeekableFile):
    """Seekable and read-only; each read is one ranged GET, so put a buffer before it. Raises AwsError.

    `size` in bytes is asked for where it is None.
    """

    def __init__(self, s3: S3, bucket: str, key: str, size: int | None) -> None:
        super().__init__(s3.get(bucket, key, first=-1).size if size is None else size)
        self._s3, self._bucket, self._key = s3, bucket, key

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        last = min(self.size, self.position + len(buffer)) - 1
        if last < self.position:
            return 0
        data = self._s3.get(self._bucket, self._key, first=self.position, last=last).data
        buffer[: len(data)] = data
        self.position += len(data)
        return len(data)
