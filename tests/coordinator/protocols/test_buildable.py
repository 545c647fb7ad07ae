"""Whether readers can build a table: what names, sizes and a few bytes of its log decide."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.needed_facts import wanted_checksums
from coordinator.protocols.single_driver import take_turns
from coordinator.protocols.verdict import State
from lake.delta.facts import CommitInfo, LogListing, Mechanism, TableFacts
from tests.builders.facts import listing, log_object, said, table_facts

SPARK = "Apache-Spark/4.2.0 Delta-Lake/4.4.0"


def summed_up(log: LogListing, ages: Mapping[int, float]) -> TableFacts:
    """Facts of a log with a `.crc` of such ages beside some of its commits, which are an hour old."""
    checksums = {v: log_object(f"{v:020d}.crc", age=age) for v, age in ages.items()}
    return replace(table_facts(log, mechanism=Mechanism.LOG_STORE), listing=replace(log, checksums=checksums))


def codes(facts: TableFacts) -> set[str]:
    return {one.code for one in diagnose(facts).findings}


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

    assert diagnose(facts).state is State.HEALTHY


@pytest.mark.parametrize(
    ("engines", "several"),
    [
        ({SPARK: (0, 9)}, False),
        ({SPARK: (0, 4), SPARK + ".1": (5, 9)}, False),
        ({SPARK: (0, 6), SPARK + ".1": (5, 9)}, True),
        ({SPARK: (0, 4), "delta-rs:py-1.6.6": (5, 9)}, True),
    ],
)
def test_an_upgrade_is_one_writer(engines, several) -> None:
    assert take_turns(engines) is several
