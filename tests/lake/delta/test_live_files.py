from dataclasses import dataclass
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.delta.file_actions import LogUnreadable
from lake.delta.listing import read_listing
from lake.delta.live_files import CLOCKS_APART, newest_checkpoint, plan_file_reads, retention_of
from lake.delta.names import checksum_name, commit_name
from tests.builders.delta import UUID, WRITTEN_AT, listed_object

HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(weeks=1)


def classic(version):
    return f"{version:020d}.checkpoint.parquet"


def log(objects):
    """A log of names and the hours at which they were written."""
    found = [listed_object(name, modified_at=WRITTEN_AT + hours * HOUR) for name, hours in objects]
    return read_listing(found, "", folders_listed=True)


def plan(objects, since, retention=WEEK):
    return plan_file_reads(log(objects), since=WRITTEN_AT + since * HOUR, retention=retention)


def commits(first, last):
    return [(commit_name(version), version) for version in range(first, last + 1)]


def told(reads):
    return reads.base, [version for version, _ in reads.commits]


def test_the_newest_checkpoint_serves_where_its_tombstones_reach_back():
    objects = [*commits(0, 300), (classic(100), 100), (classic(290), 290)]
    assert told(plan(objects, since=290 - 7 * 24 + 1)) == (290, list(range(291, 301)))


def test_an_older_checkpoint_serves_where_they_do_not():
    objects = [*commits(0, 300), (classic(100), 100), (classic(290), 290)]
    assert told(plan(objects, since=120))[0] == 100
    assert told(plan(objects, since=299, retention=timedelta(0)))[0] == 290
    assert told(plan(objects, since=285, retention=timedelta(0)))[0] == 100


def test_all_commits_serve_where_no_checkpoint_is_old_enough_and_else_the_oldest_one():
    objects = [*commits(0, 300), (classic(100), 100), (classic(290), 290)]
    assert told(plan(objects, since=50)) == (-1, list(range(301)))
    assert told(plan([*commits(100, 300), *objects[-2:]], since=50))[0] == 100


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        ([], "no commit and no checkpoint"),
        (commits(1, 3), "neither a whole checkpoint nor its first commit"),
        ([*commits(0, 1), *commits(3, 4)], "lacks version 2"),
        ([*commits(0, 1), (classic(1), 1), *commits(3, 4)], "lacks version 2"),
    ],
)
def test_a_log_with_a_gap_or_without_a_beginning_is_unreadable(objects, reason):
    with pytest.raises(LogUnreadable, match=reason):
        plan(objects, since=0)


def test_a_gap_below_the_checkpoint_harms_nobody():
    assert told(plan([*commits(0, 1), (classic(3), 3), *commits(3, 5)], since=3)) == (3, [4, 5])


def test_the_checksum_of_the_newest_version_and_unpublished_commits_are_named():
    staged = [f"_staged_commits/{version:020d}.{UUID}.json" for version in (1, 2)]
    temp = f".tmp/{2:020d}.json.{UUID}"
    names = [*staged, temp, checksum_name(0), checksum_name(1)]
    reads = plan([*commits(0, 1), *((name, 2) for name in names)], since=0)
    assert {found.name for found in reads.proposed} == {staged[1], temp}
    assert reads.checksum.name == checksum_name(1)


def test_the_newest_whole_checkpoint_is_found():
    parts = [(f"{9:020d}.checkpoint.{part:010d}.{3:010d}.parquet", 9) for part in (1, 2)]
    assert [found.name for found in newest_checkpoint(log([*commits(0, 9), (classic(5), 5), *parts]))] == [classic(5)]
    assert newest_checkpoint(log(commits(0, 3))) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("interval 1 week", WEEK),
        ("interval 7 days", WEEK),
        ("INTERVAL 1 Day 12 Hours", 36 * HOUR),
        ("interval 0 seconds", timedelta(0)),
        ("interval 2 months", timedelta(0)),
        ("7 days", timedelta(0)),
        ("interval 99999999999999999999 weeks", timedelta(0)),
        ("", timedelta(0)),
    ],
)
def test_retention_is_read_and_counts_as_none_where_it_cannot_be(text, expected):
    assert retention_of({"delta.deletedFileRetentionDuration": text}) == expected


def test_without_the_property_tombstones_stay_a_week():
    assert retention_of({}) == WEEK


@dataclass(frozen=True)
class History:
    """Commits as (hour, added, removed), checkpointed versions, the first version that is left, and a moment."""

    steps: list
    checkpoints: list
    first: int
    since: int


@st.composite
def histories(draw):
    hour, live, steps = 0, [], []
    for version in range(draw(st.integers(1, 12))):
        hour += draw(st.integers(2, 60))
        removed = draw(st.lists(st.sampled_from(live), unique=True)) if live else []
        added = [f"{version}-{number}" for number in range(draw(st.integers(0, 2)))]
        live = [file for file in live if file not in removed] + added
        steps.append((hour, added, removed))
    versions = range(len(steps))
    checkpoints = sorted(draw(st.sets(st.sampled_from(versions))))
    first = draw(st.sampled_from([0, *checkpoints]))
    return History(steps, checkpoints, first, draw(st.integers(0, hour)))


RETENTION = 24


def checkpoint(history, version):
    """What a checkpoint holds: live files, and removes of the last RETENTION hours, by file: hour or None."""
    state = {}
    for hour, added, removed in history.steps[: version + 1]:
        state.update(dict.fromkeys(removed, hour) | dict.fromkeys(added))
    written = history.steps[version][0]
    return {file: hour for file, hour in state.items() if hour is None or hour >= written - RETENTION}


@given(histories())
def test_exactly_the_files_that_were_live_at_some_moment_of_the_window_are_told(history):
    steps, left = history.steps, range(history.first, len(history.steps))
    objects = [(commit_name(version), steps[version][0]) for version in left]
    objects += [(classic(version), steps[version][0]) for version in history.checkpoints if version >= history.first]
    since = history.since - CLOCKS_APART // HOUR
    reads = plan(objects, since, retention=RETENTION * HOUR)
    state = checkpoint(history, reads.base) if reads.checkpoint else {}
    for version, _ in reads.commits:
        hour, added, removed = steps[version]
        state |= dict.fromkeys(removed, hour) | dict.fromkeys(added)
    needed = {file for file, hour in state.items() if hour is None or hour >= since}
    removed_at = {file: hour for hour, _, removed in steps for file in removed}
    wanted = {file for _, added, _ in steps for file in added if removed_at.get(file, since) >= since}
    if history.first == 0 or steps[history.first][0] <= since:
        assert needed == wanted
    else:
        reconstructible = set(checkpoint_live(steps, history.first)) | {
            f for _, a, _ in steps[history.first :] for f in a
        }
        assert wanted & reconstructible <= needed <= wanted


def checkpoint_live(steps, version):
    live = []
    for _, added, removed in steps[: version + 1]:
        live = [file for file in live if file not in removed] + added
    return live
