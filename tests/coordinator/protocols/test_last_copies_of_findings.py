"""Which files a finding leaves as the last copies of a commit, and which it says are lost."""

from dataclasses import replace
from datetime import datetime

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import Finding
from lake.delta.facts import LogListing, TableFacts
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

A, B = temp_name(3, "aaaa"), temp_name(3, "bbbb")


def the(code: str, facts: TableFacts) -> Finding:
    (found,) = (one for one in diagnose(facts).findings if one.code == code)
    return found


def kept(finding: Finding) -> list[str]:
    told = finding.evidence.get("last_copies", [])
    return [one["file"] for one in told]  # type: ignore[attr-defined]


def lost(finding: Finding) -> dict[int, list[str]]:
    told = finding.evidence.get("lost_files", [])
    return {one["version"]: one["files"] for one in told}  # type: ignore[attr-defined]


def replaced_by(etag: str, log: LogListing) -> LogListing:
    return replace(log, commits={**log.commits, 3: log_object(commit_name(3), etag=etag, size=900)})


def known(**more: object) -> object:
    return provenance(3, store=STORE, file_name=A, accepted_size=1_000, accepted_etag="ea", etag="ea", **more)


def test_an_overwritten_version_leaves_the_copy_that_was_accepted() -> None:
    log = replaced_by("x", listing(temp=[log_object(A, etag="ea"), log_object(B, etag="x", size=900)]))
    found = the("overwritten", log_store_facts(log, seen=[known()]))

    assert (kept(found), lost(found)) == ([A], {})
    (told,) = found.evidence["last_copies"]  # type: ignore[misc]
    assert (told["version"], told["size"]) == (3, 1_000)
    assert datetime.fromisoformat(told["written_at"]) == log_object(A).modified_at


def test_an_overwritten_version_without_a_copy_has_lost_its_file_and_the_accepted_one() -> None:
    found = the("overwritten", log_store_facts(replaced_by("x", listing()), seen=[known()]))

    assert (kept(found), lost(found)) == ([], {3: [commit_name(3), A]})


def test_a_replaced_file_of_which_only_the_proof_is_left_has_lost_the_accepted_one() -> None:
    log = listing()
    found = the("bytes-differ", log_store_facts(log, seen=[replace(known(), etag="e", differs_etag="e")]))

    assert lost(found) == {3: [commit_name(3), A]}


def test_a_replaced_file_leaves_the_temp_file_that_its_entry_names() -> None:
    log = listing(temp=[A, B])
    facts = log_store_facts(log, entry(3, temp=A), copies={A: False, B: True}, equal_bytes={A: False})

    assert kept(the("bytes-differ", facts)) == [A]


def test_a_file_whose_name_says_no_version_is_kept_as_well() -> None:
    name = "_commit_6f1c2d3e-0000-4000-8000-000000000000.json.tmp"
    one = replace(known(), file_name=name, etag="x", size=900)
    log = replaced_by("x", listing(temp=[log_object(name, etag="ea")]))
    facts = log_store_facts(log, entry(3, temp=name), equal_bytes={name: False}, seen=[one])

    assert kept(the("bytes-differ", facts)) == [name]


def test_vanished_versions_leave_their_copies_and_have_lost_their_files() -> None:
    heads = {commit_name(version): None for version in (2, 3)}
    seen = [provenance(2), known()]
    found = the("vanished", log_store_facts(listing(range(2), temp=[A, temp_name(2)]), heads=heads, seen=seen))

    assert (sorted(kept(found)), lost(found)) == (sorted([A, temp_name(2)]), {3: [commit_name(3)], 2: [commit_name(2)]})


def test_a_gap_leaves_what_lies_beside_it_and_has_lost_its_files() -> None:
    facts = table_facts(listing([0, 3, 4], temp=[temp_name(1)]))
    found = the("version-hole", facts)

    assert (kept(found), lost(found)) == ([temp_name(1)], {2: [commit_name(2)], 1: [commit_name(1)]})


def test_a_lost_staged_file_may_be_kept_in_either_folder() -> None:
    facts = coordinated_facts(listing(staged=[]), registration(4, coordinator_commit(4)))
    name = staged_name(4).partition("/")[2]

    assert lost(the("K7", facts)) == {4: [f"_staged_commits/{name}", f"_commits/{name}"]}


def test_versions_that_cannot_be_decided_leave_every_file_of_theirs() -> None:
    files = [temp_name(1), temp_name(2), temp_name(3)]
    facts = log_store_facts(listing(temp=files), copies={files[0]: False, files[1]: True, files[2]: False})

    found = [kept(one) for one in diagnose(facts).findings if "is the accepted one" in one.summary]
    assert found == [[files[0], files[2]]]


def test_old_files_of_which_nothing_tells_that_they_lost_are_left_too() -> None:
    old, young = log_object(temp_name(4, "old"), age=2 * DAY), log_object(temp_name(4, "new"), age=60)
    facts = log_store_facts(listing(temp=[old, young]), entry(3))

    assert kept(the("C1", facts)) == [old.name]


@pytest.mark.parametrize("copies", [{A: True}, {}])
def test_a_sound_table_leaves_none(copies: dict[str, bool]) -> None:
    verdict = diagnose(log_store_facts(listing(temp=[A]), entry(3, temp=A), copies=copies))

    assert [kept(one) or lost(one) for one in verdict.findings if kept(one) or lost(one)] == []
