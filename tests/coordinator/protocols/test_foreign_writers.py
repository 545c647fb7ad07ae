"""Writers past the log store: what proves one, and what only looks like one."""

from dataclasses import replace
from datetime import timedelta

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.needed_facts import wanted_commits
from coordinator.protocols.verdict import Severity, State
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

HOUR = 3_600
OLD = dict.fromkeys(range(3), 5 * DAY)


def found(facts: TableFacts) -> list[tuple[str, int | None]]:
    return [(one.code, one.version) for one in diagnose(facts).findings]


def ago(seconds: float):
    return NOW - timedelta(seconds=seconds)


def lived(version: int, seconds: int) -> Provenance:
    """A version whose entry, seen five days ago, expired so many seconds later."""
    expired = int(ago(5 * DAY).timestamp()) + seconds
    return provenance(version, age=5 * DAY, store="delta_log", file_name=temp_name(version), expire_time=expired)


def test_a_young_version_whose_own_time_is_young_was_written_past_the_log_store() -> None:
    info = said(3, age=HOUR, engine="delta-rs 1.6.4")
    verdict = diagnose(log_store_facts(listing(ages=OLD), entry(2), infos=[info]))

    assert (verdict.findings[0].code, verdict.findings[0].version, verdict.state) == ("foreign-writer", 3, State.UNSAFE)
    assert verdict.summary.startswith("Version 3 was written without the log store by delta-rs 1.6.4.")
    assert verdict.findings[0].evidence["committed_at"] == info.timestamp


def test_an_old_commit_that_was_put_again_is_no_foreign_one() -> None:
    facts = log_store_facts(listing(ages={**OLD, 3: 10}), infos=[said(3, age=5 * DAY)])

    assert found(facts) == []


def test_a_log_that_was_restored_as_a_whole_has_no_foreign_versions() -> None:
    facts = log_store_facts(listing(age=10), infos=[said(v, age=(9 - v) * DAY) for v in range(4)])

    assert found(facts) == []


def test_nothing_is_alarming_where_only_last_modified_is_known() -> None:
    verdict = diagnose(log_store_facts(listing(ages=OLD), entry(2), infos=[said(3, age=None)]))

    assert [(one.code, one.severity) for one in verdict.findings] == [("undecided", Severity.WARNING)]
    assert "it has no entry, and nothing read so far proves when it was committed" in verdict.summary


def test_files_whose_time_is_not_known_are_read() -> None:
    facts = log_store_facts(listing(), entry(0), entry(3))

    assert wanted_commits(facts) == (2, 1)
    assert wanted_commits(replace(facts, commit_infos={2: said(2), 1: said(1, age=None)})) == ()


def test_what_an_older_file_in_its_place_said_does_not_count() -> None:
    facts = log_store_facts(listing(ages=OLD), entry(2), infos=[said(3, etag="older")])

    assert found(facts) == [("undecided", 3)]


def test_the_time_that_was_read_before_counts() -> None:
    known = provenance(3, age=60, commit_timestamp=int(ago(HOUR).timestamp() * 1_000))

    assert found(log_store_facts(listing(ages=OLD), entry(2), seen=[known])) == [("foreign-writer", 3)]
    assert found(log_store_facts(listing(ages=OLD), entry(2), seen=[replace(known, etag="x")]))[-1] == ("undecided", 3)


def test_an_in_commit_timestamp_ahead_of_the_clock_makes_no_old_commit_young() -> None:
    ahead = int(ago(-3 * DAY).timestamp() * 1_000)
    facts = log_store_facts(listing(ages={**OLD, 3: 10}), infos=[said(3, age=5 * DAY, in_commit_timestamp=ahead)])

    assert found(facts) == []


def test_a_version_whose_entry_was_seen_is_no_foreign_one() -> None:
    known = provenance(3, store="delta_log", file_name=temp_name(3), accepted_size=1_000)
    facts = log_store_facts(listing(ages=OLD), infos=[said(3, age=HOUR)], seen=[known])

    assert found(facts) == []
    assert found(replace(facts, provenance={})) == [("foreign-writer", 3)]


def test_a_file_that_is_not_the_one_its_entry_accepted_is_a_foreign_one() -> None:
    known = replace(provenance(3, store="delta_log", file_name=temp_name(3), accepted_size=900), seen_at=None)
    facts = log_store_facts(listing(ages=OLD), entry(2), infos=[said(3, age=HOUR)], seen=[known])

    assert ("foreign-writer", 3) in found(facts)


def test_of_a_disputed_version_either_item_may_have_accepted_the_file() -> None:
    known = provenance(3, store="delta_log", file_name=temp_name(3), accepted_size=900, disputed=True)
    facts = log_store_facts(listing(ages=OLD), infos=[said(3, age=HOUR)], seen=[known])

    assert found(facts) == []


@pytest.mark.parametrize(
    ("temp", "copies", "told"),
    [
        (log_object(temp_name(3)), {}, []),
        (log_object(temp_name(3), etag="other"), {temp_name(3): True}, []),
        (log_object(temp_name(3), etag="other"), {temp_name(3): False}, [("foreign-writer", 3)]),
        (log_object(temp_name(3), etag="other"), {}, [("undecided", 3)]),
        (log_object(temp_name(3), size=900), {}, [("foreign-writer", 3)]),
        (log_object(temp_name(2)), {}, [("foreign-writer", 3)]),
    ],
    ids=["equal ETag", "compared, equal", "compared, other", "not compared", "another size", "of another version"],
)
def test_a_temp_file_of_the_version_with_the_same_bytes_proves_the_log_store(temp, copies, told) -> None:
    facts = log_store_facts(listing(ages=OLD, temp=[temp]), entry(2), infos=[said(3, age=HOUR)], copies=copies)

    of_writers = [one for one in diagnose(facts).findings if "written" in one.summary and "log store" in one.summary]
    assert [(one.code, one.version) for one in of_writers] == told


