"""Writers past the log store: what proves one, and what only looks like one."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from coordinator.protocols.needed_facts import wanted_commits
from coordinator.protocols.verdict import State
from lake.delta.facts import Provenance, TableFacts
from tests.builders.facts import (
    DAY,
    NOW,
    entry,
    listing,
    log_object,
    log_store_facts,
    provenance,
    registration,
    said,
    temp_name,
)
from tests.coordinator.protocols.judged import codes, finding, verdict_of

HOUR = 3_600
OLD = dict.fromkeys(range(3), 5 * DAY)
FOREIGN = [("foreign-writer", 3)]
BELOW = (entry(2),)


def found(facts: TableFacts) -> list[tuple[str, int | None]]:
    return [(one.code, one.version) for one in verdict_of(facts).findings]


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def stamp(seconds: float) -> int:
    return int(ago(seconds).timestamp() * 1_000)


def lived(version: int, seconds: int) -> Provenance:
    """A version whose entry, seen five days ago, expired so many seconds later."""
    expired = int(ago(5 * DAY).timestamp()) + seconds
    return provenance(version, age=5 * DAY, store="delta_log", file_name=temp_name(version), expire_time=expired)


def appeared(version: int = 3, *, before: float = 60, **known: Any) -> Provenance:
    """A version that a look so many seconds ago did not find yet."""
    return provenance(version, age=0, absent_at=ago(before), **known)


def young(*seen: Provenance, age: float | None = HOUR, entries: Any = BELOW, **facts: Any) -> TableFacts:
    """Version 3 has no entry, is an hour old by S3 and `age` by its writer, whose time was read; the others are old."""
    log = listing(ages=OLD | facts.pop("ages", {}), temp=facts.pop("temp", ()))
    return log_store_facts(log, *entries, seen=seen, **{"infos": [said(3, age=age)], **facts})


ACCEPTED = provenance(3, store="delta_log", file_name=temp_name(3), accepted_size=1_000)
ANOTHER = replace(ACCEPTED, accepted_size=900)
READ_BEFORE = provenance(3, age=60, commit_timestamp=stamp(HOUR))
PUT_AGAIN = {"ages": {3: 10}}


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        (young(), FOREIGN),
        (young(entries=(), age=5 * DAY, **PUT_AGAIN), []),
        (log_store_facts(listing(age=10), infos=[said(v, age=(9 - v) * DAY) for v in range(4)]), []),
        (young(infos=[said(3, etag="older")]), [("undecided", 3)]),
        (young(age=None), [("undecided", 3)]),
        (young(READ_BEFORE, infos=()), FOREIGN),
        (young(entries=(), infos=[said(3, age=5 * DAY, in_commit_timestamp=stamp(-3 * DAY))], **PUT_AGAIN), []),
        (young(ACCEPTED, entries=()), []),
        (young(replace(ANOTHER, disputed=True), entries=()), []),
        (young(appeared(), age=3 * DAY, ages={3: 30}), FOREIGN),
        (young(lived(2, 6 * DAY), appeared(), age=3 * DAY, ages={3: 30}, entries=()), FOREIGN),
        (young(appeared(), infos=(), ages={3: 30}), FOREIGN),
        (young(lived(2, DAY), appeared(), age=3 * DAY, ages={3: 30}, entries=()), [("undecided", 3)]),
        (young(lived(2, DAY), appeared(), ages={3: 30}, entries=()), FOREIGN),
        (young(appeared(before=0.6 * DAY), age=3 * DAY, ages={3: 30}), []),
        (young(appeared(size=900), age=3 * DAY, ages={3: 30}), [("overwritten", 3)]),
        (young(provenance(3, age=2 * DAY), age=-DAY, entries=(), **PUT_AGAIN), []),
        (young(*(lived(v, 600) for v in range(3)), entries=()), []),
        (young(*(lived(v, DAY) for v in range(3)), entries=()), FOREIGN),
    ],
    ids=[
        "its own time is young", "put again", "all put again", "an older file said so", "LastModified alone",
        "its time was read before", "in-commit timestamp ahead", "seen accepted", "disputed", "clock behind",
        "clock behind, an entry had lived", "no time at all", "no entry lived", "no entry lived, its own time is young",
        "looked too long ago", "another file appeared", "seen long ago", "entries lived ten minutes",
        "entries lived a day",
    ],
)  # fmt: skip
def test_only_a_young_version_without_any_trace_of_the_log_store_is_foreign(facts, answer) -> None:
    assert found(facts) == answer


def test_a_foreign_version_names_its_writer_and_what_proves_it() -> None:
    facts = young(appeared(), infos=[said(3, age=HOUR, engine="delta-rs 1.6.4")])
    one = finding(facts, "foreign-writer")

    assert (one.version, one.state, verdict_of(facts).state) == (3, State.UNSAFE, State.UNSAFE)
    assert one.summary.startswith("Version 3 was written without the log store by delta-rs 1.6.4.")
    assert (one.evidence["committed_at"], one.evidence["not_there_at"]) == (stamp(HOUR), ago(60).isoformat())


def test_files_whose_time_is_not_known_are_read() -> None:
    facts = log_store_facts(listing(), entry(0), entry(3))

    assert wanted_commits(facts) == (2, 1)
    assert wanted_commits(replace(facts, commit_infos={2: said(2), 1: said(1, age=None)})) == ()
    assert wanted_commits(young(lived(2, DAY), appeared(), infos=(), ages={3: 30}, entries=())) == (3,)


def test_a_file_that_is_not_the_one_its_entry_accepted_is_a_foreign_one() -> None:
    assert ("foreign-writer", 3) in found(young(replace(ANOTHER, seen_at=None)))
    assert ("undecided", 3) in found(young(replace(READ_BEFORE, etag="x"), infos=()))


@pytest.mark.parametrize(
    ("temp", "copies", "told"),
    [
        (log_object(temp_name(3)), {}, []),
        (log_object(temp_name(3), etag="other"), {temp_name(3): True}, []),
        (log_object(temp_name(3), etag="other"), {temp_name(3): False}, FOREIGN),
        (log_object(temp_name(3), etag="other"), {}, [("undecided", 3)]),
        (log_object(temp_name(2)), {}, FOREIGN),
    ],
    ids=["equal ETag", "compared, equal", "compared, other", "not compared", "of another version"],
)
def test_a_temp_file_of_the_version_with_the_same_bytes_proves_the_log_store(temp, copies, told) -> None:
    findings = verdict_of(young(temp=[temp], copies=copies)).findings

    of_writers = [one for one in findings if "written" in one.summary and "log store" in one.summary]
    assert [(one.code, one.version) for one in of_writers] == told


def test_a_rival_that_was_not_compared_takes_nothing_from_a_copy() -> None:
    files = [log_object(temp_name(3)), log_object(temp_name(3, "rival"), etag="other")]

    assert "foreign-writer" not in codes(young(temp=files))


def test_a_younger_entry_says_nothing_of_what_was_lost_before() -> None:
    log, seen = listing(ages={**OLD, 2: 30}), [lived(1, DAY), appeared(2)]

    assert found(log_store_facts(log, entry(3), infos=[said(2, age=3 * DAY)], seen=seen)) == [("undecided", 2)]


def test_the_life_of_the_newest_entries_is_remembered() -> None:
    seen = [*(lived(v, DAY) for v in range(5)), *(lived(v, 600) for v in range(5, 15))]

    assert found(log_store_facts(listing(range(16)), infos=[said(15, age=HOUR)], seen=seen)) == []


@pytest.mark.parametrize(
    ("known", "answer"),
    [
        ([provenance(1, store="delta_log", file_name=temp_name(1))], [("foreign-writer", 2)]),
        ([provenance(1, store="commits", file_name="x")], []),
        ([], []),
    ],
    ids=["an entry that expired", "a coordinator's", "nothing"],
)
def test_a_version_between_an_entry_that_expired_and_a_later_one_is_a_foreign_one(known, answer) -> None:
    facts = log_store_facts(listing(ages=OLD | {2: HOUR}), entry(3), infos=[said(2, age=HOUR)], seen=known)

    assert found(facts) == answer


def test_versions_below_the_oldest_entry_that_was_kept_are_not_judged() -> None:
    assert found(log_store_facts(listing(), infos=[said(v, age=HOUR) for v in range(4)], entries_from=3)) == FOREIGN


def test_of_very_many_the_newest_are_named_and_all_are_counted() -> None:
    verdict = verdict_of(log_store_facts(listing(range(60)), entry(4), infos=[said(v) for v in range(60)]))

    assert [one.version for one in verdict.findings] == list(range(59, 39, -1))
    assert verdict.findings[0].evidence["foreign_versions"] == 55


def test_versions_that_were_coordinated_are_not_foreign_where_the_table_has_gone_back_to_the_log_store() -> None:
    closed = registration(2, accepting=False)
    facts = log_store_facts(listing(), entry(0), entry(3), registrations=[closed], infos=[said(1), said(2)])

    assert "foreign-writer" not in codes(facts)
