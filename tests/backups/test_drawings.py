"""Ages of tables and spans of moments, as they are drawn."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from backups.queries.drawings import AXIS, STEP, bars_of, dots_of, place_of

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def test_ages_are_on_the_axis_in_their_order_and_what_is_beyond_is_at_its_ends():
    places = [place_of(hours * HOUR) for hours in (0, 0.1, 1, 6, 36, 240, 1000)]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0, AXIS)


def test_tables_of_about_one_age_are_one_dot_that_says_the_most_of_them():
    dots = dots_of([(5 * HOUR, False, 2), (5 * HOUR + timedelta(seconds=90), False, 1), (50 * HOUR, True, 1)])
    assert [(dot.count, dot.is_late, dot.title) for dot in dots] == [
        (3, False, "3 tables at most 5 h 2 min behind"),
        (1, True, "1 table at most 50 h behind"),
    ]
    [on_both_sides] = dots_of([(36 * HOUR, False, 1), (36 * HOUR + timedelta(seconds=1), True, 1)])
    assert on_both_sides.is_late
    places = [dot.x for dot in dots_of((hours * HOUR, False, 1) for hours in range(60))]
    assert all(later - sooner >= STEP for sooner, later in pairwise(places))


def test_a_span_that_began_before_the_axis_begins_with_it():
    bars, text = bars_of([(NOW - 40 * DAY, NOW - 31 * DAY, True), (NOW - 31 * DAY, NOW - 15 * DAY, True)], NOW)
    assert [(bar.x, bar.width, bar.css) for bar in bars] == [(0, 50, "proven")]
    assert text == "21 Oct 12:00 to 5 Nov 12:00"


def test_what_only_some_tables_have_is_a_gap_of_all():
    spans = [(NOW - 20 * DAY, NOW - 10 * DAY, True), (NOW - 10 * DAY, NOW - 9 * DAY, False), (NOW - 9 * DAY, NOW, True)]
    bars, text = bars_of(spans, NOW)
    assert [bar.css for bar in bars] == ["proven", "part", "proven"]
    assert bars[1].title == "10 Nov 12:00 to 11 Nov 12:00: some tables"
    assert text == "31 Oct 12:00 to 20 Nov 12:00, but not 10 Nov 12:00 to 11 Nov 12:00"
    before = (NOW - 27 * DAY, NOW - 25 * DAY, True)
    assert bars_of([before, *spans], NOW)[1].endswith("but not 10 Nov 12:00 to 11 Nov 12:00, and 1 gap more")
    assert bars_of(spans[1:2], NOW)[1] == "Some tables, 10 Nov 12:00 to 11 Nov 12:00"
    assert bars_of(spans[:2], NOW)[1] == "31 Oct 12:00 to 10 Nov 12:00"
    assert bars_of([], NOW) == ([], "None")


def test_the_newest_span_can_be_seen_however_short_it_is():
    [bar], _ = bars_of([(NOW - timedelta(seconds=1), NOW, True)], NOW)
    assert (bar.x, bar.width) == (99.6, 0.4)
