"""Geometry of the charts and the states of versions, over unsaved rows."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from coordinator.charts import COLUMN, sparkline, timeline
from coordinator.models import Commit, Entry
from coordinator.versions import VersionRow, VersionState, join_versions, short, version_state
from lake.delta.facts import Mechanism

NOW = datetime(2026, 11, 20, 9, 42, 7, tzinfo=UTC)


def commit(version: int, **fields: object) -> Commit:
    return Commit(version=version, **{"published": True, "modified_at": NOW} | fields)


def entry(version: int, code: str = "C5", **fields: object) -> Entry:
    return Entry(version=version, code=code, **{"complete": True, "published": True} | fields)


def rows(count: int, *more: Entry, foreign: tuple[int, ...] = ()) -> list[VersionRow]:
    commits = [commit(version) for version in range(count)]
    return join_versions(commits, more, mechanism=Mechanism.LOG_STORE, foreign=foreign)


@pytest.mark.parametrize(
    ("file", "entries", "mechanism", "foreign", "state"),
    [
        (True, [entry(7)], Mechanism.LOG_STORE, False, VersionState.PUBLISHED),
        (True, [], Mechanism.LOG_STORE, False, VersionState.ENTRY_EXPIRED),
        (True, [], Mechanism.LOG_STORE, True, VersionState.FOREIGN_WRITER),
        (True, [], Mechanism.SINGLE_DRIVER, False, VersionState.PUBLISHED),
        (True, [entry(7, "C4", complete=False)], Mechanism.LOG_STORE, False, VersionState.PUBLISHED),
        (False, [entry(7, "C2", complete=False)], Mechanism.LOG_STORE, False, VersionState.PENDING),
        (False, [entry(7, "unknown", published=False)], Mechanism.LOG_STORE, False, VersionState.MISSING),
        (False, [entry(7, "unknown", published=None)], Mechanism.LOG_STORE, False, VersionState.PENDING),
        (False, [entry(7, "C6")], Mechanism.LOG_STORE, False, VersionState.MISSING),
        (False, [entry(7, "C11", complete=False)], Mechanism.LOG_STORE, False, VersionState.MISSING),
        (False, [entry(7, "K3", complete=None)], Mechanism.COORDINATED_COMMITS, False, VersionState.UNBACKFILLED),
        (False, [entry(7, "K7", complete=None)], Mechanism.COORDINATED_COMMITS, False, VersionState.MISSING),
        (False, [], Mechanism.COORDINATED_COMMITS, False, VersionState.MISSING),
    ],
)
def test_a_version_is_what_its_file_and_its_entries_make_it(
    file: bool, entries: list[Entry], mechanism: Mechanism, foreign: bool, state: VersionState
) -> None:
    found = version_state(commit(7, published=file), entries, mechanism=mechanism, foreign=foreign)

    assert found == state


def test_the_newest_41_versions_are_drawn_side_by_side_and_counted() -> None:
    assert timeline([], published=None, has_store=True) is None
    chart = timeline(rows(90, entry(89), foreign=(70,)), published=89, has_store=True)

    assert chart is not None
    assert [row.version for row, _ in chart.columns] == list(range(49, 90))
    assert dict(chart.legend) == {
        VersionState.PUBLISHED: 40,
        VersionState.ENTRY_EXPIRED: 39,
        VersionState.FOREIGN_WRITER: 1,
    }
    assert chart.water is None


def test_the_published_line_stands_before_the_first_version_that_waits() -> None:
    waiting = [entry(version, "C2", complete=False, published=False) for version in (40, 41)]
    chart = timeline(rows(40, *waiting), published=39, has_store=True)

    assert chart is not None
    assert chart.columns[chart.water or 0][0].version == 40
    assert "Published to 39. 40 is pending" in chart.summary


@pytest.mark.parametrize(("count", "offset"), [(1, 0), (41, 0), (41, 123_456_780)])
def test_names_of_versions_never_overlap_and_the_newest_that_needs_a_look_has_one(count: int, offset: int) -> None:
    commits = [commit(version + offset) for version in range(count)]
    foreign = range(offset, offset + count, 7)
    waiting = [entry(offset + count, "C2", complete=False, published=False)]
    joined = join_versions(commits, waiting, mechanism=Mechanism.LOG_STORE, foreign=foreign)
    chart = timeline(joined, published=offset + count - 1, has_store=True)

    assert chart is not None
    named = [(COLUMN * place, 3 * len(label)) for place, (_, label) in enumerate(chart.columns) if label]
    assert all(one + half <= later - later_half for (one, half), (later, later_half) in pairwise(named))
    assert chart.columns[-1][1] == f"{offset + count:,}"


def test_bars_scale_to_the_busiest_hour_and_the_newest_stands_right() -> None:
    hour = NOW.replace(minute=0, second=0)
    chart = sparkline({hour: 100, hour - timedelta(hours=1): 1, hour - timedelta(hours=30): 9}, now=NOW)

    assert chart.total == 101
    assert chart.bars[-3:] == ((1, "base"), (3, ""), (17, ""))


def test_the_hour_of_a_commit_that_waits_is_drawn_as_held() -> None:
    chart = sparkline({}, now=NOW, held_since=NOW - timedelta(hours=2))

    assert [place for place, (_, css) in enumerate(chart.bars) if css == "held"] == [21]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (".tmp/00000000000000001042.json.7f3c9b52-41d8-4c0e-9a57-2b1f5e0d8c11", ".tmp/…1042.json.7f3c9b52"),
        (
            "_staged_commits/00000000000000090553.7f3c9b52-41d8-4c0e-9a57-2b1f5e0d8c11.json",
            "_staged_commits/…90553.7f3c9b52.json",
        ),
        (
            "_commit_7f3c9b52-41d8-4c0e-9a57-2b1f5e0d8c11.json.tmp",
            "_commit_7f3c9b52-41d8-4c0e-9a57-2b1f5e0d8c11.json.tmp",
        ),
        ("00000000000000000000.json", "…0.json"),
        ("<script>", "<script>"),
    ],
)
def test_long_keys_are_cut_to_what_differs(name: str, said: str) -> None:
    assert short(name) == said
