"""States K0 to K12 of the commit coordinator, and what a drop that stopped half-way leaves."""

from typing import Any

import pytest

from coordinator.protocols.verdict import Severity, State
from lake.delta.facts import Mechanism, ReadingProblem, TableFacts
from tests.builders.facts import (
    DAY,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_object,
    protocol,
    registration,
    staged_name,
    table_facts,
)
from tests.coordinator.protocols.judged import codes, finding, verdict_of

STAGED = [staged_name(v) for v in range(1, 5)]


def at(version: int, *listed: int, staged: Any = (), facts: Any = None, **item: Any) -> TableFacts:
    """Versions 0 to 3 are published; the registration stands at a version and lists some."""
    held = registration(version, *map(coordinator_commit, listed), **item)
    return coordinated_facts(listing(staged=staged), held, **(facts or {}))


def loser(**changed: Any) -> TableFacts:
    """A staged file of version 3 beside the one that is published."""
    file = log_object(staged_name(3, "loser"), **{"age": 2 * DAY, "size": 900, **changed})
    return at(3, staged=[staged_name(3), file], facts={"copies": {file.name: False}})


def beside(**other: Any) -> TableFacts:
    """A table at 3 with another registration of its path."""
    return coordinated_facts(listing(), registration(3), registration(2, table_id="other", **other))


OLDER, NEWER = staged_name(4, folder="_commits"), staged_name(4)
WAITING_BELOW = coordinated_facts(
    listing(staged=[OLDER, staged_name(5)]), registration(5, *map(coordinator_commit, (4, 5)))
)
LEFT = table_facts(listing(), registrations=[registration(2, accepting=False)])
ACCEPTING = table_facts(listing(), registrations=[registration(3)])
UNREAD = ReadingProblem("registrations of commits", "AccessDenied on dynamodb:GetItem.")

STATES: list[tuple[str, TableFacts, State, str, tuple[str, ...]]] = [
    ("an upgrade's leftover", beside(accepted=False), State.HEALTHY, "K0", ("remove-orphans",)),
    ("registered", at(3, accepted=False), State.HEALTHY, "K1", ()),
    ("not backfilled", at(3, staged=[log_object(NEWER, age=2 * DAY)]), State.HEALTHY, "K2", ()),
    ("a loser of the same length", loser(size=1_000, etag="other"), State.HEALTHY, "K2", ("remove-orphans",)),
    ("a loser of another length", loser(), State.HEALTHY, "K2", ("remove-orphans",)),
    ("a young loser", loser(age=3_600), State.HEALTHY, "K2", ()),
    ("one waits", at(4, 4, staged=STAGED), State.UNBACKFILLED, "K3", ("backfill",)),
    ("stale", at(3, 3, staged=STAGED, facts={"equal_bytes": {3: True}}), State.ATTENTION, "K4", ("clear-entries",)),
    ("other bytes", at(3, 3, staged=STAGED, facts={"equal_bytes": {3: False}}), State.UNSAFE, "K4", ()),
    ("cleared too early", at(4, staged=STAGED), State.BLOCKED, "K6", ("publish-accepted-staged-file",)),
    ("cleared too early, no staged file", at(4), State.BLOCKED, "K6", ()),
    ("cleared too early, nothing accepted", at(4, accepted=False), State.BLOCKED, "K6", ()),
    ("staged file lost", at(4, 4), State.BLOCKED, "K7", ()),
    ("missing", coordinated_facts(listing()), State.BLOCKED, "K8", ("re-register",)),
    ("behind", at(1), State.BLOCKED, "K9", ("raise-coordinator-version",)),
    ("behind, nothing accepted", at(1, accepted=False), State.BLOCKED, "K9", ("raise-coordinator-version",)),
    ("left its coordinator", LEFT, State.HEALTHY, "K10", ()),
    ("came back", beside(accepting=False), State.HEALTHY, "K11", ()),
    ("both folders", WAITING_BELOW, State.BLOCKED, "K3", ("backfill",)),
    ("waits for 3.3", at(4, 4, staged=[OLDER, staged_name(3)]), State.BLOCKED, "K3", ("backfill",)),
    ("upgraded", at(4, 4, staged=[staged_name(3, folder="_commits"), NEWER]), State.ATTENTION, "K12", ()),
]


@pytest.mark.parametrize(("name", "facts", "state", "code", "repairs"), STATES)
def test_each_state_has_its_code_its_state_and_its_repairs(name, facts, state, code, repairs) -> None:
    verdict = verdict_of(facts)

    assert (verdict.state, finding(verdict, code).repairs) == (state, repairs), name


def test_k5_an_empty_list_with_every_file_in_place_is_healthy() -> None:
    verdict = verdict_of(at(3, staged=STAGED[:3]))

    assert (verdict.state, verdict.findings) == (State.HEALTHY, ())


def test_three_unbackfilled_commits_are_one_finding_and_three_entries() -> None:
    facts = coordinated_facts(listing(range(2), staged=STAGED), registration(4, *map(coordinator_commit, (2, 3, 4))))
    verdict = verdict_of(facts)

    assert verdict.summary == (
        "Commits 2 to 4 are accepted and not backfilled. Delta readers see them; Trino and Athena stay at 1."
    )
    assert [(one.version, one.code, one.file_present) for one in verdict.entries] == [
        (version, "K3", True) for version in (4, 3, 2)
    ]
    assert (verdict.published_version, verdict.accepted_version, verdict.unpublished) == (1, 4, (2, 3, 4))


def test_an_entry_whose_file_exists_is_not_unbackfilled() -> None:
    assert verdict_of(at(4, 3, 4, staged=STAGED)).unpublished == (4,)