def test_a_rival_that_was_not_compared_takes_nothing_from_a_copy() -> None:
    files = [log_object(temp_name(3)), log_object(temp_name(3, "rival"), etag="other")]
    facts = log_store_facts(listing(ages=OLD, temp=files), entry(2), infos=[said(3, age=HOUR)])

    assert ("foreign-writer", 3) not in found(facts)


def test_a_writer_whose_clock_is_days_behind_is_found_by_the_look_before() -> None:
    known = provenance(3, age=0, absent_at=ago(60))
    facts = log_store_facts(listing(ages={**OLD, 3: 30}), entry(2), infos=[said(3, age=3 * DAY)], seen=[known])

    assert found(facts) == [("foreign-writer", 3)]
    assert found(replace(facts, entries={}, provenance={2: lived(2, 6 * DAY), 3: known})) == [("foreign-writer", 3)]
    assert diagnose(facts).findings[0].evidence["not_there_at"] == ago(60).isoformat()


def test_a_writer_who_says_no_time_is_found_by_the_look_before() -> None:
    known = provenance(3, age=0, absent_at=ago(60))

    assert found(log_store_facts(listing(ages={**OLD, 3: 30}), entry(2), seen=[known])) == [("foreign-writer", 3)]


def test_a_version_that_appears_while_no_entry_lives_may_have_been_brought_back() -> None:
    known = provenance(3, age=0, absent_at=ago(60))
    facts = log_store_facts(listing(ages={**OLD, 3: 30}), infos=[said(3, age=3 * DAY)], seen=[lived(2, DAY), known])

    assert found(facts) == [("undecided", 3)]
    assert found(replace(facts, commit_infos={3: said(3, age=HOUR)})) == [("foreign-writer", 3)]
    assert wanted_commits(replace(facts, commit_infos={})) == (3,)


def test_a_younger_entry_says_nothing_of_what_was_lost_before() -> None:
    known = provenance(2, age=0, absent_at=ago(60))
    facts = log_store_facts(
        listing(ages={**OLD, 2: 30}), entry(3), infos=[said(2, age=3 * DAY)], seen=[lived(1, DAY), known]
    )

    assert found(facts) == [("undecided", 2)]


def test_a_look_that_lies_too_long_before_proves_nothing() -> None:
    known = provenance(3, age=0, absent_at=ago(0.6 * DAY))
    facts = log_store_facts(listing(ages={**OLD, 3: 30}), entry(2), infos=[said(3, age=3 * DAY)], seen=[known])

    assert found(facts) == []


def test_a_look_before_the_first_file_says_nothing_of_a_later_one() -> None:
    known = provenance(3, size=900, age=0, absent_at=ago(60))
    facts = log_store_facts(listing(ages={**OLD, 3: 30}), entry(2), infos=[said(3, age=3 * DAY)], seen=[known])

    assert found(facts) == [("overwritten", 3)]


def test_a_file_that_was_seen_long_ago_is_not_young_whatever_clocks_say() -> None:
    known = provenance(3, age=2 * DAY)
    facts = log_store_facts(listing(ages={**OLD, 3: 10}), infos=[said(3, age=-DAY)], seen=[known])

    assert found(facts) == []


def test_where_no_entry_is_left_their_lives_are_remembered() -> None:
    known = [lived(v, 600) for v in range(3)]
    facts = log_store_facts(listing(ages=OLD), infos=[said(3, age=HOUR)], seen=known)

    assert found(replace(facts, provenance={v: lived(v, DAY) for v in range(3)})) == [("foreign-writer", 3)]


def test_the_life_of_the_newest_entries_is_remembered() -> None:
    long_ago = [lived(v, DAY) for v in range(5)]
    since = [lived(v, 600) for v in range(5, 15)]
    facts = log_store_facts(listing(range(16)), infos=[said(15, age=HOUR)], seen=[*long_ago, *since])

    assert found(facts) == []


def test_a_version_between_an_entry_that_expired_and_a_later_one_is_a_foreign_one() -> None:
    known = provenance(1, store="delta_log", file_name=temp_name(1))
    facts = log_store_facts(listing(ages=OLD | {2: HOUR}), entry(3), infos=[said(2, age=HOUR)], seen=[known])

    assert found(facts) == [("foreign-writer", 2)]
    assert found(replace(facts, provenance={})) == []


def test_versions_of_a_coordinator_do_not_show_when_the_log_store_began() -> None:
    known = provenance(1, store="commits", file_name="x")
    facts = log_store_facts(listing(ages=OLD | {2: HOUR}), entry(3), infos=[said(2, age=HOUR)], seen=[known])

    assert found(facts) == []


def test_versions_below_the_oldest_entry_that_was_kept_are_not_judged() -> None:
    facts = log_store_facts(listing(), infos=[said(v, age=HOUR) for v in range(4)])

    assert found(replace(facts, entries_from=3)) == [("foreign-writer", 3)]


def test_of_very_many_the_newest_are_named_and_all_are_counted() -> None:
    facts = log_store_facts(listing(range(60)), entry(4), infos=[said(v) for v in range(60)])
    verdict = diagnose(facts)

    assert [one.version for one in verdict.findings] == list(range(59, 39, -1))
    assert verdict.findings[0].evidence["foreign_versions"] == 55


def test_versions_that_were_coordinated_are_not_foreign_where_the_table_has_gone_back_to_the_log_store() -> None:
    facts = log_store_facts(
        listing(), entry(0), entry(3), registrations=[registration(2, accepting=False)], infos=[said(1), said(2)]
    )

    assert "foreign-writer" not in {code for code, _ in found(facts)}
