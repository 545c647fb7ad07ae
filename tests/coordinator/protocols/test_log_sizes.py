"""Sizes of log files in a few numbers: none that a rule could take is lost, and what is not known stays so."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from coordinator.protocols.bucket_tables import SizeRange, joined_ranges, ranges_of, read_ranges, stored_ranges
from lake.delta.listing import read_listing
from tests.builders.delta import UUID, listed_object

START = datetime(2026, 1, 1, tzinfo=UTC)
FILES = st.lists(
    st.builds(
        lambda size, hours, storage_class: SizeRange(storage_class, size, size, START + timedelta(hours=hours)),
        st.integers(0, 2**34),
        st.integers(0, 9_000),
        st.sampled_from(["STANDARD", "INTELLIGENT_TIERING", ""]),
    ),
    max_size=40,
)


@given(FILES, st.integers(0, 2**34))
def test_each_file_lies_in_a_range_of_its_class_that_is_as_old_and_less_than_twice_as_wide(files, size):
    ranges = joined_ranges(files)

    for one in files:
        [held] = [r for r in ranges if r.storage_class == one.storage_class and r.least <= one.least <= r.most]
        assert held.oldest_at <= one.oldest_at
        assert held.most < max(2 * held.least, 1) or held.most == held.least
    assert {r.least for r in ranges} | {r.most for r in ranges} <= {one.least for one in files}


@given(FILES, FILES)
def test_what_is_listed_twice_or_in_parts_gives_the_same_ranges(first, second):
    whole = joined_ranges([*first, *second])

    assert joined_ranges([*joined_ranges(first), *joined_ranges(second)]) == whole
    assert joined_ranges([*whole, *first]) == whole
    assert read_ranges(stored_ranges(whole)) == whole


def test_only_files_that_readers_need_count():
    names = {
        f"{3:020d}.json": 100,
        f"{3:020d}.checkpoint.parquet": 5_000,
        f"_sidecars/{UUID}.parquet": 70_000,
        f"{3:020d}.crc": 1,
        f"{0:020d}.{3:020d}.compacted.json": 2,
        "_last_checkpoint": 3,
        f".tmp/{4:020d}.json.{UUID}": 4,
        f"_staged_commits/{5:020d}.{UUID}.json": 5,
        "notes.txt": 6,
    }
    listing = read_listing([listed_object(name, size) for name, size in names.items()], "", folders_listed=True)

    assert sorted(one.least for one in ranges_of(listing)) == [100, 5_000, 70_000]


def test_what_was_never_listed_is_not_known():
    assert (read_ranges([]), read_ranges(None)) == ((), None)
