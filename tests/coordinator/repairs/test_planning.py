"""Which plans and refusals each state gives, and what every plan rests on."""

from dataclasses import replace
from typing import Any

import pytest

from changes.plan import ChangePlan, Refusal
from coordinator.repairs import item_calls, object_calls
from coordinator.repairs.kinds.republish_file import MOST_REPUBLISHED
from coordinator.repairs.planning import plan_repairs
from lake.delta.facts import (
    LogStoreEntry,
    Mechanism,
    ReadingProblem,
    Registration,
    TableFacts,
)
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
    table_facts,
    temp_name,
)
from tests.coordinator.repairs.states import (
    DOMAIN,
    ELSEWHERE,
    IN_OTHER,
    ORPHANED,
    OTHER_DOMAIN,
    OTHER_PATH,
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
    two_coordinators,
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
        lost_item(STAGED),
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

LOST_RUN = log_store_facts(listing(range(2), temp=[temp_name(v) for v in range(4)]), *(entry(v) for v in range(4)))


def test_lost_files_of_consecutive_versions_are_put_back_by_one_plan_oldest_first():
    plan = plans(LOST_RUN)["republish-file"]

    assert (plan.version, plan.title, plan.can_lose) == (3, "Republish 2.json to 3.json", False)
    assert kinds(plan) == ["Publish", "RequireEqual"] * 2
    assert [call.key[-25:] for call in plan.calls[::2]] == [commit_name(2), commit_name(3)]


def test_a_run_whose_files_contradict_each_other_is_not_put_back():
    files = {temp_name(2): file(temp_name(2), time=STAMP + 9), temp_name(3): file(temp_name(3), time=STAMP)}

    assert "not above that of version 2" in refusals(LOST_RUN, files=files)["republish-file"]


def test_a_run_that_would_leave_a_gap_is_not_put_back():
    facts = log_store_facts(listing(range(2), temp=[temp_name(v) for v in (0, 1, 3)]), *(entry(v) for v in range(4)))

    assert "republish-file" not in plans(facts)


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


HEALTHY = {
    "C0": log_store_facts(listing(), entry(3)),
    "C5": log_store_facts(listing(temp=[temp_name(3)]), entry(3)),
    "C8": log_store_facts(listing(age=2 * DAY)),
    "K1": coordinated_facts(listing(), registration(3, accepted=False)),
    "K5": coordinated_facts(listing(staged=[staged_name(3)]), registration(3)),
    "K11": coordinated_facts(listing(), registration(3), registration(1, table_id="old", accepting=False)),
}


@pytest.mark.parametrize("facts", HEALTHY.values(), ids=HEALTHY.keys())
def test_a_normal_state_has_no_plan(facts):
    assert plans(facts) == {}


REFUSED: list[tuple[str, TableFacts, dict[str, Any], str, str]] = [
    ("C2: entry deleted", pending(), {}, "abandon-commit", "would lose it"),
    ("C2: gap below", log_store_facts(listing(range(3), temp=[temp_name(4)]), entry(4, complete=False)), {},
     "publish-commit", "leave a gap"),
    ("C2: not a commit", pending(), {"files": {temp_name(4): file(temp_name(4), problems=("line 2: cut off",))}},
     "publish-commit", "no whole commit"),
    ("C2: gone since", pending(), {"files": {temp_name(4): None}}, "publish-commit", "is gone"),
    ("C2: changed since", pending(), {"files": {temp_name(4): file(temp_name(4), size=7)}},
     "publish-commit", "changed while it was read"),
    ("C2: too old", pending(), {"files": {temp_name(4): file(temp_name(4), time=1)}},
     "publish-commit", "in-commit timestamp"),
    ("C2: malformed", pending(problems=("expireTime is S 'x', not number (N).",)), {}, "publish-commit", "malformed"),
    ("C2: two lock domains",
     log_store_facts(listing(temp=[temp_name(4), temp_name(4, "b")]), entry(4, complete=False),
                     entry(4, complete=False, path=OTHER_PATH, temp=temp_name(4, "b"))),
     {}, "publish-commit", "only one of them can be right"),
    ("C2: coordinator accepted it",
     replace(pending(), registrations=(registration(4, accepting=False),)), {}, "publish-commit", "as well"),
    ("C2: entries unread", replace(pending(), problems=(ReadingProblem("DynamoDB table other", "denied"),)), {},
     "publish-commit", "nothing is planned"),
    ("C4: bytes differ",
     log_store_facts(listing(temp=[temp_name(3)]), entry(3, complete=False), equal_bytes={3: False}), {},
     "complete-entry", "other bytes"),
    ("C4: temp file gone", log_store_facts(listing(), entry(3, complete=False)), {}, "complete-entry",
     "cannot be compared"),
    ("C6: entry deleted", lost_file(), {}, "abandon-commit", "keeps version 4 taken"),
    ("C6: contradicted",
     log_store_facts(listing((0, 1, 3), temp=[temp_name(2)]), entry(2), entry(3)),
     {"files": {commit_name(3): file(commit_name(3), time=1)}}, "republish-file", "not below that of version 3"),
    ("C7", log_store_facts(listing(), entry(4)), {}, "republish-file", "Both copies"),
    ("C10: not empty", log_store_facts(listing((), temp=[temp_name(5)]), entry(0, complete=False)), {},
     "abandon-commit", "not empty"),
    ("C11: completed", unrecoverable(), {}, "complete-entry", "silently see an older table"),
    ("C1: published", log_store_facts(listing(temp=[log_object(temp_name(3, "lost"), age=2 * DAY), temp_name(3)]),
                                      entry(3)), {}, "publish-commit", "invent a commit"),
    ("C1: young", log_store_facts(listing(temp=[temp_name(3, "lost"), temp_name(3)]), entry(3)), {},
     "remove-orphans", "older than 1 d"),
    ("two lock domains", log_store_facts(listing(), entry(3), entry(2, path=OTHER_PATH)), {}, "remove-orphans",
     "one spelling"),
    ("foreign writer", log_store_facts(listing(), entry(2), engines={3: "delta-rs 1.6.4"}), {}, "complete-entry",
     "nobody held"),
    ("overwritten", log_store_facts(listing(), entry(3), seen=[provenance(2, size=900)]), {}, "republish-file",
     "nothing here overwrites"),
    ("two log stores", log_store_facts(listing(), entry(3), in_stores=IN_OTHER), {}, "remove-orphans",
     "Set all writers to one store"),
    ("C1: two log stores", log_store_facts(ORPHANED, entry(3), in_stores=IN_OTHER), {}, "remove-orphans",
     "s3a://lake/orders in delta_log and s3a://lake/orders in delta_log_eu"),
    ("C1: another store before", log_store_facts(ORPHANED, entry(3)), {"lock_domains": (OTHER_DOMAIN,)},
     "remove-orphans", "or existed"),
    ("C2: accepted by two stores",
     log_store_facts(listing(temp=[temp_name(4), temp_name(4, "b")]), entry(4, complete=False),
                     in_stores={OTHER_STORE: [entry(4, temp=temp_name(4, "b"))]}), {}, "publish-commit",
     "only one of them can be right"),
    ("C11: two log stores", replace(unrecoverable(), entries={**unrecoverable().entries, OTHER_DOMAIN: (entry(2),)}),
     {}, "abandon-commit", "which writers hold the version is not certain"),
    ("C2: a store unread", replace(pending(), unread_stores=(ReadingProblem("DynamoDB table eu", "denied"),)), {},
     "publish-commit", "may lie there: denied"),
    ("C2: another region", replace(pending(), elsewhere=(ELSEWHERE,)), {}, "publish-commit",
     "delta_log in us-east-1 as well, where this connection does not look"),
    ("C1: another region", replace(log_store_facts(ORPHANED, entry(3)), elsewhere=(ELSEWHERE,)), {}, "remove-orphans",
     "where this connection does not look"),
    ("C1: another region before", replace(log_store_facts(ORPHANED, entry(3)), locks_elsewhere=(OTHER_DOMAIN,)), {},
     "remove-orphans", "Another connection saw entries of this table in delta_log_eu"),
    ("C9: another region",
     replace(log_store_facts(listing(temp=[temp_name(1)]), entry(1, complete=False), entry(3), equal_bytes={1: True}),
             elsewhere=(ELSEWHERE,)), {}, "complete-entry", "where this connection does not look"),
    ("accepted twice",
     log_store_facts(listing(), entry(3), in_stores={OTHER_STORE: [entry(3, temp=temp_name(3, "b"))]}), {},
     "publish-commit", "only one can be that version"),
    ("K3: two coordinators", two_coordinators(unbackfilled()), {}, "backfill", "find out first which of them counts"),
    ("K9: two coordinators", two_coordinators(coordinated_facts(listing(), registration(1))), {},
     "raise-coordinator-version", "commits and commits_eu accept commits"),
    ("K8: another coordinator has it",
     replace(lost_item(), registrations=(registration(3, store="commits_eu"),)), {}, "re-register",
     "in commits_eu accepts commits of this table"),
    ("leftovers", log_store_facts(listing(()), entry(2), entry(3)), {}, "abandon-commit", "last trace"),
    ("K0: upgrade under way",
     coordinated_facts(listing(), registration(3), registration(4, table_id="other", accepted=False)), {},
     "remove-orphans", "may still be running"),
    ("K0: its race was lost an hour ago",
     coordinated_facts(listing(), registration(3), registration(2, table_id="other", accepted=False)), {},
     "remove-orphans", "older than 1 d"),
    ("K0: its version names it", orphaned(), {"files": {commit_name(2): replace(file(commit_name(2)),
                                                                                registration="other")}},
     "remove-orphans", "Version 2 names the registration"),
    ("K0: its version is no commit", orphaned(), {"files": {commit_name(2): file(commit_name(2), problems=("cut",))}},
     "remove-orphans", "not read as a whole commit"),
    ("K0: its version was cleaned up",
     coordinated_facts(listing(range(3, 5), age=2 * DAY, checkpoints=[3]), registration(4),
                       registration(2, table_id="other", accepted=False)), {},
     "remove-orphans", "cleaned out of the log"),
    ("K0: not read as it is", orphaned(), {"coordinator": ""}, "remove-orphans", "changed while it was read"),
    ("K0: it lists commits",
     coordinated_facts(listing(age=2 * DAY), registration(3),
                       registration(2, coordinator_commit(2), table_id="other", accepted=False)), {},
     "remove-orphans", "not as a new one is"),
    ("K3: list cleared", unbackfilled(), {}, "clear-entries", "no reader finds them"),
    ("K3: version lowered", unbackfilled(), {}, "raise-coordinator-version", "lowering it"),
    ("K3: other size", unbackfilled(coordinator_commit(4, size=None)), {}, "backfill", "fsLength"),
    ("K3: other time", unbackfilled(), {"files": {staged_name(4): file(staged_name(4), time=STAMP + 1)}},
     "backfill", "not the accepted one"),
    ("K3: no time", unbackfilled(), {"files": {staged_name(4): file(staged_name(4))}}, "backfill",
     "not the accepted one"),
    ("K3: list too short", unbackfilled(version=5), {}, "backfill", "not contiguous"),
    ("K3: gap below", coordinated_facts(listing(range(3), staged=STAGED), registration(4, coordinator_commit(4))), {},
     "backfill", "neither published nor listed"),
    ("K3: unknown coordinator", unbackfilled(), {"coordinator": ""}, "backfill", "not one of this connection"),
    ("K3: log store entry", replace(unbackfilled(), entries={DOMAIN: (entry(4, complete=False),)}), {}, "backfill",
     "as well"),
    ("K4: bytes differ",
     coordinated_facts(listing(staged=[staged_name(3)]), registration(3, coordinator_commit(3)),
                       equal_bytes={3: False}), {}, "clear-entries", "other bytes"),
    ("K4: not all backfilled",
     coordinated_facts(listing(staged=[staged_name(3), staged_name(4)]),
                       registration(4, coordinator_commit(3), coordinator_commit(4)), equal_bytes={3: True}), {},
     "clear-entries", "no reader finds them"),
    ("K6: no match", coordinated_facts(listing(staged=STAGED), registration(4)),
     {"files": {staged_name(4): file(staged_name(4), time=1)}}, "publish-accepted-staged-file", "Of 1 staged file, 0"),
    ("K6: two matches",
     coordinated_facts(listing(staged=[staged_name(4, "a"), staged_name(4, "b")]), registration(4)), {},
     "publish-accepted-staged-file", "Of 2 staged files, 2"),
    ("K7", coordinated_facts(listing(), registration(4, coordinator_commit(4))), {}, "clear-entries",
     "lose the commit"),
    ("K8: hole", coordinated_facts(listing((0, 1, 3))), {}, "re-register", "not read up to"),
    ("K8: unknown coordinator", lost_item(), {"coordinator": ""}, "re-register", "not a commit coordinator"),
    ("K9: hole", coordinated_facts(listing((0, 1, 3)), registration(1)), {}, "raise-coordinator-version",
     "without a gap"),
    ("K9: malformed",
     coordinated_facts(listing(), replace(registration(1), has_accepted_commits=None)), {}, "raise-coordinator-version",
     "hasAcceptedCommits is not true"),
    ("K6 of an item that has accepted nothing",
     coordinated_facts(listing(staged=STAGED), registration(4, accepted=False)), {}, "publish-accepted-staged-file",
     "holds no tableTimestamp"),
    ("K10", table_facts(listing(), registrations=[registration(2, accepting=False)]), {}, "remove-orphans",
     "still ask for it"),
    ("K12",
     coordinated_facts(listing(staged=[staged_name(4), staged_name(3, folder="_commits")]), registration(3)), {},
     "backfill", "keep to one release"),
    ("a copy", coordinated_facts(listing(), registration(3, path="s3a://lake/original")), {}, "backfill",
     "that table's versions"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "facts", "options", "repair", "reason"), REFUSED, ids=[one[0] for one in REFUSED])
def test_what_is_unsafe_has_no_plan_and_says_why(name, facts, options, repair, reason):
    assert reason in refusals(facts, **options)[repair]


LOSING = {
    "C10": (log_store_facts(listing(()), entry(0, complete=False)), "abandon-commit", "commit 0"),
    "C11": (unrecoverable(), "abandon-commit", "commit 4"),
    "K8": (lost_item(STAGED), "re-register", "every commit above 3"),
    "K6": (coordinated_facts(listing(staged=STAGED), registration(4)), "publish-accepted-staged-file", "commit 4"),
    "K2": (losers("lost", checksum=False), "remove-orphans", "an accepted commit of version 3"),
    "C1": (never_named(), "remove-orphans", "an accepted commit of version 4"),
}


@pytest.mark.parametrize(("facts", "repair", "lost"), LOSING.values(), ids=LOSING.keys())
def test_what_can_lose_a_commit_names_it_and_saves_first(facts, repair, lost):
    plan = plans(facts)[repair]

    assert lost in plan.danger
    assert isinstance(plan.calls[0], object_calls.SaveAside)
    assert plan.calls[0].key.startswith("orders/_levee_rescue/")


@pytest.mark.parametrize(
    ("facts", "repair"),
    [(lost_item(), "re-register"), (coordinated_facts(listing(), registration(1)), "raise-coordinator-version")],
)
def test_a_coordinator_is_not_set_below_a_version_that_was_seen_without_saying_so(facts, repair):
    plan = plans(replace(facts, provenance={4: provenance(4), 5: provenance(5)}))[repair]

    assert plan.danger == "every commit above 3 that the coordinator had accepted: versions 4 to 5 were seen before"


def test_no_other_plan_loses_anything():
    losing = {name for name, facts, repair, _ in PLANNED if plans(facts)[repair].can_lose}
    assert losing == {
        "C10",
        "C11",
        "K8 below staged files",
        "K9 of an item that has accepted nothing, below staged files",
        "K2 without a witness",
        "C1 without an entry",
        "K6 without a witness",
    }


def test_a_plan_made_anew_is_the_same_plan():
    later = {name: replace(facts, observed_at=facts.observed_at.replace(minute=30)) for name, facts, *_ in PLANNED}
    assert all(plans(facts)[repair].digest == plans(later[name])[repair].digest for name, facts, repair, _ in PLANNED)


def test_a_registration_whose_item_changed_while_it_was_read_stays():
    given = repair_facts(orphaned())
    outcomes = plan_repairs(replace(given, raw_registrations={}))

    assert "changed while it was read" in next(one.reason for one in outcomes if isinstance(one, Refusal))
    assert not any(isinstance(one, ChangePlan) for one in outcomes)


def test_a_registration_is_removed_as_it_was_read():
    [call] = plans(orphaned())["remove-orphans"].calls

    assert call == item_calls.DeleteRegistration("commits", "other", URI, 2)


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


HOSTILE: list[LogStoreEntry | Registration] = [
    entry(4, complete=False, temp="../../etc/passwd"),
    entry(4, complete=False, temp=temp_name(5)),
    replace(entry(4, complete=False), version=-1),
    replace(entry(4, complete=False), version=2**70),
    entry(4, complete=None),
    entry(4, complete=False, path="s3a://lake/other"),
    registration(4, coordinator_commit(4, name="../00000000000000000004.x.json")),
    registration(4, coordinator_commit(-1)),
    registration(2**70, coordinator_commit(4)),
    registration(4, coordinator_commit(4), schema_version=2),
    registration(4, coordinator_commit(4), path="s3a://lake/other"),
    registration(4, coordinator_commit(4), problems=("acceptingCommits is S 'true', not BOOL.",)),
    registration(4, coordinator_commit(4), coordinator_commit(4)),
]


@pytest.mark.parametrize("item", HOSTILE, ids=str)
def test_a_hostile_item_never_has_a_plan(item):
    log = listing(temp=[temp_name(4), temp_name(5)], staged=STAGED)
    facts = coordinated_facts(log, item) if isinstance(item, Registration) else log_store_facts(log, item)

    assert plans(facts) == {}


def test_a_table_of_a_catalog_has_no_plan():
    assert plans(replace(pending(), mechanism=Mechanism.CATALOG_MANAGED)) == {}


def test_plans_and_refusals_are_named_once():
    for _, facts, *_ in PLANNED:
        names = [(one.kind, one.code, one.version) for one in made(facts)]
        assert len(names) == len(set(names))
