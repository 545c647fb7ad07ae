"""Numbers, sizes and times as pages write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from dashboard.web.text import duration, exact, file_size, plain, relative, shortened, thousands

NOW = datetime(2026, 11, 20, 9, 42, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("number", "text"), [(1042, "1,042"), (0, "0"), (-5000, "-5,000"), (None, "Unknown"), ("", "Unknown"), ("on", "on")]
)
def test_what_is_unknown_is_never_zero(number: object, text: str) -> None:
    assert thousands(number) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([["tablePath", "HASH", "S"], ["fileName", "RANGE", "S"]], "tablePath HASH S; fileName RANGE S"),
        ([], "none"),
        ("", "-"),
        (None, "Unknown"),
        (False, "no"),
        ([{"id": "tmp", "days": 3}], "id tmp, days 3"),
    ],
)
def test_a_terminal_reads_no_python(value: object, text: str) -> None:
    assert plain(value) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (4212, "4,212 B"),
        (47_000, "47 KB"),
        (999_500, "1.0 MB"),
        (61_400_000_000, "61.4 GB"),
        (None, "Unknown"),
    ],
)
def test_small_sizes_are_exact_and_large_ones_short(size: object, text: str) -> None:
    assert file_size(size) == text


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (0.1, "0.1 s"),
        (11.8, "12 s"),
        (200, "3 min 20 s"),
        (timedelta(hours=2, minutes=5), "2 h 5 min"),
        (timedelta(days=4, hours=3), "4 d 3 h"),
        (None, "Unknown"),
    ],
)
def test_durations(length: object, text: str) -> None:
    assert duration(length) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "now"),
        (59.9, "59 s ago"),
        (41 * 60, "41 min ago"),
        (3 * 86_400, "3 d ago"),
        (90 * 86_400, "22 Aug 2026"),
        (-22 * 3600, "in 22 h"),
    ],
)
def test_times_are_relative_until_a_date_says_more(seconds: float, text: str) -> None:
    assert relative(NOW - timedelta(seconds=seconds), NOW) == text


def test_the_exact_time_is_utc_wherever_it_was_written() -> None:
    assert exact(datetime(2026, 11, 20, 11, 41, 58, tzinfo=timezone(timedelta(hours=2)))) == "2026-11-20 09:41:58 UTC"


@pytest.mark.parametrize(("text", "short"), [("a word", "a word"), ("some longer words", "some longer…")])
def test_what_is_too_long_is_cut_after_a_word_where_one_ends(text: str, short: str) -> None:
    assert shortened(text, 15) == short
