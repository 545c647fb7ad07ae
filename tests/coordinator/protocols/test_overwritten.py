"""Settled versions whose published file is another one by now."""

import hashlib
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.protocols.log_view import LogView
from coordinator.protocols.needed_facts import MOST_COMMITS, wanted_commits, wanted_comparisons, wanted_heads
from coordinator.protocols.overwritten import judge_overwritten, proven_copies
from coordinator.protocols.verdict import Severity, State
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
from tests.coordinator.protocols.judged import finding, verdict_of

FIRST = provenance(2, etag="first")


def codes(facts: TableFacts) -> list[str]:
    return [one.code for one in judge_overwritten(LogView(facts))]


def test_a_file_of_another_length_is_overwritten() -> None:
    first = provenance(2, size=900, etag="first", in_commit_timestamp=7, file_name=temp_name(2), store="delta_log")
    found = finding(table_facts(seen=[first], infos=[said(2, in_commit_timestamp=8)]), "overwritten")

    assert (found.severity, found.state, found.version) == (Severity.CRITICAL, State.UNSAFE, 2)
    assert found.summary == "Version 2 was overwritten: …2.json is not the file that was committed."
    before, now = found.evidence["first"], found.evidence["now"]
    assert (before["size"], before["etag"], before["in_commit_timestamp"]) == (900, "first", 7)
    assert (now["size"], now["etag"], now["in_commit_timestamp"]) == (1_000, "e", 8)


LOG_STORE = {"store": "delta_log", "file_name": temp_name(2)}
ACCEPTED = replace(FIRST, **LOG_STORE)
MD5, PARTS = "9e107d9d372bb6826bd81d3542a419d6", "9e107d9d372bb6826bd81d3542a419d6-2"
SAID_10 = replace(said(2), timestamp=10, in_commit_timestamp=10)


@pytest.mark.parametrize(
    ("first", "info", "found"),
    [
        (provenance(2), None, []),
        (replace(FIRST, copy_etag="e"), None, []),
        (Provenance(2, **LOG_STORE), None, []),
        (replace(FIRST, digest="d1"), said(2, digest="d2"), ["overwritten"]),
        (replace(FIRST, digest="d1"), said(2, etag="older", digest="d2"), ["undecided"]),
        (replace(FIRST, etag=MD5), said(2, digest="d2"), ["undecided"]),
        (replace(FIRST, etag=PARTS), said(2, digest="d2"), ["undecided"]),
        (replace(FIRST, in_commit_timestamp=11), SAID_10, ["overwritten"]),
        (replace(FIRST, commit_timestamp=11), SAID_10, ["overwritten"]),
        (replace(FIRST, in_commit_timestamp=10, commit_timestamp=10), SAID_10, ["undecided"]),
        (replace(ACCEPTED, size=900, accepted_size=1_000, accepted_etag="e"), said(2, digest="d"), []),
        (replace(ACCEPTED, disputed=True), said(2), ["undecided"]),
        (provenance(2, **LOG_STORE, accepted_size=900), None, ["overwritten"]),
        (provenance(2, store="commits", accepted_timestamp=11), SAID_10, ["overwritten"]),
    ],
    ids=[
        "as it was seen", "proven equal once", "never seen published", "other bytes", "another file said so",
        "an ETag alone", "an ETag of parts", "another in-commit timestamp", "another timestamp", "the same times",
        "the accepted bytes put back", "disputed", "not as long as the accepted one", "not of the accepted time",
    ],
)  # fmt: skip
def test_a_file_that_was_put_again_is_held_against_what_was_accepted_or_seen_first(first, info, found) -> None:
    log = listing(temp=[log_object(temp_name(2))] if first.disputed else ())

    assert codes(log_store_facts(log, entry(3), seen=[first], infos=[info] if info else ())) == found


@pytest.mark.parametrize("first", [replace(FIRST, digest="d1"), replace(FIRST, etag="d1")], ids=["KMS", "KMS now"])
def test_the_same_bytes_with_another_etag_are_not_overwritten(first: Provenance) -> None:
    facts = table_facts(seen=[first], infos=[said(2, digest="d1")])

    assert codes(facts) == []
    assert proven_copies(LogView(facts)) == {2: "e"}


