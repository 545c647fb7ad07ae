"""Rows that are divided by their keys and put together again are the same rows, each where its key belongs."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lake.spark.backupground import HOSTILE
from tests.lazily import lazily

pa = lazily("pyarrow")
conformed = lazily("lake.spark.backups.exchange", "conformed")
divided = lazily("lake.spark.backups.exchange", "divided")
together = lazily("lake.spark.backups.exchange", "together")


Row = tuple[str, int | None, str | None]
KEYS = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40), st.text("ab/", max_size=9))
ROWS = st.lists(st.tuples(KEYS, st.none() | st.integers(0, 2**62), st.none() | st.text(max_size=5)), max_size=40)


@cache
def schema() -> "pa.Schema":
    return pa.schema([("key", pa.string()), ("size", pa.int64()), ("etag", pa.string())])


def schemas() -> "dict[str, pa.Schema]":
    return {"planned": schema(), "there": schema()}


def batch(rows: list[Row]) -> "pa.RecordBatch":
    return pa.RecordBatch.from_pylist([dict(zip(schema().names, row, strict=True)) for row in rows], schema())


def parted(blobs: "Iterator[pa.RecordBatch]") -> "dict[int, list[pa.RecordBatch]]":
    """As Spark brings them to the tasks: by part, one after another."""
    found: dict[int, list[pa.RecordBatch]] = {}
    for blob in blobs:
        for number in range(blob.num_rows):
            row = blob.slice(number, 1)
            found.setdefault(row["part"][0].as_py(), []).append(row)
    return found


def tuples(rows: "pa.RecordBatch") -> list[Row]:
    return [(row["key"], row["size"], row["etag"]) for row in rows.to_pylist()]


def by_all(row: Row) -> tuple[str, str]:
    return row[0], repr(row)


@given(ROWS, ROWS, st.integers(1, 50), st.integers(1, 10))
def test_rows_divided_and_put_together_are_the_same_rows(
    mine: list[Row], others: list[Row], parts: int, cut: int
) -> None:
    pieces = [batch(mine).slice(first, cut) for first in range(0, len(mine), cut)]
    found = parted(iter([*divided("planned", iter(pieces), parts), *divided("there", iter([batch(others)]), parts)]))
    assert set(found) <= set(range(parts))
    held: dict[str, list[Row]] = {"planned": [], "there": []}
    part_of: dict[str, int] = {}
    for part, blobs in found.items():
        for kind, rows in together(blobs, schemas()).items():
            held[kind] += tuples(rows)
            for key, _, _ in tuples(rows):
                assert part_of.setdefault(key, part) == part
    assert sorted(held["planned"], key=by_all) == sorted(mine, key=by_all)
    assert sorted(held["there"], key=by_all) == sorted(others, key=by_all)


def test_what_nobody_sent_is_empty_and_has_its_columns() -> None:
    for rows in together([], schemas()).values():
        assert (rows.num_rows, rows.schema) == (0, schema())
    assert list(divided("there", iter([batch([])]), 4)) == []


def keys_of(blobs: "list[pa.RecordBatch]") -> list[str]:
    keys: list[str] = together(blobs, schemas())["there"]["key"].to_pylist()
    return keys


@pytest.mark.parametrize(
    "name", ["t/day={0}/part-00000.parquet", "t/_delta_log/{0:020}.json", "{0}", "t/{0:09}/v1/latest/metadata.json"]
)
@pytest.mark.parametrize("parts", [13, 16])
def test_parts_are_alike_in_size_whatever_keys_have_in_common(name: str, parts: int) -> None:
    rows = batch([(name.format(number), number, None) for number in range(40_000)])
    sizes = [len(keys_of(blobs)) for blobs in parted(divided("there", iter([rows]), parts)).values()]
    assert len(sizes) == parts
    assert max(sizes) < 1.2 * 40_000 / parts


def test_small_batches_are_divided_together(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [batch([(str(number), number, "e" * 100)]) for number in range(1_000)]
    assert len(list(divided("there", iter(pieces), 1))) == 1
    monkeypatch.setattr("lake.spark.backups.exchange.DIVIDED_BYTES", 20_000)
    assert 5 < len(list(divided("there", iter(pieces), 1))) < 10


def test_a_batch_gets_the_columns_and_types_of_a_schema() -> None:
    given_rows: Any = pa.RecordBatch.from_pydict({"size": pa.array([1], pa.int32()), "more": ["x"], "key": ["a"]})
    assert conformed(given_rows, schema()).to_pylist() == [{"key": "a", "size": 1, "etag": None}]
