"""States K0 to K12 of the commit coordinator."""

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import Finding, Severity, State, Verdict
from lake.delta.facts import Mechanism, ReadingProblem, TableFacts
from tests.builders.facts import (
    DAY,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_object,
    log_store_facts,
    protocol,
    registration,
    staged_name,
    table_facts,
)

STAGED = [staged_name(v) for v in range(1, 5)]


def finding(verdict: Verdict, code: str) -> Finding:
    return next(one for one in verdict.findings if one.code == code)


def codes(verdict: Verdict) -> list[str]:
    return [one.code for one in verdict.findings]


STATES: list[tuple[str, TableFacts, State, str, int, int, tuple[str, ...]]] = [
    (
        "K0",
        coordinated_facts(listing(), registration(3), registration(2, table_id="other", accepted=False)),
        State.HEALTHY,
        "K0",
        3,
        3,
        ("remove-orphans",),
    ),
    ("K1", coordinated_facts(listing(), registration(3, accepted=False)), State.HEALTHY, "K1", 3, 3, ()),
    (
        "K2 of a version that is not backfilled",
        coordinated_facts(listing(staged=[log_object(staged_name(4), age=2 * DAY)]), registration(3)),
        State.HEALTHY,
        "K2",
        3,
        3,
        (),
    ),
    (
        "K2 loser beside the accepted copy",
        coordinated_facts(
            listing(staged=[staged_name(3), log_object(staged_name(3, "loser"), age=2 * DAY, etag="other")]),
            registration(3),
            copies={staged_name(3, "loser"): False},
        ),
        State.HEALTHY,
        "K2",
        3,
        3,
        ("remove-orphans",),
    ),
    (
        "K2 loser of another length",
        coordinated_facts(
            listing(staged=[staged_name(3), log_object(staged_name(3, "loser"), age=2 * DAY, size=900)]),
            registration(3),
        ),
        State.HEALTHY,
        "K2",
        3,
        3,
        ("remove-orphans",),
    ),
    (
        "K2 young loser",
        coordinated_facts(
            listing(staged=[staged_name(3), log_object(staged_name(3, "loser"), size=900)]), registration(3)
        ),
        State.HEALTHY,
        "K2",
        3,
        3,
        (),
    ),
    (
        "K3",
        coordinated_facts(listing(staged=STAGED), registration(4, coordinator_commit(4))),
        State.UNBACKFILLED,
        "K3",
        3,
        4,
        ("backfill",),
    ),
    (
        "K4",
        coordinated_facts(listing(staged=STAGED), registration(3, coordinator_commit(3)), equal_bytes={3: True}),
        State.ATTENTION,
        "K4",
        3,
        3,
        ("clear-entries",),
    ),
    (
        "K4 with other bytes",
        coordinated_facts(listing(staged=STAGED), registration(3, coordinator_commit(3)), equal_bytes={3: False}),
        State.UNSAFE,
        "K4",
        3,
        3,
        (),
    ),
    (
        "K6",
        coordinated_facts(listing(staged=STAGED), registration(4)),
        State.BLOCKED,
        "K6",
        3,
        4,
        ("publish-accepted-staged-file",),
    ),
    ("K6 without staged file", coordinated_facts(listing(), registration(4)), State.BLOCKED, "K6", 3, 4, ()),
    ("K7", coordinated_facts(listing(), registration(4, coordinator_commit(4))), State.BLOCKED, "K7", 3, 4, ()),
    ("K8", coordinated_facts(listing()), State.BLOCKED, "K8", 3, 3, ("re-register",)),
    (
        "K9",
        coordinated_facts(listing(), registration(1)),
        State.BLOCKED,
        "K9",
        3,
        3,
        ("raise-coordinator-version",),
    ),
    (
        "K9 of a registration that has accepted nothing",
        coordinated_facts(listing(), registration(1, accepted=False)),
        State.BLOCKED,
        "K9",
        3,
        3,
        ("raise-coordinator-version",),
    ),
    (
        "K6 of a registration that has accepted nothing",
        coordinated_facts(listing(), registration(4, accepted=False)),
        State.BLOCKED,
        "K6",
        3,
        3,
        (),
    ),
    (
        "K10",
        table_facts(listing(), registrations=[registration(2, accepting=False)], table_protocol=protocol()),
        State.HEALTHY,
        "K10",
        3,
        3,
        (),
    ),
    (
        "K11",
        coordinated_facts(listing(), registration(3), registration(2, table_id="old", accepting=False)),
        State.HEALTHY,
        "K11",
        3,
        3,
        (),
    ),
    (
        "K12",
        coordinated_facts(
            listing(staged=[staged_name(4, folder="_commits"), staged_name(5)]),
            registration(5, coordinator_commit(4), coordinator_commit(5)),
        ),
        State.BLOCKED,
        "K3",
        3,
        5,
        ("backfill",),
    ),
    (
        "K12, one commit waits in the folder of 3.3",
        coordinated_facts(
            listing(staged=[staged_name(4, folder="_commits"), staged_name(3)]), registration(4, coordinator_commit(4))
        ),
        State.BLOCKED,
        "K3",
        3,
        4,
        ("backfill",),
    ),
    (
        "K3 after an upgrade from 3.3 to 4.x",
        coordinated_facts(
            listing(staged=[staged_name(3, folder="_commits"), staged_name(4)]), registration(4, coordinator_commit(4))
        ),
        State.ATTENTION,
        "K12",
        3,
        4,
        (),
    ),
]


