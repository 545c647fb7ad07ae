"""What temp and staged files tell of a version, and which files findings leave as last copies or say are lost."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from coordinator.protocols.last_copies import MOST_FILES, lost_files, was_seen
from coordinator.protocols.verdict import Absence, Finding, State, Verdict, attention, blocked
from lake.delta.facts import LogObject, Provenance, TableFacts
from tests.builders.facts import (
    DAY,
    STORE,
    commit_name,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_object,
    log_store_facts,
    provenance,
    registration,
    staged_name,
    table_facts,
    temp_name,
)
from tests.coordinator.protocols.judged import codes, finding, verdict_of

ONE, OTHER = staged_name(2, "one"), staged_name(2, "other")


def old(name: str, *, size: int = 900) -> LogObject:
    """A file older than a day whose size is not that of the published files."""
    return log_object(name, size=size, age=2 * DAY, etag="x")


def staged(*files: LogObject, at: int = 3, listed: Any = (), others: Any = (), **facts: Any) -> TableFacts:
    log = listing(range(facts.pop("published", 4)), staged=files)
    return coordinated_facts(log, registration(at, *listed, accepted=facts.pop("accepted", True)), *others, **facts)


SAME_SIZE = [old(ONE, size=1_000), old(OTHER, size=1_000)]
CLOSED = {"at": 5, "published": 6, "others": [registration(1, table_id="old", accepting=False)]}
"""Versions up to 1 went through one registration; at 5 the table is with another, which may begin anywhere."""


def test_a_published_file_that_equals_none_of_its_staged_files_is_unsafe() -> None:
    verdict = verdict_of(staged(old(ONE), old(OTHER, size=901)))
    found = finding(verdict, "bytes-differ")

    assert (verdict.state, found.version, found.repairs) == (State.UNSAFE, 2, ())
    assert "K2" not in codes(verdict)
    assert verdict.summary.startswith("…2.json holds other bytes than each of the 2 staged files of this version")


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        (staged(*SAME_SIZE, copies={ONE: False, OTHER: False}), ["bytes-differ"]),
        (staged(*SAME_SIZE, copies={ONE: True, OTHER: False}), ["K2"]),
        (staged(log_object(ONE, age=2 * DAY), old(OTHER)), ["K2"]),
        (staged(old(ONE, size=1_000), old(OTHER)), ["not-compared"]),
        (staged(old(ONE), entries=[entry(2)]), ["both-mechanisms"]),
        (staged(log_object(ONE), old(OTHER), listed=[coordinator_commit(2, name=ONE.partition("/")[2])]), ["K4", "K2"]),
        (staged(old(staged_name(4, "loser")), at=4, heads={commit_name(4): log_object(commit_name(4))}), []),
        (staged(old(ONE), accepted=False), ["K1"]),
        (staged(old(ONE), seen=[provenance(2, store="commits", file_name=f"{2:020d}.gone.json")]), ["K2"]),
        (staged(old(ONE), **CLOSED), ["undecided", "K10", "K11"]),
        (staged(log_object(staged_name(2)), old(staged_name(3)), **CLOSED), ["bytes-differ", "K10", "K11"]),
        (staged(old(staged_name(1)), **CLOSED), ["bytes-differ", "K10", "K11"]),
    ],
    ids=[
        "compared, all differ", "compared, one is equal", "an equal ETag", "not compared", "the log store accepted it",
        "listed", "published after the listing", "nothing accepted yet", "another was seen accepted",
        "between two coordinators", "above a backfilled one", "accepted before it was closed",
    ],
)  # fmt: skip
def test_staged_files_contradict_a_version_that_went_through_the_coordinator(facts, found) -> None:
    assert codes(facts) == found


def test_a_staged_file_that_was_not_compared_is_named() -> None:
    uncompared = finding(staged(old(ONE, size=1_000), old(OTHER)), "not-compared")

    assert uncompared.evidence["names"] == [ONE]


def temps(*files: LogObject, **facts: Any) -> TableFacts:
    return log_store_facts(listing(age=2 * DAY, temp=files), entry(3), **facts)


BY_ENTRY = {"store": "delta_log", "age": 2 * DAY}
SAME = old(temp_name(3), size=1_000)


@pytest.mark.parametrize(
    ("facts", "found", "state"),
    [
        (temps(old(temp_name(1))), ["undecided"], State.NOT_CHECKED),
        (temps(log_object(temp_name(1), age=2 * DAY), old(temp_name(1, "loser"))), [], State.HEALTHY),
        (temps(old(temp_name(1), size=1_000)), ["not-compared"], State.HEALTHY),
        (temps(old("_commit_1.json.tmp")), ["C1"], State.HEALTHY),
        (temps(SAME, copies={SAME.name: False}), ["bytes-differ"], State.UNSAFE),
        (temps(SAME, copies={SAME.name: True}), [], State.HEALTHY),
        (
            temps(old(temp_name(1)), seen=[provenance(1, file_name=temp_name(1), **BY_ENTRY)]),
            ["bytes-differ"],
            State.UNSAFE,
        ),
        (temps(old(temp_name(1)), seen=[provenance(1, file_name="_commit_1.json.tmp", **BY_ENTRY)]), [], State.HEALTHY),
        (temps(old(temp_name(4)), ttl_seconds=3 * DAY), ["C1"], State.HEALTHY),
        (temps(old(temp_name(4))), ["C1"], State.ATTENTION),
        (temps(old(temp_name(1)), old(temp_name(2)), entries_from=3), [], State.HEALTHY),
    ],
    ids=[
        "its entry has expired", "a sibling equals it", "it was not compared", "it tells no version",
        "named, other bytes", "named, equal", "seen accepted", "another was seen accepted",
        "unpublished, an entry would live", "unpublished, an entry may have expired", "entries were not all kept",
    ],
)  # fmt: skip
def test_temp_files_contradict_a_version_whose_entry_has_expired(facts, found, state) -> None:
    verdict = verdict_of(facts)

    assert (codes(verdict), verdict.state) == (found, state)


A, B = temp_name(3, "aaaa"), temp_name(3, "bbbb")
BARE = "_commit_6f1c2d3e-0000-4000-8000-000000000000.json.tmp"
KNOWN = provenance(3, store=STORE, file_name=A, accepted_size=1_000, accepted_etag="ea", etag="ea")


def kept(finding: Finding) -> list[str]:
    told = finding.evidence.get("last_copies", [])
    return [one["file"] for one in told]  # type: ignore[attr-defined]


def lost(finding: Finding) -> dict[int, list[str]]:
    told = finding.evidence.get("lost_files", [])
    return {one["version"]: one["files"] for one in told}  # type: ignore[attr-defined]


def replaced(*temp: LogObject, seen: Provenance = KNOWN, entries: Any = (), **facts: Any) -> TableFacts:
    """Another file stands where version 3 was."""
    log = listing(temp=temp)
    log = replace(log, commits={**log.commits, 3: log_object(commit_name(3), etag="x", size=900)})
    return log_store_facts(log, *entries, seen=[seen], **facts)


def test_an_overwritten_version_leaves_the_copy_that_was_accepted() -> None:
    found = finding(replaced(log_object(A, etag="ea"), log_object(B, etag="x", size=900)), "overwritten")

    assert (kept(found), lost(found)) == ([A], {})
    (told,) = found.evidence["last_copies"]  # type: ignore[misc]
    assert (told["version"], told["size"]) == (3, 1_000)
    assert datetime.fromisoformat(told["written_at"]) == log_object(A).modified_at


HOLE = table_facts(listing([0, 3, 4], temp=[temp_name(1)]))
GONE = log_store_facts(
    listing(range(2), temp=[A, temp_name(2)]),
    heads={commit_name(version): None for version in (2, 3)},
    seen=[provenance(2), KNOWN],
)
OF_DELTA_RS = replaced(
    log_object(BARE, etag="ea"),
    seen=replace(KNOWN, file_name=BARE, etag="x", size=900),
    entries=[entry(3, temp=BARE)],
    equal_bytes={BARE: False},
)
NAMED = log_store_facts(listing(temp=[A, B]), entry(3, temp=A), copies={A: False, B: True}, equal_bytes={A: False})
PROVEN = log_store_facts(listing(), seen=[replace(KNOWN, etag="e", differs_etag="e")])
STAGED = coordinated_facts(listing(staged=[]), registration(4, coordinator_commit(4)))
OLD = log_store_facts(
    listing(temp=[log_object(temp_name(4, "old"), age=2 * DAY), log_object(temp_name(4, "new"), age=60)]), entry(3)
)


@pytest.mark.parametrize(
    ("code", "facts", "copies", "files"),
    [
        ("overwritten", replaced(), [], {3: [commit_name(3), A]}),
        ("bytes-differ", PROVEN, [], {3: [commit_name(3), A]}),
        ("bytes-differ", NAMED, [A], {}),
        ("bytes-differ", OF_DELTA_RS, [BARE], {}),
        ("vanished", GONE, [temp_name(2), A], {3: [commit_name(3)], 2: [commit_name(2)]}),
        ("version-hole", HOLE, [temp_name(1)], {2: [commit_name(2)], 1: [commit_name(1)]}),
        ("K7", STAGED, [], {4: [staged_name(4), staged_name(4, folder="_commits")]}),
        ("C1", OLD, [temp_name(4, "old")], {}),
    ],
)
def test_a_finding_says_what_is_left_and_what_is_lost(code: str, facts: TableFacts, copies: Any, files: Any) -> None:
    found = finding(facts, code)

    assert (sorted(kept(found)), lost(found)) == (sorted(copies), files)


def test_versions_that_cannot_be_decided_leave_every_file_of_theirs() -> None:
    files = [temp_name(1), temp_name(2), temp_name(3)]
    facts = log_store_facts(listing(temp=files), copies={files[0]: False, files[1]: True, files[2]: False})

    found = [kept(one) for one in verdict_of(facts).findings if "is the accepted one" in one.summary]
    assert found == [[files[0], files[2]]]


@pytest.mark.parametrize("copies", [{A: True}, {}])
def test_a_sound_table_leaves_none(copies: dict[str, bool]) -> None:
    verdict = verdict_of(log_store_facts(listing(temp=[A]), entry(3, temp=A), copies=copies))

    assert not any(kept(one) or lost(one) for one in verdict.findings)


def test_the_commits_own_file_and_the_accepted_one_are_looked_for() -> None:
    verdict = verdict_of(log_store_facts(listing(range(3), temp=[temp_name(2)]), *(entry(v) for v in range(4))))
    staged = [(4, name) for name in (commit_name(4), staged_name(4), staged_name(4, folder="_commits"))]

    assert set(lost_files(finding(verdict, "C7"), verdict)) == {(3, commit_name(3)), (3, temp_name(3))}
    assert set(lost_files(finding(STAGED, "K7"), verdict_of(STAGED))) == set(staged)


NOTHING = Verdict(State.BLOCKED, "", 0, 0)


def test_of_a_long_gap_only_some_are_looked_for_and_of_a_quiet_one_none() -> None:
    gap = (Absence("commit file", 1, 10**15),)

    assert len(list(lost_files(blocked("version-hole", "A gap.", absent=gap), NOTHING))) == MOST_FILES
    assert list(lost_files(attention("version-hole", "A gap.", absent=gap), NOTHING)) == []


@pytest.mark.parametrize("what", ["entry", "the log", "registration 7", ""])
def test_what_is_no_file_of_the_log_is_not_looked_for(what: str) -> None:
    assert list(lost_files(blocked("C7", "Gone.", absent=(Absence(what, 1, 1),)), NOTHING)) == []


SEEN = Provenance(3, size=573, etag="c07a", store=STORE, file_name=A, accepted_size=573, accepted_etag="a001")


@pytest.mark.parametrize(
    ("known", "name", "size", "etag", "is_it"),
    [
        (SEEN, commit_name(3), 573, "c07a", True),
        (SEEN, A, 573, "a001", True),
        (None, commit_name(3), 573, "c07a", False),
        (SEEN, commit_name(3), 574, "c07a", False),
        (SEEN, commit_name(3), 573, "other", False),
        (SEEN, A, 573, "c07a", False),
        (SEEN, A, 574, "a001", False),
        (SEEN, B, 573, "a001", False),
        (replace(SEEN, disputed=True), commit_name(3), 573, "c07a", False),
        (replace(SEEN, disputed=True), A, 573, "a001", False),
        (replace(SEEN, differs_etag="c07a"), commit_name(3), 573, "c07a", False),
    ],
)
def test_the_file_that_was_seen_is_known_by_length_and_etag(known, name, size, etag, is_it) -> None:
    assert was_seen(known, name, size, etag) is is_it
