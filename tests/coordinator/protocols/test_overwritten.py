"""Settled versions whose published file is another one by now."""

import hashlib
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.log_view import LogView
from coordinator.protocols.needed_facts import MOST_COMMITS, wanted_commits, wanted_comparisons, wanted_heads
from coordinator.protocols.overwritten import judge_overwritten, proven_copies
from coordinator.protocols.verdict import Finding, Severity, State
from lake.delta.facts import LogListing, Provenance, TableFacts
from tests.builders.facts import (
    URI,
    commit_name,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_object,
    log_store_facts,
    provenance,
    registration,
    said,
    staged_name,
    table_facts,
    temp_name,
)

FIRST = provenance(2, etag="first")


def codes(facts: TableFacts) -> list[str]:
    return [one.code for one in judge_overwritten(LogView(facts))]


def the_finding(facts: TableFacts) -> Finding:
    return next(one for one in diagnose(facts).findings if one.code == "overwritten")


def test_a_file_of_another_length_is_overwritten() -> None:
    first = provenance(2, size=900, etag="first", in_commit_timestamp=7, file_name=temp_name(2), store="delta_log")
    facts = table_facts(listing(), seen=[first], infos=[said(2, in_commit_timestamp=8)])
    found = the_finding(facts)

    assert (found.severity, found.state, found.version) == (Severity.CRITICAL, State.UNSAFE, 2)
    assert found.summary == "Version 2 was overwritten: 2.json is not the file that was committed."
    before, now = found.evidence["first"], found.evidence["now"]
    assert (before["size"], before["etag"], before["in_commit_timestamp"]) == (900, "first", 7)
    assert (now["size"], now["etag"], now["in_commit_timestamp"]) == (1_000, "e", 8)
    assert before["seen_at"] < now["modified_at"] or before["seen_at"] == now["modified_at"]


def test_a_file_that_is_as_it_was_seen_is_not() -> None:
    assert codes(table_facts(listing(), seen=[provenance(2)])) == []


def test_a_file_that_was_proven_equal_once_is_not_asked_about_again() -> None:
    facts = table_facts(listing(), seen=[provenance(2, etag="first", copy_etag="e")])

    assert codes(facts) == []
    assert wanted_commits(facts) == ()


def test_a_version_that_was_never_seen_published_was_not_overwritten() -> None:
    waiting = Provenance(2, store="delta_log", file_name=temp_name(2))

    assert codes(table_facts(listing(), seen=[waiting])) == []


def test_other_bytes_of_the_same_length_are_overwritten() -> None:
    facts = table_facts(listing(), seen=[replace(FIRST, digest="d1")], infos=[said(2, digest="d2")])

    assert codes(facts) == ["overwritten"]


@pytest.mark.parametrize(
    ("what", "first"),
    [
        ("encrypted by KMS both times", replace(FIRST, digest="d1")),
        ("plain at first, encrypted now", replace(FIRST, etag="d1")),
    ],
)
def test_the_same_bytes_with_another_etag_are_not_overwritten(what: str, first: Provenance) -> None:
    facts = table_facts(listing(), seen=[first], infos=[said(2, digest="d1")])

    assert codes(facts) == [], what
    assert proven_copies(LogView(facts)) == {2: "e"}


@pytest.mark.parametrize("etag", ["9e107d9d372bb6826bd81d3542a419d6", "9e107d9d372bb6826bd81d3542a419d6-2"])
def test_an_etag_that_cannot_be_compared_alone_proves_nothing(etag: str) -> None:
    facts = table_facts(listing(), seen=[replace(FIRST, etag=etag)], infos=[said(2, digest="d2")])
    (found,) = judge_overwritten(LogView(facts))

    assert (found.code, found.severity, found.state) == ("undecided", Severity.WARNING, State.NOT_CHECKED)
    assert "the first bytes were not read" in found.summary


@pytest.mark.parametrize("name", ["in_commit_timestamp", "commit_timestamp"])
def test_another_time_in_the_file_proves_another_commit(name: str) -> None:
    info = replace(said(2), timestamp=11, in_commit_timestamp=11)

    assert codes(table_facts(listing(), seen=[replace(FIRST, **{name: 10})], infos=[info])) == ["overwritten"]


def test_the_same_time_in_the_file_proves_nothing() -> None:
    info = replace(said(2), timestamp=10, in_commit_timestamp=10)
    first = replace(FIRST, in_commit_timestamp=10, commit_timestamp=10)

    assert codes(table_facts(listing(), seen=[first], infos=[info])) == ["undecided"]


def test_what_an_older_file_in_its_place_said_proves_nothing() -> None:
    first = replace(FIRST, digest="d1")

    assert codes(table_facts(listing(), seen=[first], infos=[said(2, etag="older", digest="d2")])) == ["undecided"]


ACCEPTED = replace(FIRST, store="delta_log", file_name=temp_name(2))


