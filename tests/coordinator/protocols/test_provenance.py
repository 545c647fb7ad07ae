"""What one reading adds to what is known of a table's versions; what was seen first stays."""

from dataclasses import fields, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.protocols.log_view import LogView
from coordinator.protocols.provenance import Surroundings, is_another_table, provenance_of, remember
from lake.delta.facts import Provenance, TableFacts, TableProtocol
from tests.builders.facts import (
    DAY,
    NOW,
    TABLE_ID,
    URI,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_object,
    log_store_facts,
    protocol,
    provenance,
    registration,
    said,
    staged_name,
    temp_name,
)

EARLIER = NOW - timedelta(minutes=1)


def learned(facts: TableFacts, newest_before: int | None = None, before: datetime | None = None):
    around = Surroundings("eu-west-1", newest_before, before)
    return provenance_of(LogView(facts), around)


def test_a_published_version_is_known_by_its_file_and_by_what_that_says() -> None:
    info = said(2, in_commit_timestamp=1_700_000_000_000, digest="d")
    seen = learned(log_store_facts(listing([2]), infos=[info]))[2]

    assert (seen.size, seen.etag, seen.digest, seen.seen_at) == (1_000, "e", "d", NOW)
    assert (seen.in_commit_timestamp, seen.commit_timestamp) == (1_700_000_000_000, info.timestamp)
    assert not seen.is_accepted


def test_what_another_file_said_is_not_kept() -> None:
    seen = learned(log_store_facts(listing([2]), infos=[said(2, etag="older", digest="d")]))[2]

    assert (seen.digest, seen.commit_timestamp) == (None, None)


def test_an_accepted_version_is_known_by_its_entry_and_temp_file() -> None:
    temp = log_object(temp_name(3), size=77, etag="t")
    seen = learned(log_store_facts(listing([0], temp=[temp]), entry(3, complete=False)))[3]

    assert (seen.store, seen.region, seen.lock_domain) == ("delta_log", "eu-west-1", URI)
    assert (seen.file_name, seen.accepted_size, seen.accepted_etag) == (temp.name, 77, "t")
    assert (seen.accepted_at, seen.seen_at, seen.size) == (NOW, None, None)


def test_when_an_entry_expires_is_known_once_it_is_complete() -> None:
    early = entry(3, complete=False, expire_time=5)

    assert learned(log_store_facts(listing([3]), early))[3].expire_time is None
    assert learned(log_store_facts(listing([3]), entry(3, expire_time=7)))[3].expire_time == 7


def test_a_listed_commit_of_a_registration_is_known_by_its_staged_file() -> None:
    facts = coordinated_facts(listing(staged=[staged_name(4)]), registration(4, coordinator_commit(4)))
    seen = learned(facts)[4]

    assert (seen.store, seen.lock_domain) == ("commits", TABLE_ID)
    assert seen.accepted(staged_name(4))
    assert (seen.accepted_size, seen.accepted_etag) == (1_000, "e")
    assert seen.accepted_timestamp == coordinator_commit(4).in_commit_timestamp


def test_the_newest_version_of_a_cleared_registration_is_known_by_its_timestamp() -> None:
    item = registration(3)
    seen = learned(coordinated_facts(listing(), item))[3]

    assert (seen.store, seen.file_name, seen.accepted_timestamp) == ("commits", None, item.table_timestamp)
    assert not learned(coordinated_facts(listing(), item))[2].is_accepted


@pytest.mark.parametrize("changes", [{"accepted": False}, {"path": "s3a://lake/original"}])
def test_a_registration_that_is_not_of_this_place_accepts_nothing(changes: dict[str, object]) -> None:
    seen = learned(coordinated_facts(listing(), registration(3, **changes)))

    assert not any(one.is_accepted for one in seen.values())


def test_every_registration_of_the_place_is_seen_to_accept_first_the_one_that_counts() -> None:
    mine, theirs = (coordinator_commit(3, name=f"{3:020d}.{uid}.json") for uid in ("aaaa", "bbbb"))
    another = registration(3, theirs, table_id="00000000", store="a_store_before_the_other")
    seen = learned(coordinated_facts(listing(), another, registration(3, mine)))[3]

    assert (seen.file_name, seen.disputed) == (mine.file_name, True)
    assert [(one.store, one.file_name) for one in seen.rivals] == [("a_store_before_the_other", theirs.file_name)]


def test_two_coordinators_that_hold_two_times_of_one_version_accepted_two_commits() -> None:
    later = replace(registration(3, table_id="other", store="commits_eu"), table_timestamp=7)
    seen = learned(coordinated_facts(listing(), registration(3), later))[3]

    assert (seen.disputed, [one.timestamp for one in seen.rivals]) == (True, [7])


