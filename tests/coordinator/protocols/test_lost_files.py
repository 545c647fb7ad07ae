"""Which files a loud finding misses, and whether an older version of one is the file that was seen."""

from dataclasses import replace
from typing import Any

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.last_copies import MOST_FILES, lost_files, was_seen
from coordinator.protocols.names import commit_name
from coordinator.protocols.verdict import Absence, Finding, Severity, State, Verdict
from lake.delta.facts import Provenance
from tests.builders.facts import (
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_store_facts,
    registration,
    temp_name,
)

SEEN = Provenance(
    7, size=573, etag="c07a", store="delta_log", file_name=temp_name(7), accepted_size=573, accepted_etag="a001"
)


def names(verdict: Verdict, code: str) -> list[str]:
    finding = next(one for one in verdict.findings if one.code == code)
    return list(dict.fromkeys(name for _, name in lost_files(finding, verdict)))


def test_of_a_lost_commit_both_its_file_and_the_accepted_temp_file_are_missed() -> None:
    temps = [temp_name(version) for version in range(3)]
    verdict = diagnose(log_store_facts(listing(range(3), temp=temps), *(entry(version) for version in range(4))))
    assert names(verdict, "C7") == [commit_name(3), temp_name(3)]


def test_a_staged_file_may_lie_in_either_folder() -> None:
    verdict = diagnose(coordinated_facts(listing(range(4)), registration(4, coordinator_commit(4))))
    bare = coordinator_commit(4).file_name
    assert names(verdict, "K7") == [commit_name(4), f"_staged_commits/{bare}", f"_commits/{bare}"]


def loud(state: State = State.BLOCKED, *absent: Absence) -> Finding:
    return Finding("version-hole", "A gap.", absent=absent, severity=Severity.CRITICAL, state=state)


def test_of_a_long_gap_only_some_are_looked_for() -> None:
    gap = loud(State.BLOCKED, Absence("commit file", 1, 10**15))
    assert len(list(lost_files(gap, Verdict(State.BLOCKED, "", 0, 0)))) == MOST_FILES


@pytest.mark.parametrize("what", ["entry", "the log", "registration 7", ""])
def test_what_is_no_file_of_the_log_is_not_looked_for(what: str) -> None:
    assert list(lost_files(loud(State.BLOCKED, Absence(what, 1, 1)), Verdict(State.BLOCKED, "", 0, 0))) == []


def test_a_quiet_finding_misses_nothing_worth_a_request() -> None:
    quiet = loud(State.ATTENTION, Absence("commit file", 1, 1))
    assert list(lost_files(quiet, Verdict(State.ATTENTION, "", 0, 0))) == []


def test_the_file_that_was_seen_is_known_by_length_and_etag() -> None:
    assert was_seen(SEEN, commit_name(7), 573, "c07a")
    assert was_seen(SEEN, temp_name(7), 573, "a001")


@pytest.mark.parametrize(
    ("known", "name", "size", "etag"),
    [
        (None, commit_name(7), 573, "c07a"),
        (SEEN, commit_name(7), 574, "c07a"),
        (SEEN, commit_name(7), 573, "other"),
        (SEEN, temp_name(7), 573, "c07a"),
        (SEEN, temp_name(7), 574, "a001"),
        (SEEN, temp_name(7, "another"), 573, "a001"),
        (replace(SEEN, disputed=True), commit_name(7), 573, "c07a"),
        (replace(SEEN, disputed=True), temp_name(7), 573, "a001"),
        (replace(SEEN, differs_etag="c07a"), commit_name(7), 573, "c07a"),
    ],
)
def test_nothing_else_is_taken_for_it(known: Any, name: str, size: int, etag: str) -> None:
    assert not was_seen(known, name, size, etag)