@pytest.mark.parametrize(
    ("etag", "equal", "found"),
    [("e", {}, []), ("t", {2: True}, []), ("t", {2: False}, ["overwritten"]), ("t", {}, ["undecided"])],
)
def test_the_accepted_file_decides_where_it_survives(etag, equal, found) -> None:
    temp = [log_object(temp_name(2), etag=etag)]

    assert codes(log_store_facts(listing(temp=temp), entry(3), equal_bytes=equal, seen=[ACCEPTED])) == found


def test_the_accepted_file_is_named_as_a_survivor_only_where_it_is_as_it_was() -> None:
    log = listing(temp=[log_object(temp_name(2), etag="t")])
    same, changed = (
        finding(log_store_facts(log, entry(3), equal_bytes={2: False}, seen=[seen]), "overwritten")
        for seen in (replace(ACCEPTED, accepted_etag="t"), ACCEPTED)
    )

    assert same.summary.endswith(f"not the file that was committed. {temp_name(2)} still holds what was.")
    assert changed.evidence["survivors"] == []


def test_another_file_with_the_first_bytes_is_named_as_well() -> None:
    copy = log_object(staged_name(2), size=900, etag="first")
    facts = table_facts(listing(staged=[copy]), seen=[replace(FIRST, size=900)])

    assert finding(facts, "overwritten").evidence["survivors"] == [staged_name(2)]


def test_while_its_entry_is_there_the_states_say_that_a_file_is_another_one() -> None:
    log = listing(temp=[log_object(temp_name(2), size=900)])
    seen = provenance(2, **LOG_STORE, accepted_size=900)
    verdict = verdict_of(log_store_facts(log, *(entry(v) for v in range(4)), seen=[seen]))

    assert [one.code for one in verdict.findings] == ["bytes-differ"]


@pytest.mark.parametrize("item", [registration(2), registration(3, coordinator_commit(2), coordinator_commit(3))])
def test_a_version_that_a_registration_speaks_of_is_left_to_its_states(item) -> None:
    seen = provenance(2, store="commits", accepted_timestamp=11, accepted_size=1)
    log = listing(range(item.table_version + 1))

    assert "overwritten" not in codes(coordinated_facts(log, item, seen=[seen], infos=[SAID_10]))


def test_of_very_many_the_newest_are_named_and_all_are_counted() -> None:
    facts = table_facts(listing(range(60)), seen=[provenance(v, size=900) for v in range(5, 60)])
    found = [one for one in verdict_of(facts).findings if one.code == "overwritten"]

    assert (len(found), found[0].version, found[0].evidence["overwritten_versions"]) == (20, 59, 55)


def test_what_cannot_be_decided_is_one_finding() -> None:
    facts = table_facts(listing(range(10)), seen=[provenance(v, etag="first") for v in range(4, 9)])
    (found,) = judge_overwritten(LogView(facts))

    assert (found.severity, found.state) == (Severity.WARNING, State.NOT_CHECKED)
    assert found.summary.startswith("Whether versions 4 to 8 were overwritten cannot be decided")
    assert "the first bytes were not read" in found.summary


def test_only_what_may_decide_is_read() -> None:
    seen = [provenance(0), provenance(1, size=900), FIRST, provenance(3, etag="first")]

    assert wanted_commits(table_facts(seen=seen, infos=[said(3)])) == (2,)
    assert wanted_commits(table_facts(seen=[replace(FIRST, copy_etag="e")])) == ()


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
    findings = [one for one in verdict_of(read_in_full(versions)).findings if one.code in ("overwritten", "undecided")]
    alarmed = {one.version for one in findings if one.code == "overwritten"}
    changed = {version for version, one in versions.items() if one.now.data != one.first.data}
    told = " ".join(one.summary for one in findings if one.code == "undecided")

    assert alarmed <= changed
    assert {version for version in changed if versions[version].was_read} <= alarmed
    drawn_together = " to " in told or " more " in told
    assert all(drawn_together or str(version) in told for version in changed - alarmed)
