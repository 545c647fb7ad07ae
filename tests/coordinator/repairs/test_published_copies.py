"""Which copy is published as a version, and on whose word."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from changes.plan import ChangePlan
from coordinator.repairs import object_calls
from coordinator.repairs.facts import FileCheck
from lake.delta.facts import LogObject, Provenance, TableFacts
from tests.builders.facts import (
    DAY,
    NOW,
    commit_name,
    coordinated_facts,
    entry,
    listing,
    log_object,
    log_store_facts,
    provenance,
    registration,
    staged_name,
    temp_name,
)
from tests.coordinator.repairs.states import (
    STAMP,
    cleared,
    default_file,
    file,
    lost_file,
    made,
    pending,
    plans,
    refusals,
    unbackfilled,
)


def test_two_accepted_candidates_of_equal_bytes_are_one():
    facts = coordinated_facts(listing(staged=[staged_name(4, "a"), staged_name(4, "b")]), registration(4))
    same = {name: replace(file(name, time=STAMP), sha256="same") for name in (staged_name(4, "a"), staged_name(4, "b"))}

    assert "publish-accepted-staged-file" in plans(facts, files=same)


ONE, TWO = staged_name(4, "one"), staged_name(4, "two")
TIED = {
    ONE: replace(file(ONE, time=STAMP), transaction="accepted 4"),
    TWO: replace(file(TWO, time=STAMP), transaction="lost"),
}


def published(files: Mapping[str, FileCheck], facts: TableFacts) -> tuple[bool, str] | None:
    """Whether the plan for K6 can lose something, and the file that it publishes; None where there is no plan."""
    plan = plans(facts, files=files).get("publish-accepted-staged-file")
    copy = next(call for call in plan.calls if isinstance(call, object_calls.Publish)) if plan else None
    return (plan.can_lose, copy.source.partition("_delta_log/")[2]) if plan and copy else None


def test_a_rival_with_the_same_timestamp_that_is_all_that_is_left_is_not_published_unasked():
    """Timestamps tie while that of the version below lies in the future."""
    assert published({TWO: TIED[TWO]}, cleared(TWO)) == (True, TWO)


def test_of_two_rivals_with_one_timestamp_the_checksum_names_the_accepted():
    assert published(TIED, cleared(ONE, TWO)) == (False, ONE)


def test_of_two_rivals_with_one_timestamp_and_no_checksum_none_is_published():
    assert published(TIED, coordinated_facts(listing(staged=[ONE, TWO]), registration(4))) is None


def test_a_transactions_second_try_is_not_told_from_its_first():
    again = {**TIED, TWO: replace(TIED[TWO], transaction="accepted 4")}
    assert published(again, cleared(ONE, TWO)) is None


SEEN = {
    "listed": (provenance(4, store="commits", file_name=TWO.partition("/")[2], accepted_size=1_000, accepted_etag="e"),
               (False, TWO)),
    "listed, and replaced since": (provenance(4, store="commits", file_name=TWO.partition("/")[2], accepted_size=1_000,
                                              accepted_etag="other", etag="f"), (True, TWO)),
    "listed, never looked up": (provenance(4, store="commits", file_name=TWO.partition("/")[2], etag="f"),
                                (False, TWO)),
    "published": (provenance(4), (False, TWO)),
    "published with other bytes of this size": (provenance(4, etag="f"), (True, TWO)),
    "published with another size": (provenance(4, size=999), None),
    "another listed": (provenance(4, store="commits", file_name=ONE.partition("/")[2]), None),
    "two listed": (provenance(4, store="commits", file_name=TWO.partition("/")[2], disputed=True, etag="f"), None),
}  # fmt: skip


@pytest.mark.parametrize(("seen", "expected"), SEEN.values(), ids=SEEN.keys())
def test_what_was_seen_of_a_version_tells_which_staged_file_was_accepted(seen, expected):
    facts = coordinated_facts(listing(staged=[TWO]), registration(4), seen=[seen])

    assert published({TWO: TIED[TWO]}, facts) == expected


def seen_of(facts: TableFacts, name: str, **known: Any) -> TableFacts:
    """Version 4 was seen before, accepted with this file."""
    seen = provenance(4, store="x", file_name=name.rpartition("/")[2], **{"size": None, "etag": None, **known})
    return replace(facts, provenance={4: seen})


NAMED = {
    "C2": (pending(), temp_name(4), "publish-commit"),
    "C6": (lost_file(), temp_name(4), "republish-file"),
    "K3": (unbackfilled(), staged_name(4), "backfill"),
}


@pytest.mark.parametrize(("facts", "name", "repair"), NAMED.values(), ids=NAMED.keys())
def test_a_named_file_is_published_unless_what_was_seen_of_it_speaks_against_it(facts, name, repair):
    again = {name: replace(default_file(name), md5="d")}
    known = {
        "as it was": ({"accepted_size": 1_000, "accepted_etag": "e"}, False),
        "written again": ({"accepted_size": 1_000, "accepted_etag": "f"}, True),
        "written again with the bytes of its ETag": ({"accepted_size": 1_000, "accepted_etag": "d"}, False),
        "written again with the bytes that were published": (
            {"accepted_size": 1_000, "accepted_etag": "f", "size": 1_000, "etag": "g", "digest": "d"},
            False,
        ),
        "published with other bytes": ({"size": 1_000, "etag": "g", "digest": "other"}, True),
        "published with another size": ({"size": 999, "etag": "g"}, True),
        "published under another ETag": ({"size": 1_000, "etag": "g"}, False),
        "disputed": ({"disputed": True}, True),
    }
    for case, (seen, loses) in known.items():
        plan = plans(seen_of(facts, name, **seen), files=again)[repair]
        assert (case, plan.can_lose, isinstance(plan.calls[0], object_calls.SaveAside)) == (case, loses, loses)

    smaller = seen_of(facts, name, accepted_size=999)
    assert "had 999 B when it was accepted" in refusals(smaller, files=again)[repair]


@pytest.mark.parametrize(("facts", "name", "repair"), NAMED.values(), ids=NAMED.keys())
def test_a_named_file_is_not_published_where_another_was_seen_to_be_accepted(facts, name, repair):
    another = name.replace("7f3c9b52", "other").replace("c02e88d1", "other")

    assert "other" in refusals(seen_of(facts, another))[repair]


# Lost files (C6): each must be of the table whose log it continues


HOUR = 3_600
SOON = int(NOW.timestamp()) + DAY - HOUR
LOWER, LOST, NEXT = temp_name(3), temp_name(4), temp_name(5)


def plan(
    age: float,
    *,
    lower_age: float = HOUR,
    temps: Iterable[LogObject] = (),
    seen: Iterable[Provenance] = (),
    expires: int = SOON,
    files: Mapping[str, FileCheck] | None = None,
    more: Iterable[int] = (),
) -> ChangePlan:
    """The plan for version 4, lost an hour or longer ago: its temp file is `age` seconds old, 3.json `lower_age`."""
    lost = [log_object(temp_name(version), age=age, etag=f"t{version}") for version in (4, *more)]
    log = listing(range(4), age=lower_age, temp=[*lost, *temps])
    entries = [entry(3), *(entry(version, expire_time=expires) for version in (4, *more))]
    checks = {name: replace(file(name), etag=f"t{name[24]}") for name in (LOST, NEXT)}
    checks |= {commit_name(3): file(commit_name(3))}
    outcomes = made(log_store_facts(log, *entries, seen=seen), files=checks | dict(files or {}))
    return next(one for one in outcomes if isinstance(one, ChangePlan) and one.kind == "republish-file")


def test_a_file_written_after_the_version_below_it_is_put_back() -> None:
    assert (plan(HOUR).danger, plan(HOUR - 5).danger) == ("", "")


def test_a_file_older_than_the_version_below_it_may_be_of_a_table_that_stood_here_before() -> None:
    older = plan(20 * HOUR)

    assert older.can_lose
    assert older.danger == (
        f"the order of the commits: {LOST} was written at 2026-11-19T14:00:00+00:00 and version 3 was there only at "
        f"2026-11-20T09:00:00+00:00, and no in-commit timestamps tell which came first. {LOST} may be of a table that "
        "was dropped here before"
    )
    assert next(type(call).__name__ for call in older.calls) == "SaveAside"


@pytest.mark.parametrize(("etag", "can_lose"), [("e", False), ("another", True)])
def test_a_temp_file_with_the_bytes_of_the_version_below_tells_when_that_was_there(etag: str, can_lose: bool) -> None:
    """3.json itself was put back since, and has the time of that."""
    below = log_object(LOWER, age=2 * HOUR, etag=etag, size=1_000 if etag == "e" else 999)

    assert plan(1.5 * HOUR, temps=[below]).can_lose is can_lose


def test_a_temp_file_of_another_version_does_not_tell_when_the_one_below_was_there() -> None:
    assert plan(1.5 * HOUR, temps=[log_object(temp_name(2), age=2 * HOUR)]).can_lose


@pytest.mark.parametrize(("etag", "can_lose"), [("e", False), ("another", True)])
def test_a_look_that_saw_the_version_below_tells_when_it_was_there(etag: str, can_lose: bool) -> None:
    assert plan(1.5 * HOUR, seen=[provenance(3, age=2 * HOUR, etag=etag)]).can_lose is can_lose


@pytest.mark.parametrize(
    ("seen", "can_lose"),
    [
        ([provenance(3), provenance(4, etag="t4")], False),
        ([provenance(3), provenance(4, etag="another")], True),
        ([provenance(3, etag="another"), provenance(4, etag="t4")], True),
        ([provenance(4, etag="t4")], True),
        ([provenance(3, seen_at=None), provenance(4, etag="t4")], True),
    ],
    ids=["seen", "seen with other bytes", "the one below is another", "the one below is not known", "never published"],
)
def test_a_file_that_was_seen_published_above_the_same_version_is_put_back(
    seen: list[Provenance], can_lose: bool
) -> None:
    assert plan(20 * HOUR, seen=seen).can_lose is can_lose


def test_an_acceptance_says_nothing_of_the_table() -> None:
    """An entry of the dropped table is seen while the new one is read, too."""
    accepted = provenance(4, store="delta_log", file_name=LOST, size=None, etag=None, seen_at=None, accepted_at=NOW)

    assert plan(20 * HOUR, seen=[provenance(3), accepted]).can_lose


def test_in_commit_timestamps_that_rise_tell_the_order_whatever_s3_says() -> None:
    files = {LOST: replace(file(LOST, time=8), etag="t4"), commit_name(3): file(commit_name(3), time=7)}

    assert not plan(20 * HOUR, files=files).can_lose


def test_an_in_commit_timestamp_of_one_of_them_tells_nothing() -> None:
    files = {LOST: replace(file(LOST, time=8), etag="t4")}

    assert plan(20 * HOUR, files=files).can_lose


def test_a_file_put_back_since_then_is_told_by_its_entry_that_expires_first() -> None:
    restored = plan(60, expires=SOON - 1)

    assert "entry 4 expires before entry 3, so it was finished first" in restored.danger


def test_each_file_of_a_run_has_to_follow_the_one_before() -> None:
    lost = [log_object(LOST, age=HOUR, etag="t4"), log_object(NEXT, age=10 * HOUR, etag="t5")]
    log = listing(range(4), age=20 * HOUR, temp=lost)
    facts = log_store_facts(log, entry(3), entry(4), entry(5))
    checks = {name: replace(file(name), etag=f"t{name[24]}") for name in (LOST, NEXT)}
    [found] = [one for one in made(facts, files=checks | {commit_name(3): file(commit_name(3))})
               if isinstance(one, ChangePlan) and one.kind == "republish-file"]  # fmt: skip

    assert found.danger.startswith(f"the order of the commits: {NEXT} was written")
    assert not plan(HOUR, more=[5]).can_lose


@pytest.mark.parametrize(("days", "can_lose"), [(40, True), (0.5, False)])
def test_a_file_brought_back_is_as_old_as_its_writer_says(days: float, can_lose: bool) -> None:
    """S3 gives it the time of the restore; a writer that met rivals says the time of its first try."""
    said = int((NOW.timestamp() - days * 24 * HOUR) * 1_000)
    checks = {LOST: replace(file(LOST), etag="t4", timestamp=said)}

    assert plan(60, files=checks).can_lose is can_lose
