"""Objects of one planned file divided by key: who copies all of a range may ask for them by one listing."""

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

SAMPLE = 20_000
"""About how many keys are looked at to find where ranges end."""


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Keys from `first` on, up to but without `end`, or all of them; in the order of their UTF-8, which is S3's."""

    first: str = ""
    end: str | None = None


def key_ranges(batches: Iterable[Any], rows: int, most: int) -> list[KeyRange]:
    """At most `most` ranges of about as many keys each, which together hold every key; `rows` is about their number."""
    # By chance, as keys that are so many rows apart may be alike; the same chance each time.
    chance, one_of = Random(0), max(1, rows // SAMPLE)  # noqa: S311
    sample: list[str] = []
    for batch in batches:
        places = chance.sample(range(batch.num_rows), -(-batch.num_rows // one_of))
        sample += batch.column("key").take(pa.array(places, pa.int64())).to_pylist()
    sample.sort()
    ends = sorted({sample[len(sample) * number // most] for number in range(1, most)} - {sample[0]}) if sample else []
    return [KeyRange(first, end) for first, end in zip(["", *ends], [*ends, None], strict=True)]


def rows_within(batches: Iterable[Any], keys: KeyRange) -> Any:
    """A table of the rows whose key is within the range, sorted by key; None where there is no row at all."""
    held = []
    for batch in batches:
        is_within = pc.greater_equal(batch.column("key"), keys.first)
        if keys.end is not None:
            is_within = pc.and_(is_within, pc.less(batch.column("key"), keys.end))
        held.append(batch.filter(is_within))
    return pa.Table.from_batches(held).sort_by("key") if held else None
