"""Parquet files of S3 as Arrow batches, read in ranges by the executors' Python; refused where they are not whole."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lake.aws.access import Access
from lake.aws.errors import AwsError
from lake.spark.backups.object_file import ObjectFile
from lake.spark.backups.places import lake_at
from lake.spark.backups.tasks import Batches, Share
from lake.spark.errors import SparkRefused

ROWS = 100_000
"""How many rows a batch holds at most."""
_MISSING = frozenset({"NoSuchKey", "NotFound"})


def parquet_batches(access: Access, share: Share, columns: Sequence[str] | None = None) -> Batches:
    """The rows of the share's row groups; all columns, or those of `columns` that the file has.

    SparkRefused where the file is not there or not whole.
    """
    from pyarrow import parquet

    with whole(share.bucket, share.key):
        file = parquet.ParquetFile(open_object(access, share.bucket, share.key), pre_buffer=True)
        groups = file.num_row_groups
        mine = list(range(groups * share.number // share.of, groups * (share.number + 1) // share.of))
        if mine:
            held = set(file.schema_arrow.names)
            wanted = None if columns is None else [name for name in columns if name in held]
            yield from file.iter_batches(ROWS, row_groups=mine, columns=wanted, use_threads=False)


def open_object(access: Access, bucket: str, key: str) -> ObjectFile:
    """An object as a seekable file, whose reads are a ranged GET each."""
    return ObjectFile(lake_at(access.region, access.endpoint_url).s3, bucket, key, None)


@contextmanager
def whole(bucket: str, key: str) -> Iterator[None]:
    """Refuse in a sentence what is missing, cut off or of another format than the block takes it for."""
    from pyarrow import ArrowException

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