@pytest.mark.parametrize(("age", "severity"), [(59, Severity.INFO), (61, Severity.WARNING)])
def test_an_unbackfilled_commit_becomes_a_warning_after_a_minute(age: float, severity: Severity) -> None:
    verdict = verdict_of(at(4, 4, staged=[log_object(NEWER, age=age)]))

    assert (verdict.state, finding(verdict, "K3").severity) == (State.UNBACKFILLED, severity)


def test_staged_files_of_3_3_alone_are_no_mixture() -> None:
    verdict = verdict_of(at(4, 4, staged=[OLDER]))

    assert (verdict.state, verdict.entries[0].file) == (State.UNBACKFILLED, OLDER)


def test_a_staged_file_of_another_length_is_not_backfilled() -> None:
    verdict = verdict_of(at(4, 4, staged=[log_object(NEWER, size=7)]))

    assert (verdict.state, codes(verdict)) == (State.UNSAFE, ["staged-size-differs"])
    assert verdict.findings[0].repairs == ()


def test_accepted_versions_missing_from_the_list_are_found() -> None:
    facts = coordinated_facts(listing(range(2), staged=STAGED), registration(4, coordinator_commit(4)))
    found = finding(facts, "list-not-contiguous")

    assert (found.evidence["missing"], found.state) == ([{"first": 2, "last": 3}], State.BLOCKED)


def test_a_stale_list_of_a_downgraded_registration_is_never_cleared_by_itself() -> None:
    closed = registration(3, coordinator_commit(3), accepting=False)
    facts = table_facts(listing(staged=STAGED, age=5), registrations=[closed], equal_bytes={3: True})

    assert finding(facts, "K4").state is State.ATTENTION


@pytest.mark.parametrize(
    ("facts", "found", "state"),
    [
        (ACCEPTING, ["accepts-without-table", "single-driver"], State.ATTENTION),
        (at(0, accepting=False), ["K9", "refuses-commits"], State.BLOCKED),
        (at(3, path="s3a://lake/original"), ["path-differs"], State.BLOCKED),
        (at(9, schema_version=2), ["undecided"], State.NOT_CHECKED),
        (at(4, 4, staged=None), ["undecided"], State.NOT_CHECKED),
        (at(4, accepted=None), ["undecided"], State.NOT_CHECKED),
        (at(3, facts={"entries": [entry(0), entry(3)]}), ["both-mechanisms"], State.HEALTHY),
        (at(2, staged=[staged_name(3)]), ["K9"], State.BLOCKED),
        (at(3, staged=[log_object(staged_name(3), age=2 * DAY, etag="encrypted")]), ["not-compared"], State.HEALTHY),
        (coordinated_facts(listing(), problems=[UNREAD]), ["not-read"], State.NOT_CHECKED),
    ],
)
def test_what_else_an_item_can_be(facts: TableFacts, found: list[str], state: State) -> None:
    verdict = verdict_of(facts)

    assert (codes(verdict), verdict.state) == (found, state)


def test_metadata_without_a_table_id_names_the_missing_fact() -> None:
    facts = table_facts(listing(), mechanism=Mechanism.COORDINATED_COMMITS, registrations=[registration(3)])

    assert verdict_of(facts).state is State.NOT_CHECKED
    assert "delta.coordinatedCommits.tableConf-preview" in verdict_of(facts).summary


FEATURES = ("coordinatedCommits-preview", "inCommitTimestamp", "vacuumProtocolCheck")


def dropped(version: int, *listed: int, features: tuple[str, ...] = FEATURES, **facts: Any) -> TableFacts:
    """A table that names no coordinator, beside its closed registration."""
    closed = registration(version, *map(coordinator_commit, listed), accepting=False)
    log = listing(staged=[staged_name(v) for v in listed])
    return table_facts(log, table_protocol=protocol(features=features), registrations=[closed], **facts)


@pytest.mark.parametrize("listed", [(), (3,)])
def test_a_closed_registration_and_the_feature_are_a_drop_stopped_half_way(listed: tuple[int, ...]) -> None:
    found = finding(dropped(3, *listed), "half-dropped")

    assert found.state is State.ATTENTION
    assert found.meaning.endswith("Drop once more to finish, or enable again to undo.")
    assert found.evidence["closed_registrations"]
    assert "unguarded-commit" not in codes(dropped(3, *listed))


def test_a_clone_that_took_the_feature_along_is_healthy() -> None:
    verdict = verdict_of(table_facts(listing(), table_protocol=protocol(features=FEATURES)))

    assert verdict.state is State.HEALTHY
    assert "feature-without-coordinator" in codes(verdict)


def test_a_finished_drop_says_neither() -> None:
    assert codes(dropped(3, features=FEATURES[1:])) == ["K10", "single-driver"]


def test_an_unpublished_commit_is_backfilled_before_the_drop_is_finished() -> None:
    verdict = verdict_of(dropped(4, 4))
    meaning = finding(verdict, "half-dropped").meaning

    assert "Backfill first, for commit 4 is accepted and not published. Then drop once more" in meaning
    assert (verdict.state, finding(verdict, "unguarded-commit").version) == (State.ATTENTION, 4)
    assert "single-driver" not in codes(verdict)


def test_nor_is_one_safe_whose_registration_still_accepts_commits_that_its_metadata_does_not_know() -> None:
    accepting = registration(4, coordinator_commit(4))

    assert "single-driver" not in codes(table_facts(listing(staged=[NEWER]), registrations=[accepting]))


def test_several_writers_do_not_hide_the_commit_that_waits() -> None:
    facts = dropped(4, 4, engines={1: "Apache-Spark/4.2.0", 2: "delta-rs:py-1.6.6", 3: "Apache-Spark/4.2.0"})

    assert {"several-writers", "unguarded-commit"} <= set(codes(facts))
