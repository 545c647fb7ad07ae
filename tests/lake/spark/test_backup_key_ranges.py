"""Ranges of keys hold every planned object once, in S3's order."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lake.spark.backupground import HOSTILE
from tests.lazily import lazily

pa = lazily("pyarrow")
copies = lazily("lake.spark.backups.copying")


KEYS = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=6), st.text("ab/", max_size=4)), max_size=60)


def batches(keys: list[str], cut: int) -> "Iterator[pa.RecordBatch]":
    for first in range(0, len(keys), cut):
        yield pa.RecordBatch.from_pydict({"key": keys[first : first + cut]}, pa.schema([("key", pa.string())]))


def held(keys: list[str], cut: int, within: "copies.KeyRange") -> list[str]:
    rows = copies.rows_within(batches(keys, cut), within)
    return [] if rows is None else rows.column("key").to_pylist()


@given(KEYS, st.integers(1, 9), st.integers(1, 20), st.integers(0, 2**40))
def test_each_object_is_in_one_range_and_all_are_in_the_order_of_their_bytes(
    keys: list[str], most: int, cut: int, told: int
) -> None:
    found = copies.key_ranges(batches(keys, cut), told, most)
    assert 1 <= len(found) <= most
    assert [key for one in found for key in held(keys, cut, one)] == sorted(keys, key=str.encode)


@pytest.mark.parametrize("sample", [10**6, 500])
def test_ranges_hold_about_as_many_keys_each(sample: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lake.spark.backups.copying.SAMPLE", sample)
    keys = [f"t/day={number % 28:02}/part-{number:05}" for number in range(10_000)]
    found = copies.key_ranges(batches(keys, 999), len(keys), 8)
    sizes = [len(held(keys, 999, one)) for one in found]
    assert len(sizes) == 8
    assert max(sizes) <= 1.6 * min(sizes)