@pytest.mark.parametrize(
    ("what", "temp", "equal", "found"),
    [
        ("an equal ETag", log_object(temp_name(2)), {}, []),
        ("equal bytes", log_object(temp_name(2), etag="t"), {2: True}, []),
        ("other bytes", log_object(temp_name(2), etag="t"), {2: False}, ["overwritten"]),
        ("not compared", log_object(temp_name(2), etag="t"), {}, ["undecided"]),
    ],
)
def test_the_accepted_file_decides_where_it_survives(what, temp, equal, found) -> None:
    facts = log_store_facts(listing(temp=[temp]), entry(3), equal_bytes=equal, seen=[ACCEPTED])

    assert codes(facts) == found, what


def test_the_accepted_file_that_is_as_it_was_is_named() -> None:
    temp = log_object(temp_name(2), etag="t")
    facts = log_store_facts(
        listing(temp=[temp]), entry(3), equal_bytes={2: False}, seen=[replace(ACCEPTED, accepted_etag="t")]
    )

    assert the_finding(facts).summary.endswith(f"not the file that was committed. {temp_name(2)} still holds what was.")


def test_an_accepted_file_that_may_have_changed_is_no_survivor() -> None:
    temp = log_object(temp_name(2), etag="t")
    facts = log_store_facts(listing(temp=[temp]), entry(3), equal_bytes={2: False}, seen=[ACCEPTED])

    assert the_finding(facts).evidence["survivors"] == []


def test_another_file_with_the_first_bytes_is_named_as_well() -> None:
    copy = log_object(staged_name(2), size=900, etag="first")
    facts = table_facts(listing(staged=[copy]), seen=[replace(FIRST, size=900)])

    assert the_finding(facts).evidence["survivors"] == [staged_name(2)]


def test_the_accepted_bytes_put_back_end_the_finding_whatever_was_seen_first() -> None:
    first = replace(ACCEPTED, size=900, digest="foreign", accepted_size=1_000, accepted_etag="e")

    assert codes(table_facts(listing(), seen=[first], infos=[said(2, digest="d")])) == []


def test_of_a_disputed_version_no_accepted_file_decides() -> None:
    facts = log_store_facts(
        listing(temp=[log_object(temp_name(2))]), entry(3), seen=[replace(ACCEPTED, disputed=True)], infos=[said(2)]
    )

    assert codes(facts) == ["undecided"]


def test_a_file_that_is_not_as_long_as_the_accepted_one_was_is_overwritten_once_its_entry_has_gone() -> None:
    seen = provenance(2, store="delta_log", file_name=temp_name(2), accepted_size=900)
    facts = log_store_facts(listing(), entry(3), seen=[seen])

    assert codes(facts) == ["overwritten"]


def test_while_its_entry_is_there_the_states_say_that_a_file_is_another_one() -> None:
    seen = provenance(2, store="delta_log", file_name=temp_name(2), accepted_size=900)
    facts = log_store_facts(
        listing(temp=[log_object(temp_name(2), size=900)]), *(entry(v) for v in range(4)), seen=[seen]
    )

    assert [one.code for one in diagnose(facts).findings] == ["bytes-differ"]


def test_a_file_with_another_time_than_the_coordinator_accepted_is_overwritten() -> None:
    seen = provenance(2, store="commits", accepted_timestamp=10)
    facts = coordinated_facts(listing(), registration(3))
    facts = replace(facts, provenance={2: seen}, commit_infos={2: said(2, in_commit_timestamp=11)})

    assert codes(facts) == ["overwritten"]


@pytest.mark.parametrize("item", [registration(2), registration(3, coordinator_commit(2), coordinator_commit(3))])
def test_a_version_that_a_registration_speaks_of_is_left_to_its_states(item) -> None:
    seen = provenance(2, store="commits", accepted_timestamp=10, accepted_size=1)
    facts = coordinated_facts(listing(range(item.table_version + 1)), item)
    facts = replace(facts, provenance={2: seen}, commit_infos={2: said(2, in_commit_timestamp=11)})

    assert "overwritten" not in codes(facts)


def test_of_very_many_the_newest_are_named_and_all_are_counted() -> None:
    facts = table_facts(listing(range(60)), seen=[provenance(v, size=900) for v in range(5, 60)])
    found = [one for one in diagnose(facts).findings if one.code == "overwritten"]

    assert (len(found), found[0].version, found[0].evidence["overwritten_versions"]) == (20, 59, 55)


def test_what_cannot_be_decided_is_one_finding() -> None:
    facts = table_facts(listing(range(10)), seen=[provenance(v, etag="first") for v in range(4, 9)])

    (found,) = judge_overwritten(LogView(facts))

    assert found.summary.startswith("Whether versions 4 to 8 were overwritten cannot be decided")


