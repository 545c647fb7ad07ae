"""Geometry of the charts and the states of versions, over unsaved rows."""

from datetime import UTC, datetime, timedelta

import pytest

from coordinator.charts import COLUMN, LANE_WIDTH, sparkline, timeline
from coordinator.models import Commit, Entry
from coordinator.queries.evidence import short
from coordinator.versions import VersionRow, VersionState, join_versions, version_state
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


def test_without_versions_there_is_no_chart() -> None:
    assert timeline([], published=None, has_store=True) is None


def test_the_newest_41_versions_are_drawn_side_by_side() -> None:
    chart = timeline(rows(90), published=89, has_store=True)

    assert chart is not None
    assert [column.version for column in chart.columns] == list(range(49, 90))
    assert {later.x - one.x for one, later in zip(chart.columns, chart.columns[1:], strict=False)} == {COLUMN}


def test_the_published_line_stands_before_the_first_version_that_waits() -> None:
    waiting = [entry(version, "C2", complete=False, published=False) for version in (40, 41)]
    chart = timeline(rows(40, *waiting), published=39, has_store=True)

    assert chart is not None
    first_waiting = next(column for column in chart.columns if column.version == 40)
    assert chart.water == first_waiting.x
    assert "Published to 39. 40 is pending" in chart.summary


def test_when_nothing_waits_there_is_no_line() -> None:
    chart = timeline(rows(5), published=4, has_store=True)

    assert chart is not None
    assert chart.water is None


def test_without_a_store_there_is_no_entry_lane() -> None:
    chart = timeline(rows(3), published=2, has_store=False)

    assert chart is not None
    assert {len(column.shapes) for column in chart.columns} == {1}


@pytest.mark.parametrize("count", [1, 3, 20, 41])
@pytest.mark.parametrize("offset", [0, 999_990, 123_456_780])
def test_labels_never_overlap_nor_leave_the_chart(count: int, offset: int) -> None:
    commits = [commit(version + offset) for version in range(count)]
    foreign = range(offset, offset + count, 7)
    waiting = [entry(offset + count, "C2", complete=False, published=False)]
    joined = join_versions(commits, waiting, mechanism=Mechanism.LOG_STORE, foreign=foreign)
    chart = timeline(joined, published=offset + count - 1, has_store=True)

    assert chart is not None
    spans = []
    for label in chart.labels:
        width = 6.0 * len(label.text)
        left = label.x - {"start": 0, "middle": width / 2, "end": width}[label.anchor]
        spans.append((left, left + width))
    assert all(right <= left for (_, right), (left, _) in zip(sorted(spans), sorted(spans)[1:], strict=False))
    assert min(left for left, _ in spans) >= LANE_WIDTH - 8
    assert max(right for _, right in spans) <= chart.width
    assert any(label.text.startswith("published to") for label in chart.labels)


def test_the_legend_counts_what_is_drawn() -> None:
    foreign = timeline(rows(41, entry(40), foreign=(30,)), published=40, has_store=True)

    assert foreign is not None
    counts = {part.state: part.count for part in foreign.legend}
    assert counts[VersionState.PUBLISHED] == 40
    assert counts[VersionState.ENTRY_EXPIRED] == 39
    assert counts[VersionState.FOREIGN_WRITER] == 1


def test_a_day_without_commits_is_a_flat_line() -> None:
    chart = sparkline({}, now=NOW)

    assert chart.label == "0 commits in 24 hours"
    assert {(bar.height, bar.css) for bar in chart.bars} == {(1, "base")}


def test_bars_scale_to_the_busiest_hour_and_the_newest_stands_right() -> None:
    hour = NOW.replace(minute=0, second=0)
    chart = sparkline({hour: 100, hour - timedelta(hours=1): 1, hour - timedelta(hours=30): 9}, now=NOW)

    assert chart.total == 101
    assert (chart.bars[-1].height, chart.bars[-2].height) == (17, 3)
    assert all(bar.y + bar.height == 20 for bar in chart.bars)


def test_the_hour_of_a_commit_that_waits_is_drawn_as_held() -> None:
    chart = sparkline({}, now=NOW, held_since=NOW - timedelta(hours=2))

    assert [place for place, bar in enumerate(chart.bars) if bar.css == "held"] == [21]


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
        ("00000000000000000000.json", "…0000.json"),
        ("<script>", "<script>"),
    ],
)
def test_long_keys_are_cut_to_what_differs(name: str, said: str) -> None:
    assert short(name) == said
