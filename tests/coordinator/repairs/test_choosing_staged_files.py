"""Which of several staged files of one version is published, and on whose word."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from coordinator.repairs import object_calls
from coordinator.repairs.facts import FileCheck
from lake.delta.facts import TableFacts
from tests.builders.facts import coordinated_facts, listing, provenance, registration, staged_name, temp_name
from tests.coordinator.repairs.states import (
    STAMP,
    cleared,
    default_file,
    file,
    lost_file,
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