def test_only_what_may_decide_is_read() -> None:
    seen = [provenance(0), provenance(1, size=900), provenance(2, etag="first"), provenance(3, etag="first")]
    facts = table_facts(listing(), seen=seen, infos=[said(3)])

    assert wanted_commits(facts) == (2,)


def test_no_more_is_read_at_once_than_a_limit_and_the_newest_first() -> None:
    facts = table_facts(listing(range(99)), seen=[provenance(v, etag="first") for v in range(99)])

    assert wanted_commits(facts) == tuple(range(98, 98 - MOST_COMMITS, -1))


def test_an_accepted_file_that_was_not_listed_is_looked_up_and_compared() -> None:
    facts = log_store_facts(listing(temp=None), entry(3), seen=[ACCEPTED])
    looked = replace(facts, heads={temp_name(2): log_object(temp_name(2), etag="t")})

    assert temp_name(2) in wanted_heads(facts)
    assert (2, temp_name(2), commit_name(2)) in wanted_comparisons(looked)


@dataclass(frozen=True)
class Put:
    """One PUT of a version's file: its bytes, and how S3 stores them."""

    data: bytes
    kind: str
    number: int

    @property
    def etag(self) -> str:
        random = hashlib.md5(f"{self.number}".encode(), usedforsecurity=False).hexdigest()
        return {
            "plain": hashlib.md5(self.data, usedforsecurity=False).hexdigest(),
            "kms": random,
            "parts": f"{random}-2",
        }[self.kind]


BYTES = [b"one", b"two", b"longer"]
kinds = st.sampled_from(["plain", "plain", "kms", "parts"])


@dataclass(frozen=True)
class Settled:
    """A version as it was put, read at first sight or not, accepted with a temp file that survives or not, and now."""

    first: Put
    now: Put
    was_read: bool
    temp: Put | None


@st.composite
def settled(draw: st.DrawFn) -> Settled:
    data = draw(st.sampled_from(BYTES))
    first = Put(data, draw(kinds), draw(st.integers(0, 99)))
    again = Put(draw(st.sampled_from([data, *BYTES])), draw(kinds), draw(st.integers(100, 199)))
    temp = Put(data, draw(kinds), draw(st.integers(200, 299)))
    return Settled(
        first, draw(st.sampled_from([first, again, again])), draw(st.booleans()), draw(st.sampled_from([None, temp]))
    )


def read_in_full(versions: dict[int, Settled]) -> TableFacts:
    """Facts as a pass reads them: the listing, what was kept, and then whatever diagnosis asks for."""
    log = LogListing(
        0,
        {v: log_object(commit_name(v), size=len(one.now.data), etag=one.now.etag) for v, one in versions.items()},
        temp_files=tuple(
            log_object(temp_name(v), size=len(one.temp.data), etag=one.temp.etag)
            for v, one in versions.items()
            if one.temp
        ),
        staged=(),
    )
    facts = table_facts(log, seen=[kept(v, one) for v, one in versions.items()])
    infos = {v: said(v, etag=versions[v].now.etag, digest=md5(versions[v].now)) for v in wanted_commits(facts)}
    facts = replace(facts, commit_infos=infos)
    equal = {copy: versions[v].temp.data == versions[v].now.data for v, copy, _ in wanted_comparisons(facts)}
    return replace(facts, equal_bytes=equal)


def md5(put: Put) -> str:
    return hashlib.md5(put.data, usedforsecurity=False).hexdigest()


def kept(version: int, one: Settled) -> Provenance:
    file = temp_name(version) if one.temp else None
    digest = md5(one.first) if one.was_read else None
    known = provenance(version, size=len(one.first.data), etag=one.first.etag, digest=digest)
    return replace(known, store="delta_log" if file else None, file_name=file, lock_domain=URI if file else None)


@given(st.lists(settled(), min_size=1, max_size=8))
def test_an_overwritten_version_is_never_passed_over_and_no_other_is_alarming(past: list[Settled]) -> None:
    versions = dict(enumerate(past))
    findings = [one for one in diagnose(read_in_full(versions)).findings if one.code in ("overwritten", "undecided")]
    alarmed = {one.version for one in findings if one.code == "overwritten"}
    changed = {version for version, one in versions.items() if one.now.data != one.first.data}
    told = " ".join(one.summary for one in findings if one.code == "undecided")

    assert alarmed <= changed
    drawn_together = " to " in told or " more " in told
    assert all(drawn_together or str(version) in told for version in changed - alarmed)
    assert all(one.was_read is False for version, one in versions.items() if version in changed - alarmed)


@given(st.lists(settled().filter(lambda one: one.was_read), min_size=1, max_size=8))
def test_what_was_read_at_first_sight_is_always_decided(past: list[Settled]) -> None:
    versions = dict(enumerate(past))
    facts = read_in_full(versions)
    alarmed = {one.version for one in diagnose(facts).findings if one.code == "overwritten"}

    assert alarmed == {version for version, one in versions.items() if one.now.data != one.first.data}
