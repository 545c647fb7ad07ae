"""Two DynamoDB tables with the same items: a copy that nobody writes to is no second store in use."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from coordinator.protocols.lock_domains import copied_stores
from coordinator.protocols.log_store_entries import seen_entries
from coordinator.protocols.log_view import LogView
from coordinator.protocols.provenance import Surroundings, provenance_of
from coordinator.protocols.verdict import Severity, State
from lake.delta.facts import LogStoreEntry, Provenance, TableFacts
from tests.builders.facts import DAY, NOW, STORE, entry, listing, log_object, log_store_facts, provenance, temp_name
from tests.coordinator.protocols.judged import codes, finding

OTHER = "delta_log_restored"
EXPIRED = int(NOW.timestamp()) - DAY
COPIED, IN_USE = {"copied-log-store"}, {"two-log-stores"}


def entries(*versions: int) -> list[LogStoreEntry]:
    return [entry(version) for version in versions]


def seen_in(store: str, *versions: int, **known: object) -> list[Provenance]:
    return [provenance(version, store=store, file_name=temp_name(version), **known) for version in versions]


def facts(
    own: Iterable[LogStoreEntry], other: Iterable[LogStoreEntry], seen: Iterable[Provenance] = (), published: int = 6
) -> TableFacts:
    return log_store_facts(listing(range(published)), *own, in_stores={OTHER: other}, seen=seen)


def told(given: TableFacts) -> set[str]:
    return set(codes(given)) & (COPIED | IN_USE)


def test_a_copy_that_nobody_writes_to_is_attention_and_says_of_what() -> None:
    copied = finding(facts(entries(2, 3, 4, 5), entries(2, 3)), "copied-log-store")

    assert (copied.severity, copied.state) == (Severity.WARNING, State.ATTENTION)
    assert copied.summary == (
        f"{OTHER} holds nothing but copies of entries of {STORE}: no commit of this table was seen to go through it."
    )


def test_nothing_is_deleted_while_there_is_a_copy() -> None:
    log = listing(range(6), temp=[log_object(temp_name(5, "loser"), age=2 * DAY)])

    assert finding(log_store_facts(log, *entries(4, 5), in_stores={OTHER: entries(4)}), "C1").repairs == ()


def test_equal_stores_are_one_and_its_copy() -> None:
    assert told(facts(entries(2, 3), entries(2, 3))) == COPIED
    assert "accepted-twice" not in codes(facts(entries(2, 3), entries(2, 3)))
    of_ours = finding(facts(entries(2, 3), entries(2, 3), seen_in(OTHER, 2, 3)), "copied-log-store")
    assert of_ours.summary.startswith(f"{STORE} holds nothing but copies")


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ([*entries(2, 3)], [*entries(2), entry(3, temp=temp_name(3, "b"))]),
        ([*entries(2, 3, 5)], [*entries(2, 3, 4)]),
        ([*entries(3)], [*entries(2)]),
        ([*entries(3)], [*entries(2), entry(3, temp="", problems=("x",))]),
        ([*entries(2, 3)], [*entries(2), entry(3, problems=("complete is BOOL",))]),
        ([*entries(2, 3)], [entry(2, path="s3://lake/orders")]),
    ],
    ids=["it differs", "both go on alone", "nothing is shared", "no temp file", "a malformed item", "another path"],
)
def test_a_store_with_an_item_of_its_own_is_in_use(own: list[LogStoreEntry], other: list[LogStoreEntry]) -> None:
    assert told(facts(own, other)) == IN_USE


def test_a_copy_that_goes_on_although_the_other_store_was_in_use_before_is_in_use() -> None:
    assert told(facts(entries(2, 3), entries(2, 3, 4), seen_in(STORE, 2, 3))) == IN_USE
    assert told(facts(entries(2, 3, 4), entries(2, 3), seen_in(STORE, 2, 3))) == COPIED
    assert told(facts(entries(2, 3, 4), entries(2, 3), seen_in(OTHER, 2, 3))) == IN_USE


@pytest.mark.parametrize("own", [(2, 3), (2, 3, 4, 5)], ids=["the first by name is the copy", "the last by name is"])
def test_of_a_copy_that_was_there_at_first_sight_the_store_that_has_come_furthest_is_in_use(
    own: tuple[int, ...],
) -> None:
    first = facts(entries(*own), entries(2, 3) if 5 in own else entries(2, 3, 4, 5))
    known = provenance_of(LogView(first), Surroundings("eu-west-1")).values()

    assert told(first) == told(replace(first, provenance={one.version: one for one in known})) == COPIED


def test_the_newest_version_that_both_hold_tells_which_store_was_in_use() -> None:
    moved_back = [*seen_in(OTHER, 2), *seen_in(STORE, 3)]

    assert told(facts(entries(2, 3, 4), entries(2, 3), moved_back)) == COPIED


@pytest.mark.parametrize(
    ("left", "seen", "expected"),
    [
        (entry(2, expire_time=EXPIRED), seen_in(STORE, 2), COPIED),
        (entry(2, expire_time=EXPIRED), [], IN_USE),
        (entry(2, expire_time=EXPIRED), seen_in(OTHER, 2), IN_USE),
        (entry(2, expire_time=EXPIRED), seen_in(STORE, 2, disputed=True), IN_USE),
        (entry(2, temp=temp_name(2, "b"), expire_time=EXPIRED), seen_in(STORE, 2), IN_USE),
        (entry(2), seen_in(STORE, 2), IN_USE),
        (entry(2, complete=False, expire_time=EXPIRED), seen_in(STORE, 2), IN_USE),
    ],
    ids=["seen in the other", "never seen", "seen here", "disputed", "another file", "alive", "incomplete"],
)
def test_an_item_that_the_other_store_has_no_more_was_copied_where_it_was_seen_there(
    left: LogStoreEntry, seen: list[Provenance], expected: set[str]
) -> None:
    """TTL is off for a table that was restored, so that it keeps what the other one has let go."""
    assert told(facts(entries(3, 4), [left, *entries(3)], seen)) == expected


def test_a_third_store_in_use_is_critical_beside_a_copy() -> None:
    given = log_store_facts(
        listing(range(6)), *entries(2, 3), in_stores={OTHER: entries(2, 3), "third": [entry(4, temp=temp_name(4, "c"))]}
    )

    critical = finding(given, "two-log-stores")
    assert critical.summary.startswith("2 log stores accept commits of this table")
    assert OTHER not in critical.summary
    assert told(given) == COPIED | IN_USE


def test_a_copy_of_which_the_other_store_holds_nothing_any_more_stays_one() -> None:
    left = [entry(version, expire_time=EXPIRED) for version in (2, 3)]

    assert told(facts(entries(4), left, seen_in(STORE, 2, 3))) == COPIED


def test_of_two_stores_that_each_explain_the_other_one_is_in_use() -> None:
    """An older item outlived a newer one: neither store holds anything that the other did not."""
    given = facts(entries(3), [*entries(3), entry(5, expire_time=EXPIRED)], seen_in(STORE, 5))
    view = LogView(given)

    assert copied_stores(view, seen_entries(view)) == {STORE: OTHER}
