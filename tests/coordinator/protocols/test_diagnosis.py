"""Findings beside the states of the tables C and K, whether readers can build a table, and what a verdict is of."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from coordinator.protocols.judgement import MOST_FINDINGS
from coordinator.protocols.needed_facts import wanted_checksums
from coordinator.protocols.verdict import Severity, State
from lake.delta.facts import CommitInfo, LockDomain, LogListing, Mechanism, ReadingProblem, TableFacts
from tests.builders.facts import (
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
    said,
    table_facts,
    temp_name,
)
from tests.coordinator.protocols.judged import codes, finding, verdict_of

FOUR = [entry(v) for v in range(4)]
NO_DIGIT = entry(3, complete=None, problems=("complete is BOOL, not the text true or false",))
PART = log_object("00000000000000000005.checkpoint.0000000001.0000000002.parquet")
UNREAD_LINE = ReadingProblem("00000000000000000002.json line 3", "The line is no JSON.")
UNREAD_STORE = ReadingProblem("entries of delta_log", "AccessDenied on dynamodb:Query.")


@pytest.mark.parametrize(
    ("facts", "found", "state"),
    [
        (log_store_facts(listing(), *FOUR[2:]), [], State.HEALTHY),
        (
            log_store_facts(listing(()), entry(0), heads={commit_name(0): log_object(commit_name(0))}),
            [],
            State.HEALTHY,
        ),
        (
            log_store_facts(listing(), *FOUR[:3], entry(3, commit_time=1_700_000_000, expire_time=None)),
            ["old-writer"],
            State.ATTENTION,
        ),
        (log_store_facts(listing(), *(entry(v, expire_time=None) for v in range(4))), ["no-expiry"], State.ATTENTION),
        (
            log_store_facts(listing(range(3), temp=[temp_name(3)]), *FOUR[:3], entry(3, complete=False, expire_time=1)),
            ["incomplete-with-expiry", "C2"],
            State.UNSAFE,
        ),
        (log_store_facts(listing(), *FOUR[:3], NO_DIGIT), ["malformed-item", "undecided"], State.ATTENTION),
        (log_store_facts(listing(), *FOUR, FOUR[3]), ["malformed-item"], State.ATTENTION),
        (table_facts(listing([0, 1, 4, 5], checkpoints=[1])), ["version-hole", "single-driver"], State.BLOCKED),
        (table_facts(listing([0, 1, 4, 5], checkpoints=[4])), ["version-hole", "single-driver"], State.ATTENTION),
        (table_facts(listing([5, 6])), ["log-start-missing", "single-driver"], State.BLOCKED),
        (table_facts(listing([5, 6], checkpoints=[5])), ["single-driver"], State.HEALTHY),
        (
            table_facts(replace(listing([5, 6]), checkpoints={5: (PART,)})),
            ["log-start-missing", "single-driver"],
            State.BLOCKED,
        ),
        (table_facts(listing([5, 6], from_version=5)), ["single-driver"], State.HEALTHY),
        (table_facts(listing(), problems=[UNREAD_LINE]), ["unreadable", "single-driver"], State.ATTENTION),
        (log_store_facts(listing(), problems=[UNREAD_STORE]), ["not-read"], State.NOT_CHECKED),
        (table_facts(listing()), ["single-driver"], State.HEALTHY),
        (table_facts(listing(), mechanism=Mechanism.CATALOG_MANAGED), ["catalog-managed"], State.NOT_CHECKED),
        (table_facts(listing(checkpoints=[7]), mechanism=Mechanism.CATALOG_MANAGED), ["catalog-managed"],
         State.NOT_CHECKED),
        (table_facts(listing(), mechanism=Mechanism.UNKNOWN), ["undecided"], State.NOT_CHECKED),
        (table_facts(listing(())), ["empty-log", "single-driver"], State.ATTENTION),
    ],
    ids=[
        "versions below every entry", "begun after it was listed", "an old writer", "no expiry",
        "incomplete, expires", "malformed", "a second item", "a hole above the checkpoint", "a hole below it",
        "no start", "a checkpoint for the start", "half a checkpoint", "the tail alone", "a part unread",
        "a fact unread", "one driver", "catalog", "its end", "unknown", "empty",
    ],
)  # fmt: skip
def test_what_was_read_has_its_findings(facts: TableFacts, found: list[str], state: State) -> None:
    verdict = verdict_of(facts)

    assert (codes(verdict), verdict.state) == (found, state)


def test_a_shorter_life_that_entries_show_is_believed() -> None:
    hour = int(NOW.timestamp())
    short_lived = [entry(0, expire_time=hour - 7_200 + 600), entry(3, expire_time=hour - 60 + 600)]
    facts = log_store_facts(listing(ages={0: 7_200, 1: 3_600, 2: 3_600, 3: 60}), *short_lived)

    assert "foreign-writer" not in codes(facts)


@pytest.mark.parametrize("mechanism", [one for one in Mechanism if one is not Mechanism.LOG_STORE])
def test_only_log_store_tables_have_foreign_writers(mechanism: Mechanism) -> None:
    facts = table_facts(listing(), mechanism=mechanism, entries=[entry(0), entry(3)])

    assert "foreign-writer" not in codes(facts)


@pytest.mark.parametrize("other", ["s3://lake/orders", "S3A://lake/orders", "s3a://lake/orders/"])
def test_two_spellings_of_one_path_are_two_locks(other: str) -> None:
    facts = log_store_facts(listing(), *FOUR, entry(3, path=other))
    of_none = replace(log_store_facts(listing(), *FOUR), entries={**facts.entries, LockDomain(STORE, other): ()})

    assert codes(facts) == codes(of_none) == ["two-lock-domains"]
    assert {URI, other} <= set(finding(facts, "two-lock-domains").summary.replace(". ", " ").split())


@pytest.mark.parametrize("other", ["s3a://lake/Orders", "s3a://lake//orders", "s3a://lake/o%72"])
def test_entries_of_another_place_on_s3_are_left_out(other: str) -> None:
    verdict = verdict_of(log_store_facts(listing(), *FOUR, entry(900, path=other)))

    assert (codes(verdict), verdict.accepted_version) == (["malformed-item"], 3)


@pytest.mark.parametrize("name", ["../../secret", temp_name(2)])
def test_a_temp_path_that_is_no_temp_file_of_its_version_is_not_followed(name: str) -> None:
    facts = log_store_facts(listing(range(3)), *FOUR[:3], entry(3, complete=False, temp=name))

    assert {"malformed-item", "undecided"} == set(codes(facts))


def test_malformed_parts_are_named() -> None:
    broken = registration(3, accepting=None, problems=("acceptingCommits is the text True, not BOOL",))

    assert "acceptingCommits is the text True" in finding(table_facts(registrations=[broken]), "malformed-item").summary


def test_each_hole_is_a_finding_of_its_own() -> None:
    verdict = verdict_of(table_facts(listing([0, 2, 3, 6])))
    found = [one for one in verdict.findings if one.code == "version-hole"]

    assert [(one.version, one.evidence["missing"]) for one in found] == [
        (5, [{"first": 4, "last": 5}]),
        (1, [{"first": 1, "last": 1}]),
    ]


def test_very_many_holes_are_bounded_and_all_counted() -> None:
    found = [one for one in verdict_of(table_facts(listing(range(0, 200, 2)))).findings if one.code == "version-hole"]

    assert len(found) == MOST_FINDINGS
    assert found[-1].summary.startswith("Versions 159, 157, 155 and 77 more have no file")


def test_a_log_of_a_checkpoint_alone_is_read() -> None:
    verdict = verdict_of(table_facts(listing((), checkpoints=[9])))

    assert (codes(verdict)[0], verdict.state) == ("checkpoint-without-commit", State.BLOCKED)
    assert (verdict.published_version, verdict.accepted_version) == (9, 9)
    assert verdict.summary == (
        'The log has checkpoint 9, and no commit file is there. Spark stops with "Could not find any delta files for '
        'version 9"; deltalake reads that version and cannot append.'
    )


def test_commit_files_that_end_below_a_checkpoint_are_lost() -> None:
    verdict = verdict_of(table_facts(listing(range(5), checkpoints=[7])))

    [end] = [one for one in verdict.findings if one.code == "checkpoint-without-commit"]
    assert list(end.versions) == [5, 6, 7]
    assert verdict.published_version == 4


@pytest.mark.parametrize("commits", [[7], range(8), [7, 8], [8]])
def test_a_commit_at_or_above_the_checkpoint_makes_the_log_whole(commits: Iterable[int]) -> None:
    assert verdict_of(table_facts(listing(commits, checkpoints=[7]))).state is State.HEALTHY


def test_a_version_that_an_item_accepted_is_spoken_of_by_its_item_alone() -> None:
    assert codes(log_store_facts(listing(range(7), checkpoints=[7]), entry(7)))[0] == "C7"
    unused = table_facts(listing((), checkpoints=[7]), registrations=[registration(9, accepted=False)])
    assert codes(unused)[0] == "checkpoint-without-commit"


@pytest.mark.parametrize(
    "facts",
    [
        log_store_facts(listing((), checkpoints=[7]), entry(7)),
        coordinated_facts(listing((), checkpoints=[7]), registration(7)),
    ],
)
def test_what_is_lost_beside_its_checkpoint_is_not_said_to_be_seen(facts: TableFacts) -> None:
    assert 'Spark stops with "Could not find any delta files for version 7".' in verdict_of(facts).summary


def test_the_summary_is_the_worst_finding_with_separators_in_prose_and_none_in_names() -> None:
    log = listing(range(1_040, 1_042), checkpoints=[1_040], temp=[temp_name(1_042)])
    verdict = verdict_of(log_store_facts(log, entry(1_041, expire_time=None), entry(1_042)))

    assert codes(verdict) == ["C6", "no-expiry"]
    assert [one.severity for one in verdict.findings] == [Severity.CRITICAL, Severity.WARNING]
    assert verdict.summary.startswith("Commit 1,042 is complete in DynamoDB, but …1042.json is gone.")


def test_only_a_commit_file_publishes_a_version() -> None:
    other = log_object("00000000000000000009.crc")

    assert verdict_of(replace(table_facts(listing()), heads={other.name: other})).published_version == 3


def test_findings_that_share_code_and_version_are_one() -> None:
    orphans = [registration(2, table_id=name, accepted=False) for name in ("a", "b", "c")]
    verdict = verdict_of(table_facts(listing(), registrations=orphans))
    (orphan,) = (one for one in verdict.findings if one.code == "K0")

    assert orphan.summary.endswith("2 more findings of this kind.")
    assert len(orphan.evidence["also"]) == 2
    assert orphan.repairs == ("remove-orphans",)


def test_very_many_malformed_items_are_bounded() -> None:
    broken = [entry(v, temp="x") for v in range(500)]

    assert len(verdict_of(log_store_facts(listing(range(500)), *broken)).findings) < 30


SPARK = "Apache-Spark/4.2.0 Delta-Lake/4.4.0"


def summed_up(log: LogListing, ages: Mapping[int, float]) -> TableFacts:
    """Facts of a log with a `.crc` of such ages beside some of its commits, which are an hour old."""
    checksums = {v: log_object(f"{v:020d}.crc", age=age) for v, age in ages.items()}
    return replace(table_facts(log, mechanism=Mechanism.LOG_STORE), listing=replace(log, checksums=checksums))


def test_a_checksum_is_read_where_its_commit_was_put_after_it() -> None:
    facts = summed_up(listing(range(30)), {v: 3_700 if v in {4, 9} else 3_600 for v in range(30)})

    assert wanted_checksums(facts) == (9, 4)


def test_of_a_log_that_was_copied_the_newest_checksums_are_read() -> None:
    assert wanted_checksums(summed_up(listing(range(300)), dict.fromkeys(range(300), 3_700))) == (*range(299, 279, -1),)


@pytest.mark.parametrize(
    ("info", "is_another"),
    [
        (said(3, transaction="of-4", engine=SPARK), True),
        (said(3, transaction="of-3", engine=SPARK), False),
        (said(3, engine="delta-rs:py-1.6.6"), True),
        (said(3, engine=SPARK), False),
        (said(3), False),
        (said(3, transaction="of-4", etag="of an older file"), False),
    ],
)
def test_a_commit_and_its_checksum_are_of_one_transaction(info: CommitInfo, is_another: bool) -> None:
    facts = replace(summed_up(listing(), {3: 3_600}), commit_infos={3: info}, checksum_transactions={3: "of-3"})

    assert ("checksum-of-another" in codes(facts)) is is_another


@pytest.mark.parametrize(("commits", "checkpoints", "is_long"), [(1_000, [], 0), (1_001, [], 1), (2_000, [999], 0)])
def test_commits_without_a_checkpoint_are_a_finding_when_they_are_many(commits, checkpoints, is_long) -> None:
    facts = table_facts(listing(range(commits), checkpoints=checkpoints), mechanism=Mechanism.SINGLE_DRIVER)

    assert ("long-replay" in codes(facts)) is bool(is_long)


def test_of_the_tail_of_a_log_nothing_is_concluded() -> None:
    facts = replace(table_facts(listing(range(90, 99), from_version=90)), hinted=50)

    assert verdict_of(facts).state is State.HEALTHY
