"""Where two byte strings part."""

from hypothesis import given
from hypothesis import strategies as st

from lake.differences import first_difference


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_it_is_the_first_place_at_which_a_walk_byte_by_byte_parts(one, other):
    pairs = (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    expected = next(pairs, None if len(one) == len(other) else min(len(one), len(other)))

    assert first_difference(one, other) == expected


def test_a_late_difference_of_large_files_is_found():
    data = bytes(20_000_000)

    assert first_difference(data, data[:-1] + b"x") == len(data) - 1
