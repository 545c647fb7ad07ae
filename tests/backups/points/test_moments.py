"""To which moments tables can be restored."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from lake.points.moments import moments_of, together

MINUTE = timedelta(minutes=1)
START = datetime(2026, 11, 20, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return START + minutes * MINUTE


def test_a_moment_belongs_to_the_version_that_was_the_newest_then():
    given = {version: at(10 * version) for version in range(2, 8)}
    assert moments_of([(2, 3), (5, 5)], given, given, (7, at(99))) == [(at(20), at(40)), (at(50), at(60))]
    assert moments_of([(2, 7)], given, given, (7, at(99))) == [(at(20), at(99))]


def test_a_version_was_the_newest_until_the_next_may_have_been_accepted():
    given = {version: at(10 * version) for version in range(3)}
    assert moments_of([(0, 1)], given, given | {2: at(14)}, None) == [(at(0), at(14))]
    assert moments_of([(0, 1)], given, given | {2: at(4)}, None) == [(at(0), at(4))]
    assert moments_of([(1, 1)], given, given | {2: at(4)}, None) == [(at(10), at(10))]


@pytest.mark.parametrize("newest", [None, (9, at(99))])
def test_what_followed_a_version_that_is_not_the_newest_and_has_no_next_is_not_known(newest):
    given = {version: at(10 * version) for version in range(3)}
    assert moments_of([(0, 2)], given, given, newest) == [(at(0), at(20))]


@pytest.mark.parametrize("seed", range(20))
def test_all_tables_together_have_the_moments_that_each_has(seed):
    chance = random.Random(seed)
    tables = []
    for _ in range(chance.randint(1, 4)):
        ends = sorted(chance.sample(range(-20, 60), 2 * chance.randint(0, 3)))
        tables.append([(at(start), at(end)) for start, end in zip(ends[::2], ends[1::2], strict=True)])

    stretches = together(tables, at(0))

    for minute in range(60):
        moment = at(minute) + MINUTE / 2
        having = sum(any(start <= moment <= end for start, end in spans) for spans in tables)
        said = [one.of_all for one in stretches if one.start <= moment <= one.end]
        assert said == ([having == len(tables)] if having else [])
    assert all(one.start >= at(0) for one in stretches)
    assert all(one.end < two.start or one.of_all != two.of_all for one, two in pairwise(stretches))


def test_moments_of_many_tables_are_told_by_whole_minutes_within_their_spans():
    second = timedelta(seconds=1)
    [one] = together([[(at(3) + second, at(9) - second)], [(at(3) + second, at(9) - second)]], at(0))
    assert (one.start, one.end, one.of_all) == (at(4), at(8), True)
    assert together([[(at(3) + second, at(4) - second)]], at(0)) == []


def test_spans_of_one_table_that_overlap_count_once():
    """By the clocks of several servers a commit may be older than the one before it."""
    assert [(one.start, one.end, one.of_all) for one in together([[(at(0), at(9)), (at(5), at(7))]], at(0))] == [
        (at(0), at(9), True)
    ]