def test_what_was_accepted_for_a_table_that_was_dropped_since_is_not_of_this_one() -> None:
    old = registration(3, coordinator_commit(3, name=f"{3:020d}.bbbb.json"), table_id="old", accepting=False)
    facts = coordinated_facts(listing(), registration(3, coordinator_commit(3)), old)
    assert facts.protocol is not None
    made_again = replace(facts, protocol=replace(facts.protocol, created_at=NOW - timedelta(minutes=59)))

    assert learned(facts)[3].disputed
    assert not learned(made_again)[3].disputed


def test_an_item_with_another_time_than_before_is_the_same_coordinator() -> None:
    raised = replace(registration(3), table_timestamp=7)
    seen = learned(
        coordinated_facts(listing(), raised, seen=learned(coordinated_facts(listing(), registration(3))).values())
    )

    assert not seen[3].disputed


def test_a_staged_file_of_another_length_than_accepted_is_not_taken_for_it() -> None:
    staged = [log_object(staged_name(4), size=3)]
    seen = learned(coordinated_facts(listing(staged=staged), registration(4, coordinator_commit(4))))[4]

    assert (seen.accepted_size, seen.accepted_etag) == (None, None)


def test_a_version_that_the_reading_before_did_not_find_is_known_to_be_that_young() -> None:
    seen = learned(log_store_facts(listing()), newest_before=2, before=EARLIER)

    assert (seen[2].absent_at, seen[3].absent_at) == (None, EARLIER)


def test_at_first_sight_no_version_is_known_to_be_young() -> None:
    assert {one.absent_at for one in learned(log_store_facts(listing())).values()} == {None}


def test_another_file_in_its_place_changes_nothing_that_is_known() -> None:
    first = provenance(3, etag="first", digest="d", age=5 * DAY)
    seen = learned(log_store_facts(listing(), infos=[said(3, digest="other")], seen=[first]))

    assert seen[3] == first


def test_what_is_read_of_the_same_file_later_is_added() -> None:
    first = provenance(3, age=5 * DAY)
    seen = learned(log_store_facts(listing(), infos=[said(3, digest="d")], seen=[first]))[3]

    assert (seen.digest, seen.seen_at) == ("d", first.seen_at)


def test_a_file_that_was_proven_equal_counts_as_the_same() -> None:
    first = provenance(3, etag="first", copy_etag="e")
    seen = learned(log_store_facts(listing(), infos=[said(3, digest="d")], seen=[first]))[3]

    assert (seen.etag, seen.digest) == ("first", "d")


def test_publication_is_added_to_an_acceptance() -> None:
    waiting = learned(log_store_facts(listing([0]), entry(3, complete=False)))[3]
    seen = learned(log_store_facts(listing(), entry(3, expire_time=7), seen=[waiting]))[3]

    assert (seen.size, seen.store, seen.accepted_at, seen.expire_time) == (1_000, "delta_log", NOW, 7)


def test_two_items_that_accept_two_files_make_the_version_disputed() -> None:
    other = "s3://lake/orders"
    rival = {"delta_log_2": [entry(3, path=other, temp=temp_name(3, uid="a0"))]}
    seen = learned(log_store_facts(listing(), entry(3), in_stores=rival))[3]

    assert seen.disputed
    assert [(one.store, one.lock_domain) for one in seen.acceptances] == [("delta_log", URI), ("delta_log_2", other)]
    assert [one.file_name for one in seen.acceptances] == [temp_name(3), temp_name(3, uid="a0")]
    assert [one.accepted_at for one in seen.acceptances] == [NOW, NOW]


def test_an_item_that_names_another_file_by_now_makes_the_version_disputed() -> None:
    first = provenance(3, store="delta_log", file_name=temp_name(3, uid="a0"))
    seen = learned(log_store_facts(listing(), entry(3), seen=[first]))[3]

    assert (seen.disputed, seen.file_name) == (True, temp_name(3, uid="a0"))


def test_two_items_with_one_file_are_one_commit() -> None:
    other = "s3://lake/orders"
    facts = log_store_facts(listing(), entry(3), in_stores={"copy": [entry(3, path=other)]})

    assert not learned(facts)[3].disputed


def test_facts_of_two_stores_are_never_merged() -> None:
    first = provenance(3, store="other_log", file_name=None)
    seen = learned(log_store_facts(listing(temp=[temp_name(3)]), entry(3), seen=[first]))[3]

    assert (seen.store, seen.file_name, seen.accepted_size) == ("other_log", None, None)


