import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.delta.actions import read_commit
from lake.delta.checkpoint import read_checkpoint_state
from lake.delta.coordinator_items import read_registration
from lake.delta.listing import read_listing
from lake.delta.names import checksum_name, commit_name
from lake.delta.replay import fold_protocol, plan_protocol_reads, plan_staged_reads, usable_checkpoint
from lake.delta.state import StateParts
from tests.builders.delta import (
    UUID,
    add,
    checkpoint_bytes,
    commit_bytes,
    coordinator_commit,
    first_commit_bytes,
    listed,
    log_object,
    metadata,
    protocol,
    registration_item,
)


def classic(version):
    return f"{version:020d}.checkpoint.parquet"


def part(version, number, parts):
    return f"{version:020d}.checkpoint.{number:010d}.{parts:010d}.parquet"


def staged(version, folder="_staged_commits/"):
    return f"{folder}{version:020d}.{UUID}.json"


def log(commits=(), *names, from_version=0, folders_listed=True):
    objects = listed(*(commit_name(version) for version in commits), *names)
    return read_listing(objects, "", from_version, folders_listed=folders_listed)


def versions(plan):
    return [version for version, _ in plan.commits]


def places(plan):
    return [problem.place for problem in plan.problems]


@pytest.mark.parametrize(
    ("listing", "known", "version", "anchor", "starts_from", "read"),
    [
        (log(), None, None, None, None, []),
        (log(range(4)), None, 3, None, None, [0, 1, 2, 3]),
        (log(range(6), checksum_name(3), checksum_name(5)), None, 5, 5, checksum_name(5), []),
        # A checksum above the newest version is not believed.
        (log(range(6), checksum_name(4), checksum_name(6)), None, 5, 4, checksum_name(4), [5]),
        (log(range(10, 13), classic(10)), None, 12, 10, classic(10), [11, 12]),
        (log(range(13), checksum_name(5), classic(10)), None, 12, 10, classic(10), [11, 12]),
        # A checkpoint may stand without its commit, and one that is not whole is no start.
        (log((), classic(10)), None, 10, 10, classic(10), []),
        (log(range(7), part(6, 1, 2), classic(5)), None, 6, 5, classic(5), [6]),
        (log(range(13), checksum_name(11), classic(10)), 11, 12, 11, None, [12]),
        # A gap below the newest checkpoint harms nobody.
        (log([1, 4, 10, 11], classic(10)), None, 11, 10, classic(10), [11]),
    ],
)
def test_reading_begins_at_the_newest_state_that_is_whole(listing, known, version, anchor, starts_from, read):
    plan = plan_protocol_reads(listing, known_version=known)
    begins = [found.name for found in (*plan.checkpoint, plan.checksum) if found]
    assert (plan.version, plan.anchor_version, versions(plan), plan.problems) == (version, anchor, read, ())
    assert begins == ([starts_from] if starts_from else [])


def test_a_gap_is_named_and_ends_the_reading():
    plan = plan_protocol_reads(log([0, 1, 2, 5, 6]))
    assert (plan.version, versions(plan), places(plan)) == (2, [0, 1, 2], [commit_name(3)])
    assert plan.problems[0].reason == "Versions 3 to 4 are missing before version 5; Delta reads no log with a gap."


def test_a_gap_is_named_even_where_a_checksum_spans_it():
    plan = plan_protocol_reads(log([0, 1, 3], checksum_name(3)))
    assert (plan.version, places(plan)) == (3, [commit_name(2)])
    assert plan.problems[0].reason.startswith("Version 2 is missing before version 3")


def test_a_log_without_its_beginning_is_named():
    plan = plan_protocol_reads(log([3, 4]))
    assert (plan.version, places(plan)) == (4, [commit_name(0)])


def test_a_listing_from_a_version_on_without_a_start_asks_for_all_of_it():
    plan = plan_protocol_reads(log([8, 9], from_version=8))
    assert places(plan) == [commit_name(8)]
    assert "list from version 0" in plan.problems[0].reason


def test_the_limit_on_commits_makes_the_answer_older_and_says_so(monkeypatch):
    monkeypatch.setattr("lake.delta.replay.MOST_COMMITS", 4)
    plan = plan_protocol_reads(log(range(10)))
    assert (plan.version, versions(plan)) == (3, [0, 1, 2, 3])
    assert "More than 4 commits" in plan.problems[0].reason


