"""Findings beside the states of the tables C and K, and how a verdict is put together."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.judgement import MOST_FINDINGS
from coordinator.protocols.verdict import Severity, State, Verdict
from lake.delta.facts import LockDomain, LogListing, Mechanism, ReadingProblem, TableFacts
from tests.builders.facts import (
    DAY,
    NOW,
    STORE,
    URI,
    commit_name,
    coordinated_facts,
    entry,
    listing,
    log_object,
    log_store_facts,
    registration,
    table_facts,
    temp_name,
)


def codes(verdict: Verdict) -> list[str]:
    return [one.code for one in verdict.findings]


def test_a_foreign_writer_is_named_with_its_version_and_engine() -> None:
    facts = log_store_facts(listing(), entry(0), entry(1), entry(3), engines={2: "delta-rs 1.6.4"})
    verdict = diagnose(facts)

    assert (verdict.state, verdict.findings[0].version) == (State.UNSAFE, 2)
    assert verdict.summary.startswith("Version 2 was written without the log store by delta-rs 1.6.4.")


def test_a_version_older_than_ttl_needs_no_entry() -> None:
    facts = log_store_facts(listing(ages={2: DAY + 5}), entry(0), entry(1), entry(3))

    assert codes(diagnose(facts)) == []


def test_a_version_older_than_every_entry_is_not_foreign() -> None:
    assert codes(diagnose(log_store_facts(listing(), entry(2), entry(3)))) == []


def test_a_log_store_table_whose_entries_are_all_gone_still_shows_young_foreign_versions() -> None:
    written_by = {2: "delta-rs 1.6.4", 3: "delta-rs 1.6.4"}
    verdict = diagnose(log_store_facts(listing(ages={0: 9 * DAY, 1: 9 * DAY}), engines=written_by))

    assert [(one.code, one.version) for one in verdict.findings] == [("foreign-writer", 3), ("foreign-writer", 2)]


def test_a_shorter_life_that_entries_show_is_believed() -> None:
    hour = int(NOW.timestamp())
    short_lived = [entry(0, expire_time=hour - 7_200 + 600), entry(3, expire_time=hour - 60 + 600)]
    facts = log_store_facts(listing(ages={0: 7_200, 1: 3_600, 2: 3_600, 3: 60}), *short_lived)

    assert "foreign-writer" not in codes(diagnose(facts))


@pytest.mark.parametrize(
    "mechanism", [Mechanism.SINGLE_DRIVER, Mechanism.COORDINATED_COMMITS, Mechanism.CATALOG_MANAGED]
)
def test_only_log_store_tables_have_foreign_writers(mechanism: Mechanism) -> None:
    facts = table_facts(listing(), mechanism=mechanism, entries=[entry(0), entry(3)])

    assert "foreign-writer" not in codes(diagnose(facts))


@pytest.mark.parametrize("other", ["s3://lake/orders", "s3n://lake/orders", "S3A://lake/orders", "s3a://lake/orders/"])
def test_two_spellings_of_one_path_are_two_locks(other: str) -> None:
    facts = log_store_facts(listing(), *(entry(v) for v in range(4)), entry(3, path=other))
    verdict = diagnose(facts)

    assert (codes(verdict), verdict.state) == (["two-lock-domains"], State.UNSAFE)
    assert URI in verdict.summary
    assert other in verdict.summary


def test_a_lock_domain_of_which_no_entry_was_kept_still_counts() -> None:
    facts = log_store_facts(listing(), *(entry(v) for v in range(4)))
    other = LockDomain(STORE, "s3://lake/orders")

    assert "two-lock-domains" in codes(diagnose(replace(facts, entries={**facts.entries, other: ()})))


def test_a_log_that_was_begun_after_it_was_listed_is_not_empty() -> None:
    first = log_object(commit_name(0))
    facts = log_store_facts(listing(()), entry(0), heads={commit_name(0): first})

    assert (diagnose(facts).state, diagnose(facts).published_version) == (State.HEALTHY, 0)


@pytest.mark.parametrize(
    "other", ["s3a://lake/customers", "s3a://lake/Orders", "s3a://lake//orders", "s3a://lake/o%72"]
)
def test_entries_of_another_place_on_s3_are_left_out(other: str) -> None:
    facts = log_store_facts(listing(), *(entry(v) for v in range(4)), entry(900, path=other))
    verdict = diagnose(facts)

    assert (codes(verdict), verdict.accepted_version) == (["malformed-item"], 3)


def test_commit_time_marks_an_old_writer() -> None:
    old = entry(3, commit_time=1_700_000_000, expire_time=None)

    assert codes(diagnose(log_store_facts(listing(), *(entry(v) for v in range(3)), old))) == ["old-writer"]


def test_finished_entries_without_expiry_are_counted() -> None:
    verdict = diagnose(log_store_facts(listing(), *(entry(v, expire_time=None) for v in range(4))))

    assert verdict.summary == "4 finished entries carry no expiry, so TTL never removes them."
    assert verdict.state is State.ATTENTION


def test_an_unpublished_entry_with_an_expiry_can_vanish() -> None:
    waiting = entry(3, complete=False, expire_time=1)
    facts = log_store_facts(listing(range(3), temp=[temp_name(3)]), *(entry(v) for v in range(3)), waiting)

    assert codes(diagnose(facts)) == ["incomplete-with-expiry", "C2"]


def test_a_malformed_item_names_its_attribute() -> None:
    broken = entry(3, complete=None, problems=("complete is BOOL, not the text true or false",))
    verdict = diagnose(log_store_facts(listing(), *(entry(v) for v in range(3)), broken))

    assert codes(verdict) == ["malformed-item", "undecided"]
    assert "complete is BOOL" in verdict.summary


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", temp_name(2), "0.json", "s3://other/x"])
def test_a_temp_path_that_is_no_temp_file_of_its_version_is_not_followed(name: str) -> None:
    broken = entry(3, complete=False, temp=name)
    verdict = diagnose(log_store_facts(listing(range(3)), *(entry(v) for v in range(3)), broken))

    assert {"malformed-item", "undecided"} == set(codes(verdict))
    assert "C11" not in codes(verdict)


def test_a_registration_with_malformed_parts_names_them() -> None:
    broken = registration(3, accepting=None, problems=("acceptingCommits is the text True, not BOOL",))
    verdict = diagnose(table_facts(listing(), registrations=[broken]))

    assert any("acceptingCommits is the text True" in one.summary for one in verdict.findings)


def test_a_hole_above_the_checkpoint_stops_readers() -> None:
    verdict = diagnose(table_facts(listing([0, 1, 4, 5], checkpoints=[1])))

    assert verdict.summary == (
        "Versions 2 to 3 have no file, and later ones exist. Readers stop with DELTA_VERSIONS_NOT_CONTIGUOUS."
    )
    assert verdict.state is State.BLOCKED


def test_each_hole_is_a_finding_of_its_own() -> None:
    verdict = diagnose(table_facts(listing([0, 2, 3, 6])))
    found = [one for one in verdict.findings if one.code == "version-hole"]

    assert [(one.version, one.evidence["missing"]) for one in found] == [
        (5, [{"first": 4, "last": 5}]),
        (1, [{"first": 1, "last": 1}]),
    ]


def test_very_many_holes_are_bounded_and_all_counted() -> None:
    found = [one for one in diagnose(table_facts(listing(range(0, 200, 2)))).findings if one.code == "version-hole"]

    assert len(found) == MOST_FINDINGS
    assert found[-1].summary.startswith("Versions 159, 157, 155 and 77 more have no file")


def test_a_hole_below_the_checkpoint_costs_only_time_travel() -> None:
    verdict = diagnose(table_facts(listing([0, 1, 4, 5], checkpoints=[4])))

    assert (codes(verdict)[0], verdict.state) == ("version-hole", State.ATTENTION)


def test_a_lost_file_below_the_checkpoint_does_not_block() -> None:
    facts = log_store_facts(listing([0, 1, 3], checkpoints=[2]), *(entry(v) for v in range(4)))

    assert diagnose(facts).state is State.ATTENTION


def test_a_log_without_its_start_needs_a_checkpoint() -> None:
    assert codes(diagnose(table_facts(listing([5, 6]))))[0] == "log-start-missing"
    assert diagnose(table_facts(listing([5, 6], checkpoints=[5]))).state is State.HEALTHY


def test_a_checkpoint_without_all_its_parts_does_not_count() -> None:
    part = log_object("00000000000000000005.checkpoint.0000000001.0000000002.parquet")
    log: LogListing = replace(listing([5, 6]), checkpoints={5: (part,)})

    assert codes(diagnose(table_facts(log)))[0] == "log-start-missing"


def test_a_partial_listing_says_nothing_of_what_came_before() -> None:
    assert diagnose(table_facts(listing([5, 6], from_version=5))).state is State.HEALTHY


def test_parts_that_could_not_be_read_are_named() -> None:
    problem = ReadingProblem("00000000000000000002.json line 3", "The line is no JSON.")
    verdict = diagnose(table_facts(listing(), problems=[problem]))

    assert verdict.summary == "00000000000000000002.json line 3 could not be read: The line is no JSON."
    assert verdict.state is State.ATTENTION


def test_a_fact_that_could_not_be_read_is_not_checked() -> None:
    problem = ReadingProblem("entries of delta_log", "AccessDenied on dynamodb:Query.")
    facts = replace(log_store_facts(listing()), problems=(problem,))

    assert (codes(diagnose(facts)), diagnose(facts).state) == (["not-read"], State.NOT_CHECKED)


@pytest.mark.parametrize(
    ("mechanism", "code", "state"),
    [
        (Mechanism.SINGLE_DRIVER, "single-driver", State.HEALTHY),
        (Mechanism.CATALOG_MANAGED, "catalog-managed", State.NOT_CHECKED),
        (Mechanism.UNKNOWN, "undecided", State.NOT_CHECKED),
    ],
)
def test_a_table_without_entries_says_what_guards_it(mechanism: Mechanism, code: str, state: State) -> None:
    verdict = diagnose(table_facts(listing(), mechanism=mechanism))

    assert (codes(verdict), verdict.state) == ([code], state)


def test_an_empty_log_is_no_table() -> None:
    assert codes(diagnose(table_facts(listing(()))))[0] == "empty-log"


def test_a_log_of_a_checkpoint_alone_is_read() -> None:
    verdict = diagnose(table_facts(listing((), checkpoints=[9])))

    assert (codes(verdict)[0], verdict.state) == ("checkpoint-without-commit", State.BLOCKED)
    assert (verdict.published_version, verdict.accepted_version) == (9, 9)
    assert verdict.summary == (
        'The log has checkpoint 9, and no commit file is there. Spark stops with "Could not find any delta files for '
        'version 9"; deltalake reads that version and cannot append.'
    )


def test_commit_files_that_end_below_a_checkpoint_are_lost() -> None:
    verdict = diagnose(table_facts(listing(range(5), checkpoints=[7])))

    [end] = [one for one in verdict.findings if one.code == "checkpoint-without-commit"]
    assert list(end.versions) == [5, 6, 7]
    assert verdict.published_version == 4


@pytest.mark.parametrize("commits", [[7], range(8), [7, 8], [8]])
def test_a_commit_at_or_above_the_checkpoint_makes_the_log_whole(commits: Iterable[int]) -> None:
    assert diagnose(table_facts(listing(commits, checkpoints=[7]))).state is State.HEALTHY


def test_a_version_that_an_item_accepted_is_spoken_of_by_its_item_alone() -> None:
    assert codes(diagnose(log_store_facts(listing(range(7), checkpoints=[7]), entry(7))))[0] == "C7"
    unused = table_facts(listing((), checkpoints=[7]), registrations=[registration(9, accepted=False)])
    assert codes(diagnose(unused))[0] == "checkpoint-without-commit"


@pytest.mark.parametrize(
    "facts",
    [
        log_store_facts(listing((), checkpoints=[7]), entry(7)),
        coordinated_facts(listing((), checkpoints=[7]), registration(7)),
    ],
)
def test_what_is_lost_beside_its_checkpoint_is_not_said_to_be_seen(facts: TableFacts) -> None:
    assert 'Spark stops with "Could not find any delta files for version 7".' in diagnose(facts).summary


def test_an_entry_above_a_lone_checkpoint_is_pending_on_it() -> None:
    facts = log_store_facts(listing((), checkpoints=[7], temp=[temp_name(8)]), entry(8, complete=False))

    assert codes(diagnose(facts)) == ["C2"]


def test_the_summary_is_the_worst_finding() -> None:
    entries = [*(entry(v, expire_time=None) for v in range(3)), entry(3)]
    verdict = diagnose(log_store_facts(listing(range(3)), *entries))

    assert codes(verdict) == ["C7", "no-expiry"]
    assert verdict.summary == verdict.findings[0].summary
    assert [one.severity for one in verdict.findings] == [Severity.CRITICAL, Severity.WARNING]


def test_versions_carry_thousands_separators_in_prose_and_none_in_names() -> None:
    log = listing(range(1_040, 1_042), checkpoints=[1_040], temp=[temp_name(1_042)])
    verdict = diagnose(log_store_facts(log, entry(1_041), entry(1_042)))

    assert "Commit 1,042 is complete" in verdict.summary
    assert "1042.json" in verdict.summary


def test_only_a_commit_file_publishes_a_version() -> None:
    other = log_object("00000000000000000009.crc")

    assert diagnose(replace(table_facts(listing()), heads={other.name: other})).published_version == 3


def test_findings_that_share_code_and_version_are_one() -> None:
    orphans = [registration(2, table_id=name, accepted=False) for name in ("a", "b", "c")]
    verdict = diagnose(table_facts(listing(), registrations=orphans))
    (orphan,) = (one for one in verdict.findings if one.code == "K0")

    assert orphan.summary.endswith("2 more findings of this kind.")
    assert len(orphan.evidence["also"]) == 2
    assert orphan.repairs == ("remove-orphans",)


def test_very_many_malformed_items_are_bounded() -> None:
    broken = [entry(v, temp="x") for v in range(500)]

    assert len(diagnose(log_store_facts(listing(range(500)), *broken)).findings) < 30
