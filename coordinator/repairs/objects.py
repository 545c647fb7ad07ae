"""Calls about objects: copies that overwrite nothing, and conditions on what is there."""

import json
import re
from collections.abc import Mapping
from typing import Any

from coordinator.repairs.bytes_of import AbsentObject, first_difference, pieces_of_data, pieces_of_object
from coordinator.repairs.calls import Item, Publish, RequireAbsent, RequireEmpty, RequireEqual, SaveAside
from coordinator.repairs.lake_port import ObjectSummary
from coordinator.repairs.outcome import Answer, Result, Sending, Stop, already, done, label
from lake.aws.errors import AwsError

# S3 takes no more in one PUT, and only a single PUT has an MD5 as its ETag.
MOST_BYTES = 5 * 2**30
MOST_MARKERS = 1_000
MD5 = re.compile(r"[0-9a-f]{32}")


def save_aside(call: SaveAside, sending: Sending) -> Answer:
    """Keep a copy of an object, or of an item as JSON. Raises Stop, AwsError."""
    what = label(call.source) if call.item is None else "the item"
    if call.item is not None:
        data = item_document(call.item)
    else:
        source = sending.lake.head(call.bucket, call.source)
        if source is None:
            return _saved_before(call, sending)
        _check_size(call.source, source.size)
        data = _read(sending, call.bucket, call.source, source.etag, source.size)
    if place(sending, call.bucket, call.key, data) is Result.DONE:
        return done(f"A copy of {what} was saved as {call.key}.")
    return already(f"A copy of {what} was there already as {call.key}; the bytes are equal.")


def publish(call: Publish, sending: Sending) -> Answer:
    """Copy the source to the key. Raises Stop, AwsError."""
    _check_size(call.source, call.size)
    source = sending.lake.head(call.bucket, call.source)
    present = sending.lake.head(call.bucket, call.key)
    if source is None:
        return _published_without_source(call, present)
    if (source.etag, source.size) != (call.etag, call.size):
        raise Stop(f"{label(call.source)} is not the object that the plan was made from: nothing was written.")
    if present is not None:
        compare(sending, call.bucket, call.source, call.key)
        return already(f"{label(call.key)} was there already; its bytes equal those of {label(call.source)}.")
    data = _read(sending, call.bucket, call.source, call.etag, call.size)
    if place(sending, call.bucket, call.key, data) is Result.DONE:
        return done(f"{label(call.key)} was published from {label(call.source)}; read back, the bytes are equal.")
    return already(f"{label(call.key)} was published meanwhile; the bytes are equal.")


def require_equal(call: RequireEqual, sending: Sending) -> Answer:
    """Raises Stop, AwsError."""
    compare(sending, call.bucket, call.one, call.other)
    return done(f"{label(call.one)} and {label(call.other)} hold equal bytes.")


def require_absent(call: RequireAbsent, sending: Sending) -> Answer:
    """Raises Stop, AwsError."""
    for key in call.keys:
        if sending.lake.head(call.bucket, key) is not None:
            raise Stop(f"{label(key)} exists, and the plan rests on its absence: nothing was done.")
    return done(f"{', '.join(map(label, call.keys))} {'is' if len(call.keys) == 1 else 'are'} absent.")


def require_empty(call: RequireEmpty, sending: Sending) -> Answer:
    """Raises Stop, AwsError."""
    keys = sending.lake.list_keys(call.bucket, call.prefix, MOST_MARKERS)
    found = next((key for key in keys if not key.endswith(("/", "_$folder$"))), "")
    if found:
        raise Stop(f"{call.prefix} holds {label(found)}, and the plan rests on its being empty: nothing was done.")
    if len(keys) == MOST_MARKERS:
        raise Stop(f"{call.prefix} holds {MOST_MARKERS:,} directory markers, so that what else it holds was not read.")
    return done(f"{call.prefix} is empty.")


def place(sending: Sending, bucket: str, key: str, data: bytes) -> Result:
    """Write an object where none is, and compare what is there with `data`: DONE, or ALREADY where another was first.

    Raises Stop where other bytes are there, AwsError.
    """
    written = sending.write(lambda: sending.lake.put_if_absent(bucket, key, data))
    try:
        where = first_difference(pieces_of_object(sending.lake, bucket, key), pieces_of_data(data))
    except AbsentObject:
        if written:
            raise Stop(f"{label(key)} was written and has gone again: something deletes it.") from None
        raise Stop(
            f"{label(key)} was refused because another write of it was under way, and it is not there: run this again."
        ) from None
    if where is None:
        return Result.DONE if written else Result.ALREADY
    if written:
        raise Stop(f"{label(key)} was written and then replaced: from byte {where:,} on it holds other bytes.")
    raise Stop(f"{label(key)} exists with other bytes, from byte {where:,} on: it was left as it is.")


def item_document(item: Item) -> bytes:
    """An item in wire form as JSON, the same bytes for the same item."""
    return (json.dumps(item, sort_keys=True, indent=2, default=_plain) + "\n").encode()


def _plain(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no place in an item")


def _saved_before(call: SaveAside, sending: Sending) -> Answer:
    """The source has gone; an earlier run of the same plan may have saved it, and then let it go."""
    if sending.lake.head(call.bucket, call.key) is None:
        raise Stop(f"{label(call.source)} has gone, and no copy of it was saved: nothing was written.")
    return already(f"{label(call.source)} has gone; the copy saved before is {call.key}.")


def _published_without_source(call: Publish, present: ObjectSummary | None) -> Answer:
    """Some writers move their temp file; an MD5 as the ETag of both proves that the bytes are the same."""
    if present is None:
        raise Stop(f"{label(call.source)} has gone, and {label(call.key)} is not there: nothing was written.")
    if MD5.fullmatch(call.etag) and (present.etag, present.size) == (call.etag, call.size):
        return already(
            f"{label(call.key)} was published meanwhile and {label(call.source)} has gone; the MD5 is equal."
        )
    raise Stop(
        f"{label(call.key)} is there, but {label(call.source)} has gone, so that their bytes cannot be compared: "
        f"nothing was written."
    )


def compare(sending: Sending, bucket: str, one: str, other: str) -> None:
    """Read both objects. Raises Stop where their bytes differ or one is absent, AwsError."""
    try:
        where = first_difference(
            pieces_of_object(sending.lake, bucket, one), pieces_of_object(sending.lake, bucket, other)
        )
    except AbsentObject as absent:
        raise Stop(f"{label(str(absent))} is not there, so that nothing can be compared: nothing was done.") from None
    if where is not None:
        raise Stop(f"{label(one)} and {label(other)} differ from byte {where:,} on: nothing was done.")


def _read(sending: Sending, bucket: str, key: str, etag: str, size: int) -> bytes:
    try:
        body = sending.lake.get(bucket, key)
    except AwsError as error:
        if error.code == "NoSuchKey":
            raise Stop(f"{label(key)} went while it was about to be read: nothing was written.") from error
        raise
    if body.etag != etag or len(body.data) != size:
        raise Stop(f"{label(key)} changed while it was read: nothing was written.")
    return body.data


def _check_size(key: str, size: int) -> None:
    if size > MOST_BYTES:
        raise Stop(f"{label(key)} has {size:,} bytes; one PUT takes no more than {MOST_BYTES:,}: nothing was written.")