@given(
    st.sets(st.integers(0, 30)),
    st.sets(st.integers(0, 30)),
    st.sets(st.integers(0, 30)),
    st.none() | st.integers(0, 30),
)
def test_any_plan_is_an_unbroken_run_from_its_start(commits, checksums, checkpoints, known):
    names = [checksum_name(version) for version in checksums] + [classic(version) for version in checkpoints]
    plan = plan_protocol_reads(log(commits, *names), known_version=known)
    run = versions(plan)
    assert run == list(range(run[0], run[0] + len(run))) if run else True
    if plan.anchor_version is not None and run:
        assert run[0] == plan.anchor_version + 1
    if plan.version is not None and not plan.problems:
        assert plan.version == max(commits | checkpoints)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([classic(3)], [classic(3)]),
        ([part(3, 2, 2), part(3, 1, 2)], [part(3, 1, 2), part(3, 2, 2)]),
        ([part(3, 1, 2)], []),
        ([part(3, 1, 2), part(3, 2, 3)], []),
        ([part(3, 1, 3), part(3, 1, 1)], [part(3, 1, 1)]),
        ([part(3, 1, 2), classic(3)], [classic(3)]),
        ([f"{3:020d}.checkpoint.{UUID}.json"], [f"{3:020d}.checkpoint.{UUID}.json"]),
        ([], []),
    ],
)
def test_a_checkpoint_is_usable_when_it_is_whole(names, expected):
    assert [found.name for found in usable_checkpoint([log_object(name) for name in names])] == expected


def test_an_empty_object_is_no_checkpoint():
    assert usable_checkpoint([log_object(classic(3), size=0)]) == ()


def test_the_newest_protocol_and_metadata_win_whatever_the_order():
    parts = [
        read_commit(5, commit_bytes(metadata(properties={"a": "2"}))),
        read_commit(0, first_commit_bytes({"a": "1"})),
        read_commit(4, commit_bytes(protocol(3, 7, readerFeatures=["x"]))),
        read_commit(6, commit_bytes()),
    ]
    state = fold_protocol(parts)
    assert (state.version, state.reader_version, state.reader_features) == (6, 3, ("x",))
    assert (state.properties, state.table_id) == ({"a": "2"}, UUID)


def test_the_parts_of_a_checkpoint_may_hold_one_half_each():
    contents = {part(3, 1, 2): checkpoint_bytes(add(), metadata()), part(3, 2, 2): checkpoint_bytes(protocol(2, 5))}
    plan = plan_protocol_reads(log(range(4), *contents))
    data = {found.name: contents[found.name] for found in plan.checkpoint}
    parts = [
        read_checkpoint_state(lambda first, last, of=name: data[of][first : last + 1], len(data[name]), name)
        for name in data
    ]
    state = fold_protocol(parts)
    assert (len(parts), state.version, state.writer_version, state.table_id) == (2, 3, 5, UUID)


@pytest.mark.parametrize("parts", [[], [StateParts(3)], [read_commit(0, commit_bytes(protocol()))]])
def test_half_a_state_is_none(parts):
    assert fold_protocol(parts) is None


def test_accepted_commits_follow_the_newest_published_one():
    listing = log(range(3), staged(3), staged(4))
    reads = plan_staged_reads(listing, read_registration(registration_item(4, [3, 4]), "commits"))
    assert [(read.version, read.names) for read in reads.commits] == [(3, (staged(3),)), (4, (staged(4),))]
    assert reads.problems == ()


def test_the_folder_of_older_releases_is_found():
    reads = plan_staged_reads(
        log(range(3), staged(3, "_commits/")), read_registration(registration_item(3, [3]), "commits")
    )
    assert reads.commits[0].names == (staged(3, "_commits/"),)


def test_both_folders_are_tried_where_they_were_not_listed():
    reads = plan_staged_reads(
        log(range(3), folders_listed=False), read_registration(registration_item(3, [3]), "commits")
    )
    assert reads.commits[0].names == (staged(3), staged(3, "_commits/"))


def test_stale_entries_are_left_out():
    reads = plan_staged_reads(log(range(5)), read_registration(registration_item(4, [3, 4]), "commits"))
    assert (reads.commits, reads.problems) == ((), ())


def test_accepted_commits_beyond_a_gap_are_not_read():
    reads = plan_staged_reads(log(range(3)), read_registration(registration_item(5, [3, 5]), "commits"))
    assert [read.version for read in reads.commits] == [3]
    assert places(reads) == [commit_name(4)]


def test_a_version_accepted_twice_is_not_read():
    reads = plan_staged_reads(log(range(3)), read_registration(registration_item(4, [3, 3, 4]), "commits"))
    assert (reads.commits, places(reads)) == ((), [commit_name(3)])


def test_an_accepted_commit_without_a_usable_name_is_not_read():
    element = coordinator_commit(3, fsName={"S": "../x"})
    reads = plan_staged_reads(
        log(range(3)), read_registration(registration_item(3, commits={"L": [element]}), "commits")
    )
    assert (reads.commits, places(reads)) == ((), [commit_name(3)])
