"""What the rows of other connections know to be accepted counts like a rival of what this one knows."""

from dataclasses import replace
from typing import Any

import pytest

from coordinator.protocols.accepted_elsewhere import KnownElsewhere, with_acceptances_of, with_elsewhere
from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.log_view import LogView
from coordinator.protocols.provenance import MOST_RIVALS
from coordinator.protocols.survivors import Proof
from coordinator.protocols.temp_orphans import temp_fates
from coordinator.protocols.verdict import Severity
from lake.delta.facts import Acceptance, LockDomain, Provenance, TableFacts
from tests.builders.facts import (
    DAY,
    commit_name,
    listing,
    log_object,
    log_store_facts,
    protocol,
    provenance,
    temp_name,
)

PATH = "s3a://lake/orders"
OURS, THEIRS, THIRD = (temp_name(3, name) for name in ("ours", "theirs", "third"))
ID = "table-1"


def known(version: int, name: str | None, region: str = "us-east-1", age: float = 2 * DAY, **more: Any) -> Provenance:
    accepted: dict[str, Any] = (
        {"store": "delta_log", "region": region, "lock_domain": PATH, "file_name": name} if name else {}
    )
    return provenance(version, **{"etag": "e", "size": 1_000, "age": age, **accepted, **more})


def facts_of(*seen: Provenance, temp: tuple[str, ...] = (OURS, THEIRS, THIRD)) -> TableFacts:
    files = [log_object(name, age=DAY, etag=name) for name in temp]
    copies = {name: name == OURS for name in temp}
    facts = log_store_facts(listing(range(5), age=DAY, temp=files), seen=seen, copies=copies)
    return replace(facts, protocol=replace(protocol(), table_id=ID), had_entries=True)


def there(*seen: Provenance, table_id: str = ID) -> KnownElsewhere:
    return KnownElsewhere("eu", table_id, {one.version: one for one in seen}, (LockDomain("delta_log", PATH),))


def codes(facts: TableFacts) -> set[str]:
    return {one.code for one in diagnose(facts).findings if one.severity is Severity.CRITICAL}


BY_US = known(3, OURS, age=3 * DAY)
BY_EU = known(3, THEIRS, "eu-west-1")


@pytest.mark.parametrize(("own", "other"), [(BY_US, BY_EU), (BY_EU, BY_US)], ids=["the one published", "the other"])
def test_a_version_that_each_of_two_connections_saw_accepted_once_was_accepted_twice(own, other):
    facts = facts_of(own)

    assert "accepted-twice" not in codes(facts)
    assert "accepted-twice" in codes(with_elsewhere(facts, [there(other)]))


def test_one_commit_that_both_saw_is_no_second_one():
    facts = facts_of(BY_US)

    assert with_elsewhere(facts, [there(replace(BY_US, seen_at=None))]).provenance == facts.provenance


def test_a_commit_that_is_accepted_again_by_one_lock_is_led_by_the_first():
    first = known(3, THEIRS, age=4 * DAY)
    both = with_elsewhere(facts_of(BY_US), [there(first)]).provenance[3]

    assert [one.file_name for one in both.acceptances] == [THEIRS, OURS]


def test_what_was_given_up_here_counts_no_more_although_another_connection_saw_it():
    gone = Acceptance("delta_log", "eu-west-1", PATH, THEIRS, abandoned_at=BY_EU.accepted_at)
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
    assert fates(told)[THEIRS] is Proof.NEEDED


def test_such_a_row_that_knows_nothing_else_leaves_nothing_open():
    unknown = there(replace(BY_US, etag="old"), table_id="")

    assert with_elsewhere(facts_of(BY_US), [unknown]).problems == ()


def test_an_entry_beside_a_coordinators_list_disputes_nothing():
    listed = known(3, f"{3:020d}.staged.json", "eu-west-1", lock_domain="11111111-table")

    both = with_elsewhere(facts_of(BY_US), [there(listed)]).provenance[3]

    assert (len(both.acceptances), both.disputed) == (2, False)


def test_no_file_of_a_version_that_another_lock_gave_away_too_counts_as_refused():
    seen = known(3, OURS, age=DAY - 1)
    alone, both = facts_of(seen), with_elsewhere(facts_of(seen), [there(BY_EU)])

    assert fates(alone) == {OURS: Proof.COPIED, THEIRS: Proof.NEVER_ACCEPTED, THIRD: Proof.NEVER_ACCEPTED}
    assert fates(both) == {OURS: Proof.COPIED, THEIRS: Proof.NEEDED, THIRD: Proof.UNPROVEN}


def fates(facts: TableFacts) -> dict[str, Proof]:
    return {file.name: fate.proof for file, fate in temp_fates(LogView(facts), [])}


def test_every_file_that_was_accepted_counts_however_many_there_are():
    names = [temp_name(3, f"n{number}") for number in range(MOST_RIVALS + 3)]
    others = [known(3, name, f"region-{number}") for number, name in enumerate(names)]

    both = with_acceptances_of(BY_US, others)

    assert all(both.accepted(name) for name in names)


def test_what_was_given_up_elsewhere_is_an_accepted_file_too():
    other = Provenance(3, abandoned=(Acceptance("delta_log", "eu-west-1", PATH, THEIRS),))

    both = with_acceptances_of(BY_US, [other])

    assert both.accepted(THEIRS)
    assert not both.disputed


def test_a_version_that_is_known_elsewhere_alone_is_not_missed_here():
    above = known(9, temp_name(9), "eu-west-1", seen_at=None)

    assert commit_name(9) not in diagnose(with_elsewhere(facts_of(BY_US), [there(BY_US, above)])).summary
    assert codes(with_elsewhere(facts_of(BY_US), [there(BY_US, above)])) == codes(facts_of(BY_US))
