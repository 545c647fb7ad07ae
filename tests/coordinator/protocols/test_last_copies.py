"""A published file that its temp or staged files contradict is never called healthy."""

from typing import Any

import pytest

from coordinator.protocols.verdict import State
from lake.delta.facts import LogObject, TableFacts
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
from tests.coordinator.protocols.judged import codes, finding, verdict_of

ONE, OTHER = staged_name(2, "one"), staged_name(2, "other")


def old(name: str, *, size: int = 900, etag: str = "x") -> LogObject:
    """A file older than a day whose size is not that of the published files."""
    return log_object(name, size=size, age=2 * DAY, etag=etag)


def staged(*files: LogObject, at: int = 3, listed: Any = (), others: Any = (), **facts: Any) -> TableFacts:
    log = listing(range(facts.pop("published", 4)), staged=files)
    return coordinated_facts(log, registration(at, *listed, accepted=facts.pop("accepted", True)), *others, **facts)


SAME_SIZE = [old(ONE, size=1_000), old(OTHER, size=1_000)]
CLOSED = {"at": 5, "published": 6, "others": [registration(1, table_id="old", accepting=False)]}
"""Versions up to 1 went through one registration; at 5 the table is with another, which may begin anywhere."""


def test_a_published_file_that_equals_none_of_its_staged_files_is_unsafe() -> None:
    verdict = verdict_of(staged(old(ONE), old(OTHER, size=901)))
    found = finding(verdict, "bytes-differ")

    assert (verdict.state, found.version, found.repairs) == (State.UNSAFE, 2, ())
    assert "K2" not in codes(verdict)
    assert verdict.summary.startswith("2.json holds other bytes than each of the 2 staged files of this version")


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        (staged(*SAME_SIZE, copies={ONE: False, OTHER: False}), ["bytes-differ"]),
        (staged(*SAME_SIZE, copies={ONE: True, OTHER: False}), ["K2"]),
        (staged(log_object(ONE, age=2 * DAY), old(OTHER)), ["K2"]),
        (staged(old(ONE, size=1_000), old(OTHER)), ["not-compared"]),
        (staged(old(ONE), entries=[entry(2)]), ["both-mechanisms"]),
        (staged(log_object(ONE), old(OTHER), listed=[coordinator_commit(2, name=ONE.partition("/")[2])]), ["K4", "K2"]),
        (staged(old(staged_name(4, "loser")), at=4, heads={commit_name(4): log_object(commit_name(4))}), []),
        (staged(old(ONE), accepted=False), ["K1"]),
        (staged(old(ONE), seen=[provenance(2, store="commits", file_name=f"{2:020d}.gone.json")]), ["K2"]),
        (staged(old(ONE), **CLOSED), ["undecided", "K10", "K11"]),
        (staged(log_object(staged_name(2)), old(staged_name(3)), **CLOSED), ["bytes-differ", "K10", "K11"]),
        (staged(old(staged_name(1)), **CLOSED), ["bytes-differ", "K10", "K11"]),
    ],
    ids=[
        "compared, all differ", "compared, one is equal", "an equal ETag", "not compared", "the log store accepted it",
        "listed", "published after the listing", "nothing accepted yet", "another was seen accepted",
        "between two coordinators", "above a backfilled one", "accepted before it was closed",
    ],
)  # fmt: skip
def test_staged_files_contradict_a_version_that_went_through_the_coordinator(facts, found) -> None:
    assert codes(facts) == found


def test_what_is_not_known_of_staged_files_is_said() -> None:
    uncompared = finding(staged(old(ONE, size=1_000), old(OTHER)), "not-compared")

    assert uncompared.evidence["names"] == [ONE]
    assert "1 staged file was not compared with what is published" in uncompared.summary
    assert "whether it went through the coordinator is not known" in finding(
        staged(old(ONE), **CLOSED), "undecided"
    ).summary  # fmt: skip


def temps(*files: LogObject, of_entry: int = 3, **facts: Any) -> TableFacts:
    return log_store_facts(listing(age=2 * DAY, temp=files), entry(of_entry), **facts)


BY_ENTRY = {"store": "delta_log", "age": 2 * DAY}
SAME = old(temp_name(3), size=1_000)


@pytest.mark.parametrize(
    ("facts", "found", "state"),
    [
        (temps(old(temp_name(1))), ["undecided"], State.NOT_CHECKED),
        (temps(log_object(temp_name(1), age=2 * DAY), old(temp_name(1, "loser"))), [], State.HEALTHY),
        (temps(old(temp_name(1), size=1_000)), ["not-compared"], State.HEALTHY),
        (temps(old("_commit_1.json.tmp")), ["C1"], State.HEALTHY),
        (temps(SAME, copies={SAME.name: False}), ["bytes-differ"], State.UNSAFE),
        (temps(SAME, copies={SAME.name: True}), [], State.HEALTHY),
        (
            temps(old(temp_name(1)), seen=[provenance(1, file_name=temp_name(1), **BY_ENTRY)]),
            ["bytes-differ"],
            State.UNSAFE,
        ),
        (temps(old(temp_name(1)), seen=[provenance(1, file_name="_commit_1.json.tmp", **BY_ENTRY)]), [], State.HEALTHY),
        (temps(old(temp_name(4)), ttl_seconds=3 * DAY), ["C1"], State.HEALTHY),
        (temps(old(temp_name(4))), ["C1"], State.ATTENTION),
        (temps(old(temp_name(1)), old(temp_name(2)), entries_from=3), [], State.HEALTHY),
    ],
    ids=[
        "its entry has expired", "a sibling equals it", "it was not compared", "it tells no version",
        "named, other bytes", "named, equal", "seen accepted", "another was seen accepted",
        "unpublished, an entry would live", "unpublished, an entry may have expired", "entries were not all kept",
    ],
)  # fmt: skip
def test_temp_files_contradict_a_version_whose_entry_has_expired(facts, found, state) -> None:
    verdict = verdict_of(facts)

    assert (codes(verdict), verdict.state) == (found, state)


def test_what_a_temp_file_leaves_open_is_said_and_offers_nothing() -> None:
    found = finding(temps(old(temp_name(1))), "undecided")

    assert "its entry has expired" in found.summary
    assert found.repairs == ()