maybe = st.one_of(st.none(), st.integers(0, 2))
texts = st.one_of(st.none(), st.sampled_from(["a", "b"]))
moments = st.integers(0, 5).map(lambda days: NOW - timedelta(days=days))
of_a_file = st.fixed_dictionaries(
    {"size": st.integers(0, 2), "etag": st.sampled_from(["a", "b"]), "seen_at": moments},
    optional={"digest": texts, "in_commit_timestamp": maybe, "commit_timestamp": maybe, "absent_at": moments},
)
of_an_item = st.fixed_dictionaries(
    {"store": st.sampled_from(["one", "two"]), "lock_domain": st.sampled_from(["a", "b"]), "accepted_at": moments},
    optional={"file_name": texts, "accepted_size": maybe, "accepted_etag": texts, "expire_time": maybe},
)
nothing = st.just({})
sightings = st.tuples(st.one_of(nothing, of_a_file), st.one_of(nothing, of_an_item)).map(
    lambda parts: Provenance(3, **parts[0], **parts[1])
)


@given(st.lists(sightings, min_size=2, max_size=6))
def test_no_reading_replaces_what_was_known(readings: list[Provenance]) -> None:
    known = readings[0]
    for seen in readings[1:]:
        after = remember(known, seen)
        told = {field.name: getattr(known, field.name) for field in fields(known)}
        rivals = [(one.store, one.lock_domain, one.file_name) for one in told.pop("rivals")]
        assert rivals == [(one.store, one.lock_domain, one.file_name) for one in after.rivals][: len(rivals)]
        replaced = [name for name, value in told.items() if value not in (None, False, getattr(after, name))]
        assert replaced == []
        known = after


@given(st.lists(sightings, min_size=1, max_size=5))
def test_a_reading_that_is_told_twice_adds_nothing(readings: list[Provenance]) -> None:
    known = readings[0]
    for seen in readings:
        known = remember(known, seen)
        assert remember(known, seen) == known


LOCKS = st.tuples(st.sampled_from(["one", "two"]), st.sampled_from(["eu", "us"]), st.sampled_from([URI, "s3://lake/t"]))


@given(st.lists(LOCKS, min_size=1, max_size=6, unique=True), st.data())
def test_what_one_lock_accepted_is_never_taken_for_another_ones_in_whatever_order_it_is_seen(locks, data) -> None:
    accepted = {lock: temp_name(3, f"{place:08d}") for place, lock in enumerate(locks)}
    known = None
    for lock in data.draw(st.lists(st.sampled_from(locks), max_size=9)) + locks:
        store, region, path = lock
        seen = Provenance(3, store=store, region=region, lock_domain=path, file_name=accepted[lock], accepted_at=NOW)
        known = remember(known, seen)

    assert known is not None
    assert {one.identity: one.file_name for one in known.acceptances} == accepted
    assert known.disputed is (len(locks) > 1)


OLD = {version: provenance(version) for version in range(4)}


def files(versions: range, etag: str = "e"):
    return {version: log_object(f"{version}.json", etag=etag) for version in versions}


def named(table_id: str, created_at: datetime | None = None) -> TableProtocol:
    return replace(protocol(), table_id=table_id, created_at=created_at)


@pytest.mark.parametrize(
    ("what", "published", "new_id", "answer"),
    [
        ("the log as it was", files(range(4)), "old", False),
        ("the log as it was, replaced", files(range(6)), "new", False),
        ("another log", files(range(6), "other"), "new", True),
        ("another log that is shorter", files(range(1), "other"), "new", True),
        ("another log of other versions", files(range(10, 12), "other"), "new", True),
        ("the same table, every file put again", files(range(4), "other"), "old", False),
        ("the same table, later versions only", files(range(10, 12), "other"), "old", False),
        ("an empty log", {}, "", False),
        ("other files, and no id", files(range(4), "other"), "", None),
        ("other versions, and no id", files(range(10, 12), "other"), "", False),
    ],
)
def test_a_table_made_again_in_its_place_is_another_table(what, published, new_id, answer) -> None:
    assert is_another_table(OLD, published, "old", named(new_id)) is answer, what


def test_what_was_never_seen_published_is_no_sign_of_another_table() -> None:
    waiting = {0: replace(provenance(0, store="delta_log"), seen_at=None, size=None, etag=None)}

    assert is_another_table(waiting, files(range(1), "other"), "", named("new")) is False
    assert is_another_table({}, files(range(4)), "old", named("new")) is False
    assert is_another_table(OLD, files(range(4)), "", named("new", NOW)) is False


@pytest.mark.parametrize(
    ("created_at", "answer"),
    [(NOW, True), (NOW - timedelta(days=1), None), (None, None)],
    ids=["later", "earlier", "untold"],
)
def test_one_that_was_made_after_the_old_one_was_seen_is_another_whatever_its_id_was(created_at, answer) -> None:
    assert is_another_table(OLD, files(range(4), "other"), "", named("new", created_at)) is answer
