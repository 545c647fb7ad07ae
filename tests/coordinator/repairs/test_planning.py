"""Which plans and refusals each state gives, and what every plan rests on."""

from dataclasses import replace

import pytest

from changes.plan import ChangePlan
from coordinator.repairs import item_calls, object_calls
from coordinator.repairs.kinds.republish_file import MOST_REPUBLISHED
from coordinator.repairs.planning import plan_repairs
from lake.delta.facts import TableFacts
from tests.builders.facts import (
    DAY,
    TABLE_ID,
    URI,
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
from tests.coordinator.repairs.states import (
    DOMAIN,
    IN_OTHER,
    LOST_RUN,
    OTHER_DOMAIN,
    OTHER_STORE,
    STAGED,
    STAMP,
    cleared,
    file,
    kinds,
    losers,
    lost_file,
    lost_item,
    made,
    never_named,
    orphaned,
    pending,
    plans,
    refusals,
    repair_facts,
    unbackfilled,
    unrecoverable,
)

PLANNED: list[tuple[str, TableFacts, str, list[str]]] = [
    ("C2", pending(), "publish-commit", ["Publish", "RequireEqual", "CompleteEntry"]),
    (
        "C2, first commit",
        log_store_facts(listing((), temp=[temp_name(0)]), entry(0, complete=False)),
        "publish-commit",
        ["Publish", "RequireEqual", "CompleteEntry"],
    ),
    (
        "C4",
        log_store_facts(listing(temp=[temp_name(3)]), entry(3, complete=False), equal_bytes={3: True}),
        "complete-entry",
        ["RequireEqual", "CompleteEntry"],
    ),
    (
        "C9",
        log_store_facts(
            listing(temp=[temp_name(1), temp_name(2)]),
            entry(1, complete=False),
            entry(2, complete=False),
            entry(3),
            equal_bytes={1: True, 2: True},
        ),
        "complete-entry",
        ["RequireEqual", "CompleteEntry"] * 2,
    ),
    ("C6", lost_file(), "republish-file", ["Publish", "RequireEqual"]),
    (
        "C6 below the newest",
        log_store_facts(listing((0, 1, 3), temp=[temp_name(2)]), entry(2), entry(3)),
        "republish-file",
        ["Publish", "RequireEqual"],
    ),
    (
        "C10",
        log_store_facts(listing(()), entry(0, complete=False)),
        "abandon-commit",
        ["SaveAside", "RequireEmpty", "DeleteEntry", "Abandon"],
    ),
    ("C11", unrecoverable(), "abandon-commit", ["SaveAside", "RequireAbsent", "DeleteEntry", "Abandon"]),
    (
        "C1",
        log_store_facts(
            listing(
                temp=[log_object(temp_name(3, "lost"), size=7, age=2 * DAY), log_object(temp_name(3), age=2 * DAY)]
            ),
            entry(3),
        ),
        "remove-orphans",
        ["DeleteOrphan"],
    ),
    (
        "K0",
        orphaned(),
        "remove-orphans",
        ["DeleteRegistration"],
    ),
    ("K2", losers("lost"), "remove-orphans", ["RequireEqual", "DeleteOrphan"]),
    ("K2 without a witness", losers("lost", checksum=False), "remove-orphans", ["SaveAside", "DeleteOrphan"]),
    ("C1 without an entry", never_named(), "remove-orphans", ["SaveAside", "DeleteOrphan"]),
    ("K3", unbackfilled(), "backfill", ["Publish", "ClearCommits"]),
    (
        "K3 and K4",
        coordinated_facts(
            listing(staged=[staged_name(3), staged_name(4)]),
            registration(4, coordinator_commit(3), coordinator_commit(4)),
            equal_bytes={3: True},
        ),
        "backfill",
        ["RequireEqual", "Publish", "ClearCommits"],
    ),
    ("K3, closed", unbackfilled(accepting=False), "backfill", ["Publish", "ClearCommits"]),
    (
        "K4",
        coordinated_facts(
            listing(staged=[staged_name(3)]), registration(3, coordinator_commit(3)), equal_bytes={3: True}
        ),
        "clear-entries",
        ["RequireEqual", "ClearCommits"],
    ),
    (
        "K6",
        cleared(),
        "publish-accepted-staged-file",
        ["Publish", "RequireEqual"],
    ),
    (
        "K6 without a witness",
        coordinated_facts(listing(staged=STAGED), registration(4)),
        "publish-accepted-staged-file",
        ["SaveAside", "Publish", "RequireEqual"],
    ),
    ("K8", lost_item(), "re-register", ["RequireAbsent", "Register"]),
    (
        "K8 below staged files",
        lost_item(staged=STAGED),
        "re-register",
        ["SaveAside", "RequireAbsent", "Register"],
    ),
    (
        "K9",
        coordinated_facts(listing(), registration(1)),
        "raise-coordinator-version",
        ["RequireAbsent", "RaiseVersion"],
    ),
    (
        "K9 of an item that has accepted nothing",
        coordinated_facts(listing(), registration(1, accepted=False)),
        "raise-coordinator-version",
        ["RequireAbsent", "RaiseVersion"],
    ),
    (
        "K9 of an item that has accepted nothing, below staged files",
        coordinated_facts(listing(staged=STAGED), registration(1, accepted=False)),
        "raise-coordinator-version",
        ["SaveAside", "SaveAside", "RequireAbsent", "RaiseVersion"],
    ),
]


@pytest.mark.parametrize(("name", "facts", "repair", "expected"), PLANNED, ids=[one[0] for one in PLANNED])
def test_a_repairable_state_has_a_plan_of_exactly_these_calls(name, facts, repair, expected):
    assert kinds(plans(facts)[repair]) == expected


PLANNED_BY_NAME = {name: facts for name, facts, *_ in PLANNED}


def test_lost_files_of_consecutive_versions_are_put_back_by_one_plan_oldest_first():
    plan = plans(LOST_RUN)["republish-file"]

    assert (plan.version, plan.title, plan.can_lose) == (3, "Republish …2.json to …3.json", False)
    assert kinds(plan) == ["Publish", "RequireEqual"] * 2
    assert [call.key[-25:] for call in plan.calls[::2]] == [commit_name(2), commit_name(3)]


def test_a_long_run_is_put_back_in_parts():
    many = range(MOST_REPUBLISHED + 5)
    facts = log_store_facts(listing([0], temp=[temp_name(v) for v in many]), *(entry(v) for v in many))
    plan = plans(facts, files={temp_name(v): file(temp_name(v), time=STAMP + v) for v in many})["republish-file"]

    assert len(plan.calls) == 2 * MOST_REPUBLISHED
    assert plan.consequences[-1] == "4 more are left for the next time."


def test_of_several_lost_staged_commits_the_newest_is_not_published_above_a_gap():
    facts = coordinated_facts(listing(range(3), staged=[staged_name(v) for v in (3, 4)]), registration(4))

    assert "publish-accepted-staged-file" not in plans(facts)
    assert "Nothing tells which staged files were accepted as 3." in refusals(facts)["publish-accepted-staged-file"]


LOSING = {
    "C10": "commit 0",
    "C11": "commit 4",
    "K8 below staged files": "every commit above 3",
    "K9 of an item that has accepted nothing, below staged files": "every commit above 3",
    "K6 without a witness": "commit 4",
    "K2 without a witness": "an accepted commit of version 3",
    "C1 without an entry": "an accepted commit of version 4",
}


@pytest.mark.parametrize(("name", "facts", "repair", "expected"), PLANNED, ids=[one[0] for one in PLANNED])
def test_what_can_lose_a_commit_names_it_and_saves_first_and_nothing_else_loses_any(name, facts, repair, expected):
    plan = plans(facts)[repair]

    assert plan.can_lose is (name in LOSING)
    assert LOSING.get(name, "") in plan.danger
    if name in LOSING:
        assert plan.calls[0].key.startswith("orders/_levee_rescue/")


@pytest.mark.parametrize(
    ("facts", "repair"),
    [(lost_item(), "re-register"), (coordinated_facts(listing(), registration(1)), "raise-coordinator-version")],
)
def test_a_coordinator_is_not_set_below_a_version_that_was_seen_without_saying_so(facts, repair):
    plan = plans(replace(facts, provenance={4: provenance(4), 5: provenance(5)}))[repair]

    assert plan.danger == "every commit above 3 that the coordinator had accepted: versions 4 to 5 were seen before"


def test_a_plan_made_anew_is_the_same_plan():
    later = {name: replace(facts, observed_at=facts.observed_at.replace(minute=30)) for name, facts, *_ in PLANNED}
    assert all(plans(facts)[repair].digest == plans(later[name])[repair].digest for name, facts, repair, _ in PLANNED)


def test_a_plan_rests_on_the_region_that_it_was_shown_for():
    digests = {plans(replace(pending(), region=one))["publish-commit"].digest for one in ("eu-west-1", "us-east-1")}
    assert len(digests) == 2


def test_a_list_is_cleared_as_it_was_read():
    clear = plans(unbackfilled())["backfill"].calls[-1]

    assert isinstance(clear, item_calls.ClearCommits)
    assert (clear.table, clear.table_id, clear.path, clear.table_version) == ("commits", TABLE_ID, URI, 4)
    assert clear.commits == {"L": [{"M": {"version": {"N": "4"}}}]}


def test_a_commit_is_backfilled_from_the_folder_where_its_file_lies():
    name = staged_name(4, folder="_commits")
    facts = coordinated_facts(listing(staged=[name]), registration(4, coordinator_commit(4)))

    [publish, *_] = plans(facts)["backfill"].calls

    assert isinstance(publish, object_calls.Publish)
    assert publish.source == f"orders/_delta_log/{name}"


def test_a_version_is_raised_to_the_newest_published_with_its_own_time():
    call = plans(coordinated_facts(listing(), registration(1)))["raise-coordinator-version"].calls[-1]

    assert isinstance(call, item_calls.RaiseVersion)
    assert (call.from_version, call.to_version, call.to_timestamp) == (1, 3, STAMP - 1_000)


def test_a_commit_of_one_of_two_locks_is_published_after_a_look_at_the_other():
    facts = log_store_facts(listing(temp=[temp_name(4)]), entry(3), entry(4, complete=False), in_stores=IN_OTHER)
    publish = plans(facts)["publish-commit"]

    assert kinds(publish) == ["RequireNoEntry", "Publish", "RequireEqual", "CompleteEntry"]
    assert publish.calls[0] == item_calls.RequireNoEntry(OTHER_STORE, URI, commit_name(4))


def test_a_lock_known_from_before_is_looked_at_as_well():
    publish = plans(pending(), lock_domains=(OTHER_DOMAIN, DOMAIN))["publish-commit"]

    assert [call.table for call in publish.calls if isinstance(call, item_calls.RequireNoEntry)] == [OTHER_STORE]


def test_each_entry_is_completed_in_its_own_store():
    facts = log_store_facts(
        listing(temp=[temp_name(1), temp_name(2)]),
        entry(1, complete=False),
        entry(3),
        in_stores={OTHER_STORE: [entry(2, complete=False), entry(3)]},
        equal_bytes={1: True, 2: True},
    )
    completed = [call for call in plans(facts)["complete-entry"].calls if isinstance(call, item_calls.CompleteEntry)]

    assert [(call.table, call.file_name) for call in completed] == [
        ("delta_log", commit_name(1)), (OTHER_STORE, commit_name(2))
    ]  # fmt: skip


def test_a_leftover_registration_is_deleted_from_its_own_table():
    leftover = registration(2, table_id="other", store="commits_eu", accepted=False)
    facts = coordinated_facts(listing(age=2 * DAY), registration(3), leftover)
    raw = {("commits_eu", "other"): {"commits": {"L": []}}}
    given = replace(repair_facts(facts), raw_registrations=raw)
    [call] = next(one for one in plan_repairs(given) if isinstance(one, ChangePlan)).calls

    assert call == item_calls.DeleteRegistration("commits_eu", "other", URI, 2)


def test_plans_and_refusals_are_named_once():
    for _, facts, *_ in PLANNED:
        names = [(one.kind, one.code, one.version) for one in made(facts)]
        assert len(names) == len(set(names))
