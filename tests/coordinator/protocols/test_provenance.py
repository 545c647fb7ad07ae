"""What one reading, or the row of another connection, adds to what is known of a table's versions."""

from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.log_view import LogView
from coordinator.protocols.orphans import temp_fates
from coordinator.protocols.provenance import (
    MOST_RIVALS,
    KnownElsewhere,
    Surroundings,
    is_another_table,
    provenance_of,
    remember,
    with_acceptances_of,
    with_elsewhere,
)
from coordinator.protocols.survivors import Proof
from coordinator.protocols.verdict import Severity
from lake.delta.facts import Acceptance, LockDomain, Provenance, TableFacts, TableProtocol
from tests.builders.facts import (
    DAY,
    NOW,
    TABLE_ID,
    URI,
    commit_name,
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
    by_another = learned(log_store_facts(listing([2]), infos=[said(2, etag="older", digest="d")]))[2]

    assert (seen.size, seen.etag, seen.digest, seen.seen_at) == (1_000, "e", "d", NOW)
    assert (seen.in_commit_timestamp, seen.commit_timestamp) == (1_700_000_000_000, info.timestamp)
    assert not seen.is_accepted
    assert (by_another.digest, by_another.commit_timestamp) == (None, None)


def test_an_accepted_version_is_known_by_its_entry_and_temp_file() -> None:
    temp = log_object(temp_name(3), size=77, etag="t")
    seen = learned(log_store_facts(listing([0], temp=[temp]), entry(3, complete=False, expire_time=5)))[3]

    assert (seen.store, seen.region, seen.lock_domain) == ("delta_log", "eu-west-1", URI)
    assert (seen.file_name, seen.accepted_size, seen.accepted_etag) == (temp.name, 77, "t")
    assert (seen.accepted_at, seen.seen_at, seen.size, seen.expire_time) == (NOW, None, None, None)


def test_publication_and_expiry_are_added_to_an_acceptance() -> None:
    waiting = learned(log_store_facts(listing([0]), entry(3, complete=False)))[3]
    seen = learned(log_store_facts(listing(), entry(3, expire_time=7), seen=[waiting]))[3]

    assert (seen.size, seen.store, seen.accepted_at, seen.expire_time) == (1_000, "delta_log", NOW, 7)


def staged(size: int) -> TableFacts:
    log = listing(staged=[log_object(staged_name(4), size=size)])
    return coordinated_facts(log, registration(4, coordinator_commit(4)))


def test_a_listed_commit_of_a_registration_is_known_by_its_staged_file() -> None:
    seen, of_another_length = learned(staged(1_000))[4], learned(staged(3))[4]

    assert (seen.store, seen.lock_domain) == ("commits", TABLE_ID)
    assert seen.accepted(staged_name(4))
    assert (seen.accepted_size, seen.accepted_etag) == (1_000, "e")
    assert seen.accepted_timestamp == coordinator_commit(4).in_commit_timestamp
    assert (of_another_length.accepted_size, of_another_length.accepted_etag) == (None, None)


def test_the_newest_version_of_a_cleared_registration_is_known_by_its_timestamp() -> None:
    item = registration(3)
    seen = learned(coordinated_facts(listing(), item))

    assert (seen[3].store, seen[3].file_name, seen[3].accepted_timestamp) == ("commits", None, item.table_timestamp)
    assert not seen[2].is_accepted


@pytest.mark.parametrize("changes", [{"accepted": False}, {"path": "s3a://lake/original"}])
def test_a_registration_that_is_not_of_this_place_accepts_nothing(changes: dict[str, object]) -> None:
    seen = learned(coordinated_facts(listing(), registration(3, **changes)))

    assert not any(one.is_accepted for one in seen.values())


MINE, THEIRS = (coordinator_commit(3, name=f"{3:020d}.{uid}.json") for uid in ("aaaa", "bbbb"))


def test_every_registration_of_the_place_is_seen_to_accept_first_the_one_that_counts() -> None:
    another = registration(3, THEIRS, table_id="00000000", store="a_store_before_the_other")
    seen = learned(coordinated_facts(listing(), another, registration(3, MINE)))[3]

    assert (seen.file_name, seen.disputed) == (MINE.file_name, True)
    assert [(one.store, one.file_name) for one in seen.rivals] == [("a_store_before_the_other", THEIRS.file_name)]


def test_two_coordinators_that_hold_two_times_of_one_version_accepted_two_commits() -> None:
    later = replace(registration(3, table_id="other", store="commits_eu"), table_timestamp=7)
    raised = replace(registration(3), table_timestamp=7)
    before = learned(coordinated_facts(listing(), registration(3)))
    of_two = learned(coordinated_facts(listing(), registration(3), later))[3]

    assert (of_two.disputed, [one.timestamp for one in of_two.rivals]) == (True, [7])
    assert not learned(coordinated_facts(listing(), raised, seen=before.values()))[3].disputed


def test_what_was_accepted_for_a_table_that_was_dropped_since_is_not_of_this_one() -> None:
    old = registration(3, THEIRS, table_id="old", accepting=False)
    facts = coordinated_facts(listing(), registration(3, coordinator_commit(3)), old)
    assert facts.protocol is not None
    made_again = replace(facts, protocol=replace(facts.protocol, created_at=NOW - timedelta(minutes=59)))

    assert learned(facts)[3].disputed
    assert not learned(made_again)[3].disputed


def test_a_version_that_the_reading_before_did_not_find_is_known_to_be_that_young() -> None:
    seen = learned(log_store_facts(listing()), newest_before=2, before=EARLIER)

    assert (seen[2].absent_at, seen[3].absent_at) == (None, EARLIER)
    assert {one.absent_at for one in learned(log_store_facts(listing())).values()} == {None}


@pytest.mark.parametrize(
    ("first", "digest"),
    [
        (provenance(3, etag="first", digest="d", age=5 * DAY), "d"),
        (provenance(3, age=5 * DAY), "read"),
        (provenance(3, etag="first", copy_etag="e"), "read"),
    ],
    ids=["another file", "the same file", "a file proven equal"],
)
def test_only_what_is_read_of_the_same_file_later_is_added(first: Provenance, digest: str) -> None:
    seen = learned(log_store_facts(listing(), infos=[replace(said(3, digest="read"), timestamp=None)], seen=[first]))

    assert seen[3] == replace(first, digest=digest)


def test_two_items_that_accept_two_files_make_the_version_disputed() -> None:
    other, theirs = "s3://lake/orders", temp_name(3, uid="a0")
    rival = {"delta_log_2": [entry(3, path=other, temp=theirs)]}
    seen = learned(log_store_facts(listing(), entry(3), in_stores=rival))[3]
    same = learned(log_store_facts(listing(), entry(3), in_stores={"copy": [entry(3, path=other)]}))[3]
    later = learned(log_store_facts(listing(), entry(3), seen=[provenance(3, store="delta_log", file_name=theirs)]))[3]

    assert [(one.store, one.lock_domain) for one in seen.acceptances] == [("delta_log", URI), ("delta_log_2", other)]
    assert [one.file_name for one in seen.acceptances] == [temp_name(3), theirs]
    assert [one.accepted_at for one in seen.acceptances] == [NOW, NOW]
    assert (seen.disputed, same.disputed, later.disputed, later.file_name) == (True, False, True, theirs)


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


PATH = "s3a://lake/orders"
OURS, OTHERS, THIRD = (temp_name(3, name) for name in ("ours", "theirs", "third"))
ID = "table-1"


def known(version: int, name: str | None, region: str = "us-east-1", age: float = 2 * DAY, **more: Any) -> Provenance:
    accepted: dict[str, Any] = (
        {"store": "delta_log", "region": region, "lock_domain": PATH, "file_name": name} if name else {}
    )
    return provenance(version, **{"etag": "e", "size": 1_000, "age": age, **accepted, **more})


def facts_of(*seen: Provenance) -> TableFacts:
    files = [log_object(name, age=DAY, etag=name) for name in (OURS, OTHERS, THIRD)]
    copies = {one.name: one.name == OURS for one in files}
    facts = log_store_facts(listing(range(5), age=DAY, temp=files), seen=seen, copies=copies)
    return replace(facts, protocol=replace(protocol(), table_id=ID), had_entries=True)


def there(*seen: Provenance, table_id: str = ID) -> KnownElsewhere:
    return KnownElsewhere("eu", table_id, {one.version: one for one in seen}, (LockDomain("delta_log", PATH),))


def codes(facts: TableFacts) -> set[str]:
    return {one.code for one in diagnose(facts).findings if one.severity is Severity.CRITICAL}


BY_US = known(3, OURS, age=3 * DAY)
BY_EU = known(3, OTHERS, "eu-west-1")


@pytest.mark.parametrize(("own", "other"), [(BY_US, BY_EU), (BY_EU, BY_US)], ids=["the one published", "the other"])
def test_a_version_that_each_of_two_connections_saw_accepted_once_was_accepted_twice(own, other):
    facts = facts_of(own)

    assert "accepted-twice" not in codes(facts)
    assert "accepted-twice" in codes(with_elsewhere(facts, [there(other)]))


def test_one_commit_that_both_saw_is_no_second_one():
    facts = facts_of(BY_US)

    assert with_elsewhere(facts, [there(replace(BY_US, seen_at=None))]).provenance == facts.provenance


def test_acceptances_are_led_by_the_first_and_dispute_each_other_among_one_kind():
    first, listed = known(3, OTHERS, age=4 * DAY), f"{3:020d}.staged.json"
    by_entries = with_elsewhere(facts_of(BY_US), [there(first)]).provenance[3]
    of_kinds = with_elsewhere(facts_of(BY_US), [there(known(3, listed, "eu-west-1", lock_domain="111-table"))])

    assert ([one.file_name for one in by_entries.acceptances], by_entries.disputed) == ([OTHERS, OURS], True)
    assert (len(of_kinds.provenance[3].acceptances), of_kinds.provenance[3].disputed) == (2, False)


def test_what_was_given_up_here_counts_no_more_although_another_connection_saw_it():
    gone = Acceptance("delta_log", "eu-west-1", PATH, OTHERS, abandoned_at=BY_EU.accepted_at)
    facts = facts_of(replace(BY_US, abandoned=(gone,)))

    assert codes(with_elsewhere(facts, [there(BY_EU)])) == codes(facts)


def test_the_row_of_a_table_that_stood_here_before_says_nothing():
    facts = facts_of(BY_US)
    before = there(replace(BY_EU, etag="old"), table_id="another")

    told = with_elsewhere(facts, [before])

    assert (told.provenance, told.problems, told.locks_elsewhere) == (facts.provenance, (), ())


def test_a_row_of_which_nothing_tells_whether_it_is_of_this_table_is_told_and_its_files_stay():
    unknown = there(replace(BY_EU, etag="old", seen_at=BY_EU.accepted_at), table_id="")

    told = with_elsewhere(facts_of(BY_US), [unknown])

    assert codes(told) == set()
    assert "metaData.id" in diagnose(told).summary
    assert fates(told)[OTHERS] is Proof.NEEDED
    assert with_elsewhere(facts_of(BY_US), [there(replace(BY_US, etag="old"), table_id="")]).problems == ()


def test_no_file_of_a_version_that_another_lock_gave_away_too_counts_as_refused():
    seen = known(3, OURS, age=DAY - 1)
    alone, both = facts_of(seen), with_elsewhere(facts_of(seen), [there(BY_EU)])

    assert fates(alone) == {OURS: Proof.COPIED, OTHERS: Proof.NEVER_ACCEPTED, THIRD: Proof.NEVER_ACCEPTED}
    assert fates(both) == {OURS: Proof.COPIED, OTHERS: Proof.NEEDED, THIRD: Proof.UNPROVEN}


def fates(facts: TableFacts) -> dict[str, Proof]:
    return {file.name: fate.proof for file, fate in temp_fates(LogView(facts), [])}


def test_every_file_that_was_accepted_counts_however_many_there_are():
    names = [temp_name(3, f"n{number}") for number in range(MOST_RIVALS + 3)]
    others = [known(3, name, f"region-{number}") for number, name in enumerate(names)]

    both = with_acceptances_of(BY_US, others)

    assert all(both.accepted(name) for name in names)


def test_what_was_given_up_elsewhere_is_an_accepted_file_too():
    gone = Provenance(3, abandoned=(Acceptance("delta_log", "eu-west-1", PATH, OTHERS),))
    both = with_acceptances_of(BY_US, [gone])

    assert (both.accepted(OTHERS), both.disputed) == (True, False)


def test_a_version_that_is_known_elsewhere_alone_is_not_missed_here():
    above = known(9, temp_name(9), "eu-west-1", seen_at=None)

    assert commit_name(9) not in diagnose(with_elsewhere(facts_of(BY_US), [there(BY_US, above)])).summary
    assert codes(with_elsewhere(facts_of(BY_US), [there(BY_US, above)])) == codes(facts_of(BY_US))