@pytest.mark.parametrize(
    ("facts", "state", "code", "published", "accepted", "repairs"),
    [case[1:] for case in STATES],
    ids=[case[0] for case in STATES],
)
def test_each_state_has_its_code_its_state_and_its_repairs(
    facts: TableFacts, state: State, code: str, published: int, accepted: int, repairs: tuple[str, ...]
) -> None:
    verdict = diagnose(facts)

    assert code in codes(verdict)
    assert (verdict.state, verdict.published_version, verdict.accepted_version) == (state, published, accepted)
    assert finding(verdict, code).repairs == repairs


def test_k5_an_empty_list_with_every_file_in_place_is_healthy() -> None:
    verdict = diagnose(coordinated_facts(listing(staged=STAGED[:3]), registration(3)))

    assert (verdict.state, verdict.findings) == (State.HEALTHY, ())


def test_three_unbackfilled_commits_are_one_finding_and_three_entries() -> None:
    facts = coordinated_facts(listing(range(2), staged=STAGED), registration(4, *map(coordinator_commit, (2, 3, 4))))
    verdict = diagnose(facts)

    assert verdict.summary == (
        "Commits 2 to 4 are accepted and not backfilled. Delta readers see them; Trino and Athena stay at 1."
    )
    assert [(one.version, one.code, one.file_present) for one in verdict.entries] == [
        (4, "K3", True),
        (3, "K3", True),
        (2, "K3", True),
    ]
    assert verdict.unpublished == (2, 3, 4)


def test_an_entry_whose_file_exists_is_not_unbackfilled() -> None:
    facts = coordinated_facts(listing(staged=STAGED), registration(4, coordinator_commit(3), coordinator_commit(4)))

    assert diagnose(facts).unpublished == (4,)


@pytest.mark.parametrize(("age", "severity"), [(59, Severity.INFO), (61, Severity.WARNING)])
def test_an_unbackfilled_commit_becomes_a_warning_after_a_minute(age: float, severity: Severity) -> None:
    staged = [log_object(staged_name(4), age=age)]
    verdict = diagnose(coordinated_facts(listing(staged=staged), registration(4, coordinator_commit(4))))

    assert (verdict.state, finding(verdict, "K3").severity) == (State.UNBACKFILLED, severity)


def test_a_livelock_says_that_readers_are_older_and_writers_spin() -> None:
    verdict = diagnose(coordinated_facts(listing(staged=STAGED), registration(4)))

    assert "Readers silently see 3; writers retry without end." in verdict.summary
    assert [(one.version, one.code) for one in verdict.entries] == [(4, "K6")]


def test_a_registration_from_a_backup_says_what_upstream_says_to_each_writer() -> None:
    found = finding(diagnose(coordinated_facts(listing(), registration(1, accepted=False))), "K9")

    assert 'every write stops with "Commit version 4 is not valid. Expected version: 2."' in found.summary
    assert "made before its first commit" in found.meaning


def test_staged_files_of_3_3_alone_are_no_mixture() -> None:
    staged = [staged_name(4, folder="_commits")]
    verdict = diagnose(coordinated_facts(listing(staged=staged), registration(4, coordinator_commit(4))))

    assert (verdict.state, verdict.entries[0].file) == (State.UNBACKFILLED, staged[0])


