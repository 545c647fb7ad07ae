"""URL-encoding of many keys at once: Arrow arrays to Arrow arrays, whatever bytes the keys hold.

Manifests for S3 Batch Operations, its reports, and inventories in CSV hold keys so encoded (S3 User Guide, "Specifying
a manifest", "Amazon S3 Inventory list").
"""

from typing import Any

import numpy as np
import pyarrow as pa

PERCENT, PLUS, BLANK = b"%+ "
# What RFC 3986 leaves as it is, and the slash.
_KEPT = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
_DIGITS = b"0123456789ABCDEF"


def percent_encoded(keys: Any) -> Any:
    """An Arrow array of keys as manifests for S3 Batch Operations hold them: slashes kept, a blank becomes %20."""
    data, offsets = bytes_of(keys)
    is_kept = np.zeros(256, bool)
    is_kept[list(_KEPT)] = True
    at = np.flatnonzero(~is_kept[data])
    new = at + 2 * np.arange(len(at))
    encoded = np.empty(len(data) + 2 * len(at), np.uint8)
    stays = np.ones(len(encoded), bool)
    stays[new + 1] = stays[new + 2] = False
    encoded[stays] = data
    digits = np.frombuffer(_DIGITS, np.uint8)
    encoded[new] = PERCENT
    encoded[new + 1], encoded[new + 2] = digits[data[at] >> 4], digits[data[at] & 15]
    return _strings(encoded, offsets + 2 * np.searchsorted(at, offsets), keys)


def percent_decoded(texts: Any) -> Any:
    """The keys that an Arrow array of encoded ones stands for; a plus sign is a blank. A null stays one.

    ValueError where a percent sign is not followed by two hexadecimal digits, or the bytes are no UTF-8.
    """
    data, offsets = bytes_of(texts)
    at = np.flatnonzero(data == PERCENT)
    ends = offsets[np.searchsorted(offsets, at, side="right")]
    if (at + 2 >= ends).any():
        raise ValueError("A percent sign ends a key.")
    values = _hexadecimal()
    high, low = values[data[at + 1]], values[data[at + 2]]
    if (high < 0).any() or (low < 0).any():
        raise ValueError("A percent sign is not followed by two hexadecimal digits.")
    decoded = data.copy()
    decoded[data == PLUS] = BLANK
    decoded[at] = high * 16 + low
    stays = np.ones(len(data), bool)
    stays[at + 1] = stays[at + 2] = False
    return _strings(decoded[stays], offsets - 2 * np.searchsorted(at, offsets), texts)


def _hexadecimal() -> Any:
    """The value of each byte as a hexadecimal digit, -1 for another."""
    values = np.full(256, -1, np.int16)
    for digits in (_DIGITS, _DIGITS.lower()):
        values[list(digits)] = range(16)
    return values


def bytes_of(texts: Any) -> tuple[Any, Any]:
    """The bytes of all values, one after another, and where each begins; the last offset is the end."""
    values = texts.cast(pa.binary())
    start, count = values.offset, len(values)
    _, offsets, data = values.buffers()
    if not count:
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    places = np.frombuffer(offsets, np.int32)[start : start + count + 1].astype(np.int64)
    held = np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8)
    return held[places[0] : places[-1]], places - places[0]


def _strings(data: Any, offsets: Any, like: Any) -> Any:
    """An array of UTF-8 with the nulls of `like`. ArrowInvalid, a ValueError, where the bytes are no UTF-8."""
    count = len(offsets) - 1
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(data))]
    strings = pa.Array.from_buffers(pa.binary(), count, buffers).cast(pa.string())
    return strings if not like.null_count else pa.compute.if_else(like.is_valid(), strings, None)
