"""Comparing objects byte by byte, in pieces: a commit of gigabytes is never held twice."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from changes.calls import Stop
from coordinator.repairs.keys_in_words import label
from lake.aws.errors import AwsError
from lake.differences import first_difference as parting

if TYPE_CHECKING:
    from lake.aws.access import Lake

PIECE_BYTES = 8 * 2**20
Piece = bytes | memoryview


class AbsentObject(Exception):
    """There is no such object, or there is none any more."""


def pieces_of_object(lake: "Lake", bucket: str, key: str) -> Iterator[Piece]:
    """The object's bytes in order. Raises AbsentObject, Stop where it changes between two pieces, and AwsError."""
    etag, size, read = "", 1, 0
    while read < size:
        try:
            body = lake.s3.get(bucket, key, first=read, last=read + PIECE_BYTES - 1)
        except AwsError as error:
            if error.code in {"NoSuchKey", "NotFound"}:
                raise AbsentObject(key) from error
            if error.code == "InvalidRange":
                raise _changed(key) from error
            raise
        if read and (body.etag != etag or not body.data):
            raise _changed(key)
        etag, size = body.etag, body.size
        read += len(body.data)
        yield body.data


def pieces_of_data(data: bytes) -> Iterator[Piece]:
    """Views of the bytes, as long as the pieces of an object."""
    view = memoryview(data)
    return (view[start : start + PIECE_BYTES] for start in range(0, len(data), PIECE_BYTES))


def first_difference(one: Iterator[Piece], other: Iterator[Piece]) -> int | None:
    """The first byte, counted from 0, at which the two differ or one of them ends; None where they are equal."""
    offset = 0
    for left, right in zip_longest(one, other, fillvalue=b""):
        within = parting(left, right)
        if within is not None:
            return offset + within
        offset += len(left)
    return None


def _changed(key: str) -> Stop:
    return Stop(f"{label(key)} changed while it was read: nothing was written.")