def test_a_staged_file_of_another_length_is_not_backfilled() -> None:
    staged = [log_object(staged_name(4), size=7)]
    verdict = diagnose(coordinated_facts(listing(staged=staged), registration(4, coordinator_commit(4))))

    assert (verdict.state, finding(verdict, "staged-size-differs").repairs) == (State.UNSAFE, ())
    assert "K3" not in codes(verdict)


def test_accepted_versions_missing_from_the_list_are_found() -> None:
    facts = coordinated_facts(listing(range(2), staged=STAGED), registration(4, coordinator_commit(4)))
    verdict = diagnose(facts)

    assert finding(verdict, "list-not-contiguous").evidence["missing"] == [{"first": 2, "last": 3}]
    assert verdict.state is State.BLOCKED


def test_a_stale_list_of_a_downgraded_registration_is_never_cleared_by_itself() -> None:
    closed = registration(3, coordinator_commit(3), accepting=False)
    facts = table_facts(listing(staged=STAGED, age=5), registrations=[closed], equal_bytes={3: True})

    assert finding(diagnose(facts), "K4").state is State.ATTENTION


def test_a_registration_that_accepts_without_being_named_needs_attention() -> None:
    verdict = diagnose(table_facts(listing(), registrations=[registration(3)]))

    assert codes(verdict)[0] == "accepts-without-table"
    assert verdict.state is State.ATTENTION


def test_a_closed_registration_that_the_metadata_names_refuses_commits() -> None:
    facts = coordinated_facts(listing(), registration(0, accepting=False))

    assert "refuses-commits" in codes(diagnose(facts))


def test_a_copy_names_the_registration_of_another_path() -> None:
    verdict = diagnose(coordinated_facts(listing(), registration(3, path="s3a://lake/original")))

    assert (verdict.state, codes(verdict)) == (State.BLOCKED, ["path-differs"])


def test_staged_files_that_were_not_listed_leave_the_state_undecided() -> None:
    verdict = diagnose(coordinated_facts(listing(staged=None), registration(4, coordinator_commit(4))))

    assert (codes(verdict), verdict.accepted_version) == (["undecided"], 4)
    assert verdict.state is State.NOT_CHECKED


def test_metadata_without_a_table_id_names_the_missing_fact() -> None:
    facts = table_facts(listing(), mechanism=Mechanism.COORDINATED_COMMITS, registrations=[registration(3)])
    verdict = diagnose(facts)

    assert "delta.coordinatedCommits.tableConf-preview" in verdict.summary
    assert verdict.state is State.NOT_CHECKED


def test_registrations_that_could_not_be_read_are_not_missing() -> None:
    problem = ReadingProblem("registrations of commits", "AccessDenied on dynamodb:GetItem.")
    verdict = diagnose(coordinated_facts(listing(), problems=[problem]))

    assert (codes(verdict), verdict.state) == (["not-read"], State.NOT_CHECKED)


def test_an_unknown_schema_version_is_not_judged() -> None:
    verdict = diagnose(coordinated_facts(listing(), registration(9, schema_version=2)))

    assert codes(verdict) == ["undecided"]


def test_gaps_between_entries_of_a_coordinated_table_are_normal() -> None:
    entries = [entry(0), entry(3)]
    verdict = diagnose(coordinated_facts(listing(), registration(3), entries=entries))

    assert (codes(verdict), verdict.state) == (["both-mechanisms"], State.HEALTHY)


def test_versions_that_were_coordinated_before_are_not_foreign() -> None:
    facts = log_store_facts(listing(), entry(0), entry(3), registrations=[registration(2, accepting=False)])

    assert "foreign-writer" not in codes(diagnose(facts))


def test_a_staged_copy_under_another_etag_is_not_called_a_loser():
    staged = [log_object(staged_name(3), age=2 * DAY, etag="encrypted")]
    assert codes(diagnose(coordinated_facts(listing(staged=staged), registration(3)))) == ["not-compared"]


def test_a_staged_file_of_a_published_version_above_an_old_item_is_not_called_a_loser():
    assert codes(diagnose(coordinated_facts(listing(staged=[staged_name(3)]), registration(2)))) == ["K9"]
