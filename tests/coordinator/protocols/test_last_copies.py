"""A published file that its temp or staged files contradict is never called healthy."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import Finding, State, Verdict
from lake.delta.facts import LogObject
from tests.builders.facts import (
    DAY,
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
    temp_name,
)

ONE, OTHER = staged_name(2, "one"), staged_name(2, "other")


def finding(verdict: Verdict, code: str) -> Finding | None:
    return next((one for one in verdict.findings if one.code == code), None)


def old(name: str, *, size: int = 900, etag: str = "x") -> LogObject:
    """A file older than a day whose size is not that of the published files."""
    return log_object(name, size=size, age=2 * DAY, etag=etag)


def test_a_published_file_that_equals_none_of_its_staged_files_is_unsafe() -> None:
    verdict = diagnose(coordinated_facts(listing(staged=[old(ONE), old(OTHER, size=901)]), registration(3)))
    found = finding(verdict, "bytes-differ")

    assert (verdict.state, finding(verdict, "K2")) == (State.UNSAFE, None)
    assert found is not None
    assert (found.version, found.repairs) == (2, ())
    assert verdict.summary.startswith("2.json holds other bytes than each of the 2 staged files of this version")


def test_files_of_the_published_size_count_by_their_bytes() -> None:
    log = listing(staged=[old(ONE, size=1_000), old(OTHER, size=1_000)])
    replaced = coordinated_facts(log, registration(3), copies={ONE: False, OTHER: False})
    backfilled = coordinated_facts(log, registration(3), copies={ONE: True, OTHER: False})

    assert diagnose(replaced).state is State.UNSAFE
    assert [one.code for one in diagnose(backfilled).findings] == ["K2"]


def test_what_was_not_compared_is_called_neither_a_loser_nor_replaced() -> None:
    log = listing(staged=[old(ONE, size=1_000), old(OTHER)])

    verdict = diagnose(coordinated_facts(log, registration(3)))

    assert [(one.code, one.evidence["names"]) for one in verdict.findings] == [("not-compared", [ONE])]
    assert "1 staged file was not compared with what is published" in verdict.findings[0].summary


@pytest.mark.parametrize("equal", [ONE, OTHER])
def test_one_equal_staged_file_is_enough(equal: str) -> None:
    staged = [log_object(name, age=2 * DAY) if name == equal else old(name) for name in (ONE, OTHER)]

    assert finding(diagnose(coordinated_facts(listing(staged=staged), registration(3))), "bytes-differ") is None


def test_a_version_published_after_the_listing_is_not_judged_by_it() -> None:
    """Its accepted staged file may have been staged after the folder was listed."""
    heads = {commit_name(4): log_object(commit_name(4))}
    log = listing(staged=[old(staged_name(4, "loser"))])
    verdict = diagnose(coordinated_facts(log, registration(4), heads=heads))

    assert (verdict.state, verdict.published_version) == (State.HEALTHY, 4)


def test_a_version_that_the_log_store_accepted_is_not_judged_by_staged_files() -> None:
    verdict = diagnose(coordinated_facts(listing(staged=[old(ONE)]), registration(3), entries=[entry(2)]))

    assert finding(verdict, "bytes-differ") is None


def test_a_listed_commit_is_judged_by_its_own_file() -> None:
    listed = coordinator_commit(2, name=ONE.partition("/")[2])
    verdict = diagnose(coordinated_facts(listing(staged=[log_object(ONE), old(OTHER)]), registration(3, listed)))

    assert finding(verdict, "bytes-differ") is None


def left_and_came_back(staged: Iterable[LogObject]) -> Verdict:
    """Versions up to 1 went through one registration; at 5 the table is with another, which may begin anywhere."""
    closed = registration(1, table_id="old", accepting=False)
    return diagnose(coordinated_facts(listing(range(6), staged=staged), registration(5), closed))


def test_a_refused_commit_between_two_coordinators_is_no_proof_of_a_loss() -> None:
    verdict = left_and_came_back([old(ONE)])
    found = finding(verdict, "undecided")

    assert (verdict.state, finding(verdict, "bytes-differ")) == (State.NOT_CHECKED, None)
    assert found is not None
    assert "whether it went through the coordinator is not known" in found.summary


def test_a_version_above_a_backfilled_one_went_through_the_coordinator() -> None:
    assert left_and_came_back([log_object(staged_name(2)), old(staged_name(3))]).state is State.UNSAFE


def test_a_version_that_a_registration_accepted_before_it_was_closed_is_judged() -> None:
    assert left_and_came_back([old(staged_name(1))]).state is State.UNSAFE


def test_a_registration_that_accepted_nothing_yet_decides_no_version() -> None:
    verdict = diagnose(coordinated_facts(listing(staged=[old(ONE)]), registration(3, accepted=False)))

    assert finding(verdict, "bytes-differ") is None


def test_a_staged_file_that_was_not_seen_to_be_accepted_is_no_sign_of_a_loss() -> None:
    seen = provenance(2, store="commits", file_name="00000000000000000002.gone.json")
    verdict = diagnose(coordinated_facts(listing(staged=[old(ONE)]), registration(3), seen=[seen]))

    assert [one.code for one in verdict.findings] == ["K2"]


def test_a_temp_file_that_contradicts_its_version_leaves_it_undecided() -> None:
    verdict = diagnose(log_store_facts(listing(age=2 * DAY, temp=[old(temp_name(1))]), entry(3)))
    found = finding(verdict, "undecided")

    assert verdict.state is State.NOT_CHECKED
    assert found is not None
    assert "its entry has expired" in found.summary
    assert found.repairs == ()


@pytest.mark.parametrize(
    "temp",
    [
        [log_object(temp_name(1), age=2 * DAY), old(temp_name(1, "loser"))],
        [old(temp_name(1), size=1_000)],
        [old("_commit_1.json.tmp")],
    ],
    ids=["a sibling equals it", "it was not compared", "it tells no version"],
)
def test_a_temp_file_that_contradicts_nothing_leaves_the_table_healthy(temp: list[LogObject]) -> None:
    assert diagnose(log_store_facts(listing(age=2 * DAY, temp=temp), entry(3))).state is State.HEALTHY


def test_a_complete_entry_whose_temp_file_holds_other_bytes_of_the_same_size_is_unsafe() -> None:
    log = listing(temp=[old(temp_name(3), size=1_000)])
    replaced = diagnose(log_store_facts(log, entry(3), copies={temp_name(3): False}))
    same = diagnose(log_store_facts(log, entry(3), copies={temp_name(3): True}))

    assert (replaced.state, finding(replaced, "bytes-differ") is not None) == (State.UNSAFE, True)
    assert finding(same, "bytes-differ") is None


def test_a_temp_file_that_was_seen_to_be_accepted_shows_that_its_version_was_replaced() -> None:
    seen = provenance(1, store="delta_log", file_name=temp_name(1))
    verdict = diagnose(log_store_facts(listing(age=2 * DAY, temp=[old(temp_name(1))]), entry(3), seen=[seen]))

    assert verdict.state is State.UNSAFE
    assert finding(verdict, "bytes-differ") is not None


def test_a_temp_file_beside_another_that_was_seen_to_be_accepted_is_a_losers() -> None:
    seen = provenance(1, age=2 * DAY, store="delta_log", file_name="_commit_1.json.tmp")
    verdict = diagnose(log_store_facts(listing(age=2 * DAY, temp=[old(temp_name(1))]), entry(3), seen=[seen]))

    assert verdict.state is State.HEALTHY


def test_a_temp_file_above_the_newest_version_needs_a_look_once_an_entry_may_have_expired() -> None:
    young = diagnose(log_store_facts(listing(age=2 * DAY, temp=[old(temp_name(4))]), entry(3), ttl_seconds=3 * DAY))
    expired = diagnose(log_store_facts(listing(age=2 * DAY, temp=[old(temp_name(4))]), entry(3)))

    assert (young.state, expired.state) == (State.HEALTHY, State.ATTENTION)
    assert finding(expired, "C1") is not None


def test_versions_whose_entries_were_not_all_kept_are_not_judged_by_their_temp_files() -> None:
    facts = log_store_facts(listing(age=2 * DAY, temp=[old(temp_name(1)), old(temp_name(2))]), entry(3))
    verdict = diagnose(replace(facts, entries_from=3))

    assert (verdict.state, finding(verdict, "C1")) == (State.HEALTHY, None)
