"""Entries in two DynamoDB tables, or under two spellings of one path, stay two, unless all of one are copies."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from coordinator.protocols.lock_domains import copied_stores
from coordinator.protocols.log_store_entries import seen_entries
from coordinator.protocols.log_view import LogView
from coordinator.protocols.needed_facts import wanted_comparisons, wanted_heads, wanted_infos
from coordinator.protocols.provenance import Surroundings, provenance_of
from coordinator.protocols.verdict import Severity, State
from lake.delta.facts import HeldElsewhere, LockDomain, LogStoreEntry, Provenance, TableFacts
from tests.builders.facts import (
    DAY,
    NOW,
    STORE,
    TABLE_ID,
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
    staged_name,
    table_facts,
    temp_name,
)
from tests.coordinator.protocols.judged import codes, finding, verdict_of

OTHER = "delta_log_eu"
OTHER_COORDINATOR = "commits_eu"
DELTA_RS = "_commit_5f0c3d2a-31b2-4c44-9c3e-0d8f4e1f6a55.json.tmp"


def entries(*versions: int, uid: str = "7f3c9b52", complete: bool = True) -> list[LogStoreEntry]:
    return [entry(version, temp=temp_name(version, uid), complete=complete) for version in versions]


def two_stores(**facts: object) -> TableFacts:
    """Versions 0 to 3 are published; delta_log holds 1 and 2, delta_log_eu 2 (as another commit) and 3."""
    temp = [temp_name(1), temp_name(2), temp_name(2, "b"), temp_name(3, "b")]
    given = {"in_stores": {OTHER: entries(2, 3, uid="b")}, **facts}
    return log_store_facts(listing(range(4), temp=temp), *entries(1, 2), **given)  # type: ignore[arg-type]


def test_entries_in_two_stores_are_two_locks() -> None:
    verdict = verdict_of(two_stores())

    assert verdict.state is State.UNSAFE
    told = finding(verdict, "two-log-stores")
    assert told.summary == (
        "2 log stores accept commits of this table and do not exclude each other: delta_log up to 2 by writers Unknown "
        "and delta_log_eu up to 3 by writers Unknown."
    )
    assert told.evidence["lock_domains"] == [
        {"store": "delta_log", "path": "s3a://lake/orders", "newest_entry": 2, "writers": ["Unknown"]},
        {"store": OTHER, "path": "s3a://lake/orders", "newest_entry": 3, "writers": ["Unknown"]},
    ]
    assert [(one.version, one.store) for one in verdict.entries] == [
        (3, OTHER), (2, "delta_log"), (2, OTHER), (1, "delta_log")
    ]  # fmt: skip
    twice = finding(verdict, "accepted-twice")
    assert (twice.version, twice.state) == (2, State.UNSAFE)
    assert twice.summary == (
        "Version 2 was accepted twice, as different commits under delta_log and delta_log_eu. Which of them …2.json "
        "holds is not known: their temp files were not there to be compared."
    )
    assert "foreign-writer" not in codes(verdict)


def test_the_temp_file_of_the_other_stores_commit_belongs_to_a_commit() -> None:
    waiting = {OTHER: [*entries(2, uid="b"), *entries(4, uid="b", complete=False)]}
    facts = two_stores(in_stores=waiting)
    facts = replace(facts, heads={temp_name(4, "b"): log_object(temp_name(4, "b"), age=200_000)})
    verdict = verdict_of(facts)

    assert "C1" not in codes(verdict)
    assert finding(verdict, "C2").version == 4
    assert verdict.accepted_version == 4


def test_the_published_commit_of_two_is_told_by_its_bytes() -> None:
    verdict = verdict_of(two_stores(equal_bytes={temp_name(2): False, temp_name(2, "b"): True}))

    assert "…2.json is that of delta_log_eu: rows of the other are not in the table." in (
        finding(verdict, "accepted-twice").summary
    )
    lost = finding(verdict, "bytes-differ")
    assert (lost.version, lost.evidence["store"]) == (2, "delta_log")


def test_both_copies_of_a_contested_version_are_compared_complete_or_not() -> None:
    assert wanted_comparisons(two_stores()) == (
        (2, temp_name(2, "b"), commit_name(2)),
        (2, temp_name(2), commit_name(2)),
    )
    half = two_stores(equal_bytes={temp_name(2): True})
    assert [name for _, name, _ in wanted_comparisons(half)] == [temp_name(2, "b")]


def test_the_files_of_a_contested_version_are_looked_up_although_both_are_complete() -> None:
    unlisted = replace(two_stores(), listing=listing(range(4), temp=None, from_version=2))

    assert {temp_name(2), temp_name(2, "b")} <= {*wanted_heads(unlisted)}


def test_writers_are_told_by_what_commits_say_of_themselves_and_delta_rs_by_its_temp_files() -> None:
    engines = {1: "Apache-Spark/3.5.1", 2: "Trino/460", temp_name(3, "b"): "Apache-Spark/4.0.0"}
    by_engines = finding(two_stores(engines=engines), "two-log-stores")
    by_name = finding(two_stores(in_stores={OTHER: [entry(3, temp=DELTA_RS)]}), "two-log-stores")

    told = "delta_log up to 2 by Apache-Spark/3.5.1 and delta_log_eu up to 3 by Apache-Spark/4.0.0."
    assert told in by_engines.summary
    assert "delta_log_eu up to 3 by delta-rs." in by_name.summary


def test_the_newest_copy_of_each_lock_is_read_for_its_writer() -> None:
    assert wanted_infos(two_stores()) == ((2, temp_name(2)), (3, temp_name(3, "b")))
    assert wanted_infos(log_store_facts(listing(temp=[temp_name(3)]), *entries(2, 3))) == ()


def test_no_finding_of_two_stores_offers_a_deletion() -> None:
    old = [log_object(temp_name(version, "loser"), age=200_000) for version in (1, 2)]
    lost = {OTHER: [entry(4, complete=False, temp=temp_name(4, "b"))]}
    facts = replace(two_stores(in_stores=lost), listing=listing(range(4), temp=[temp_name(1), *old]))
    offered = {repair for one in verdict_of(facts).findings for repair in one.repairs}

    assert {"C1", "C11"} <= set(codes(facts))
    assert not {"remove-orphans", "abandon-commit"} & offered


def test_a_contested_version_is_not_offered_for_publishing() -> None:
    waiting = {OTHER: entries(4, uid="b", complete=False)}
    facts = log_store_facts(
        listing(range(4), temp=[temp_name(4), temp_name(4, "b")]), *entries(4, complete=False), in_stores=waiting
    )
    verdict = verdict_of(facts)

    assert finding(verdict, "C2").repairs == ()
    assert finding(verdict, "accepted-twice").summary.endswith("Neither is published.")


def two_coordinators(**other: object) -> TableFacts:
    """A table at 3 whose metadata names `commits`; another DynamoDB table holds a registration of it too."""
    beside = {"store": OTHER_COORDINATOR, "table_id": "other", **other}
    return coordinated_facts(
        listing(range(4), staged=[staged_name(4), staged_name(4, "b")]),
        registration(3),
        registration(4, coordinator_commit(4, name=staged_name(4, "b").partition("/")[2]), **beside),  # type: ignore[arg-type]
    )


def test_registrations_that_accept_commits_in_two_stores_are_two_coordinators() -> None:
    verdict = verdict_of(two_coordinators())

    assert verdict.state is State.UNSAFE
    assert finding(verdict, "two-coordinators").summary == (
        "2 commit coordinators accept commits of this table and do not exclude each other: commits up to 3 by writers "
        "Unknown and commits_eu up to 4 by writers Unknown."
    )
    assert verdict.unpublished == (4,)
    assert [(one.version, one.store) for one in verdict.entries] == [(4, OTHER_COORDINATOR)]
    assert "K2" not in codes(verdict)
    assert all(one.repairs == () for one in verdict.findings)


def test_the_same_id_in_another_store_is_another_registration() -> None:
    verdict = verdict_of(two_coordinators(table_id=TABLE_ID))

    assert "two-coordinators" in codes(verdict)
    assert finding(verdict, "accepts-without-table").summary.startswith(f"Registration {TABLE_ID} of commits_eu")
    assert "K8" in codes(coordinated_facts(listing(), registration(3, store=OTHER_COORDINATOR)))


def test_only_registrations_that_accept_commits_are_two_coordinators() -> None:
    another = registration(3, store=OTHER_COORDINATOR, table_id="other")
    unused = replace(another, has_accepted_commits=False)

    assert "two-coordinators" not in codes(two_coordinators(accepting=False))
    assert codes(coordinated_facts(listing(), registration(3), unused)) == ["K0", "K11"]
    assert "two-coordinators" in codes(table_facts(registrations=[registration(3), another]))


def test_a_version_that_both_coordinators_list_was_accepted_twice() -> None:
    own = registration(4, coordinator_commit(4))
    other = two_coordinators().registrations[1]
    facts = coordinated_facts(listing(range(4), staged=[staged_name(4), staged_name(4, "b")]), own, other)

    assert finding(facts, "accepted-twice").summary == (
        "Version 4 was accepted twice, as different commits by commits and commits_eu."
    )


def test_two_coordinators_at_one_version_with_two_times_gave_it_away_twice() -> None:
    copy = registration(3, store=OTHER_COORDINATOR, table_id="other")
    other = replace(copy, table_timestamp=1)

    assert finding(coordinated_facts(listing(), registration(3), other), "accepted-twice").version == 3
    assert "accepted-twice" not in codes(coordinated_facts(listing(), registration(3), copy))


def test_the_writers_of_a_coordinator_are_told_by_its_staged_files() -> None:
    facts = two_coordinators()
    assert wanted_infos(facts) == ((4, staged_name(4, "b")),)
    written = replace(table_facts(engines={staged_name(4, "b"): "Apache-Spark/4.1.0"}))

    verdict = verdict_of(replace(facts, copy_infos=written.copy_infos))

    assert "commits_eu up to 4 by Apache-Spark/4.1.0." in finding(verdict, "two-coordinators").summary


PENDING = log_store_facts(listing(temp=[temp_name(4)]), entry(3), entry(4, complete=False))
ELSEWHERE = HeldElsewhere("prod-us", "us-east-1", LockDomain("delta_log", URI), 5, NOW)


def test_entries_in_another_region_are_a_second_store_that_nothing_is_done_beside() -> None:
    verdict = verdict_of(replace(PENDING, elsewhere=(ELSEWHERE,), region="eu-west-1"))

    assert verdict.state is State.UNSAFE
    assert "delta_log in us-east-1 up to 5, as connection prod-us read it" in verdict.summary
    assert finding(verdict, "C2").repairs == ()


LONG_AGO = replace(ELSEWHERE, read_at=NOW - timedelta(days=30))


def test_entries_that_another_region_held_long_ago_are_told_with_their_age_and_page_nobody() -> None:
    verdict = verdict_of(replace(PENDING, elsewhere=(LONG_AGO,), region="eu-west-1"))

    told = finding(verdict, "log-store-elsewhere")
    assert (told.severity, told.state) == (Severity.WARNING, State.ATTENTION)
    assert told.summary == (
        "Connection prod-us read entries of this table up to 5 in delta_log in us-east-1, last 30 d ago, which is "
        "longer than they live. Whether writers still commit through it is not known."
    )
    assert "two-log-stores" not in codes(verdict)
    assert finding(verdict, "C2").repairs == ()


@pytest.mark.parametrize(
    ("age", "expires", "is_told"),
    [
        (timedelta(days=1), None, True),
        (timedelta(days=1, seconds=1), None, False),
        (timedelta(days=30), NOW + timedelta(seconds=1), True),
        (timedelta(days=30), NOW - timedelta(days=29), False),
        (timedelta(hours=1), NOW - timedelta(days=1), True),
    ],
    ids=["a day ago", "longer", "not expired yet", "expired since", "expired, and read lately"],
)
def test_entries_elsewhere_count_while_they_may_be_there(
    age: timedelta, expires: datetime | None, is_told: bool
) -> None:
    held = replace(ELSEWHERE, read_at=NOW - age, expires_at=int(expires.timestamp()) if expires else None)
    verdict = verdict_of(replace(log_store_facts(listing(), entry(3)), elsewhere=(held,)))

    assert ("two-log-stores" in codes(verdict), "log-store-elsewhere" in codes(verdict)) == (is_told, not is_told)


def test_an_entry_that_was_not_read_may_be_the_one_that_is_missing() -> None:
    facts = log_store_facts(listing(), entry(0), entry(1), entry(3), engines={2: "delta-rs"})

    assert "foreign-writer" in codes(facts)
    assert "foreign-writer" not in codes(replace(facts, elsewhere=(ELSEWHERE,)))


def test_what_another_region_guards_is_not_checked_here() -> None:
    verdict = verdict_of(replace(table_facts(), elsewhere=(ELSEWHERE,)))

    assert (verdict.state, codes(verdict)) == (State.NOT_CHECKED, ["guarded-elsewhere"])


RESTORED = "delta_log_restored"
EXPIRED = int(NOW.timestamp()) - DAY
COPIED, IN_USE = {"copied-log-store"}, {"two-log-stores"}


def seen_in(store: str, *versions: int, **known: object) -> list[Provenance]:
    return [provenance(version, store=store, file_name=temp_name(version), **known) for version in versions]


def copied(own: Iterable[LogStoreEntry], other: Iterable[LogStoreEntry], seen: Iterable[Provenance] = ()) -> TableFacts:
    return log_store_facts(listing(range(6)), *own, in_stores={RESTORED: other}, seen=seen)


def told(given: TableFacts) -> set[str]:
    return set(codes(given)) & (COPIED | IN_USE)


def test_a_copy_that_nobody_writes_to_is_attention_and_says_of_what() -> None:
    found = finding(copied(entries(2, 3, 4, 5), entries(2, 3)), "copied-log-store")

    assert (found.severity, found.state) == (Severity.WARNING, State.ATTENTION)
    assert found.summary == (
        f"{RESTORED} holds nothing but copies of entries of {STORE}: no commit of this table was seen to go through it."
    )


def test_nothing_is_deleted_while_there_is_a_copy() -> None:
    log = listing(range(6), temp=[log_object(temp_name(5, "loser"), age=2 * DAY)])

    assert finding(log_store_facts(log, *entries(4, 5), in_stores={RESTORED: entries(4)}), "C1").repairs == ()


def test_equal_stores_are_one_and_its_copy() -> None:
    assert told(copied(entries(2, 3), entries(2, 3))) == COPIED
    assert "accepted-twice" not in codes(copied(entries(2, 3), entries(2, 3)))
    of_ours = finding(copied(entries(2, 3), entries(2, 3), seen_in(RESTORED, 2, 3)), "copied-log-store")
    assert of_ours.summary.startswith(f"{STORE} holds nothing but copies")


LEFT = entry(2, expire_time=EXPIRED)
"""TTL is off for a table that was restored, so that it keeps what the other one has let go."""


@pytest.mark.parametrize(
    ("own", "other", "seen", "expected"),
    [
        (entries(2, 3), [*entries(2), entry(3, temp=temp_name(3, "b"))], (), IN_USE),
        (entries(2, 3, 5), entries(2, 3, 4), (), IN_USE),
        (entries(3), entries(2), (), IN_USE),
        (entries(3), [*entries(2), entry(3, temp="", problems=("x",))], (), IN_USE),
        (entries(2, 3), [*entries(2), entry(3, problems=("complete is BOOL",))], (), IN_USE),
        (entries(2, 3), [entry(2, path="s3://lake/orders")], (), IN_USE),
        (entries(2, 3), entries(2, 3, 4), seen_in(STORE, 2, 3), IN_USE),
        (entries(2, 3, 4), entries(2, 3), seen_in(STORE, 2, 3), COPIED),
        (entries(2, 3, 4), entries(2, 3), seen_in(RESTORED, 2, 3), IN_USE),
        (entries(2, 3, 4), entries(2, 3), [*seen_in(RESTORED, 2), *seen_in(STORE, 3)], COPIED),
        (entries(3, 4), [LEFT, *entries(3)], seen_in(STORE, 2), COPIED),
        (entries(3, 4), [LEFT, *entries(3)], [], IN_USE),
        (entries(3, 4), [LEFT, *entries(3)], seen_in(RESTORED, 2), IN_USE),
        (entries(3, 4), [LEFT, *entries(3)], seen_in(STORE, 2, disputed=True), IN_USE),
        (entries(3, 4), [replace(LEFT, temp_path=temp_name(2, "b")), *entries(3)], seen_in(STORE, 2), IN_USE),
        (entries(3, 4), entries(2, 3), seen_in(STORE, 2), IN_USE),
        (entries(3, 4), [replace(LEFT, complete=False), *entries(3)], seen_in(STORE, 2), IN_USE),
        (entries(4), [LEFT, entry(3, expire_time=EXPIRED)], seen_in(STORE, 2, 3), COPIED),
    ],
    ids=[
        "it differs", "both go on alone", "nothing is shared", "no temp file", "a malformed item", "another path",
        "it goes on, the other was first", "the other goes on, it was first", "it was first, the other goes on",
        "the newest that both hold tells", "expired, seen in the other", "expired, never seen", "expired, seen here",
        "expired, disputed", "expired, another file", "alive", "incomplete", "the other holds nothing any more",
    ],
)  # fmt: skip
def test_a_store_is_a_copy_where_each_of_its_items_was_the_others(own, other, seen, expected) -> None:
    assert told(copied(own, other, seen)) == expected


@pytest.mark.parametrize("own", [(2, 3), (2, 3, 4, 5)], ids=["the first by name is the copy", "the last by name is"])
def test_of_a_copy_that_was_there_at_first_sight_the_store_that_has_come_furthest_is_in_use(own: Any) -> None:
    first = copied(entries(*own), entries(2, 3) if 5 in own else entries(2, 3, 4, 5))
    known = provenance_of(LogView(first), Surroundings("eu-west-1")).values()

    assert told(first) == told(replace(first, provenance={one.version: one for one in known})) == COPIED


def test_a_third_store_in_use_is_critical_beside_a_copy() -> None:
    given = log_store_facts(
        listing(range(6)),
        *entries(2, 3),
        in_stores={RESTORED: entries(2, 3), "third": [entry(4, temp=temp_name(4, "c"))]},
    )

    critical = finding(given, "two-log-stores")
    assert critical.summary.startswith("2 log stores accept commits of this table")
    assert RESTORED not in critical.summary
    assert told(given) == COPIED | IN_USE


def test_of_two_stores_that_each_explain_the_other_one_is_in_use() -> None:
    """An older item outlived a newer one: neither store holds anything that the other did not."""
    given = copied(entries(3), [*entries(3), entry(5, expire_time=EXPIRED)], seen_in(STORE, 5))
    view = LogView(given)

    assert copied_stores(view, seen_entries(view)) == {STORE: RESTORED}
