"""States in which nothing may be repaired, and what is said of each."""

from dataclasses import replace
from typing import Any

import pytest

from changes.plan import ChangePlan, Refusal
from coordinator.repairs.planning import plan_repairs
from lake.delta.facts import LogStoreEntry, Mechanism, ReadingProblem, Registration, TableFacts
from tests.builders.facts import (
    DAY,
    commit_name,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_store_facts,
    provenance,
    registration,
    staged_name,
    temp_name,
)
from tests.coordinator.repairs.states import (
    DOMAIN,
    ELSEWHERE,
    IN_OTHER,
    LOST_RUN,
    ORPHANED,
    OTHER_DOMAIN,
    OTHER_PATH,
    OTHER_STORE,
    STAGED,
    STAMP,
    file,
    lost_item,
    orphaned,
    pending,
    plans,
    refusals,
    repair_facts,
    two_coordinators,
    unbackfilled,
    unrecoverable,
)


def test_a_run_whose_files_contradict_each_other_is_not_put_back():
    files = {temp_name(2): file(temp_name(2), time=STAMP + 9), temp_name(3): file(temp_name(3), time=STAMP)}

    assert "not above that of version 2" in refusals(LOST_RUN, files=files)["republish-file"]


def test_a_run_that_would_leave_a_gap_is_not_put_back():
    facts = log_store_facts(listing(range(2), temp=[temp_name(v) for v in (0, 1, 3)]), *(entry(v) for v in range(4)))

    assert "republish-file" not in plans(facts)


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
    ("C6: contradicted",
     log_store_facts(listing((0, 1, 3), temp=[temp_name(2)]), entry(2), entry(3)),
     {"files": {commit_name(3): file(commit_name(3), time=1)}}, "republish-file", "not below that of version 3"),
    ("C7", log_store_facts(listing(), entry(4)), {}, "republish-file", "Both copies"),
    ("C10: not empty", log_store_facts(listing((), temp=[temp_name(5)]), entry(0, complete=False)), {},
     "abandon-commit", "not empty"),
    ("C1: young", log_store_facts(listing(temp=[temp_name(3, "lost"), temp_name(3)]), entry(3)), {},
     "remove-orphans", "older than 1 d"),
    ("overwritten", log_store_facts(listing(), entry(3), seen=[provenance(2, size=900)]), {}, "republish-file",
     "nothing here overwrites"),
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
    ("K3: two coordinators", two_coordinators(unbackfilled()), {}, "backfill", "find out first which of them counts"),
    ("K9: two coordinators", two_coordinators(coordinated_facts(listing(), registration(1))), {},
     "raise-coordinator-version", "commits and commits_eu accept commits"),
    ("K8: another coordinator has it",
     replace(lost_item(), registrations=(registration(3, store="commits_eu"),)), {}, "re-register",
     "in commits_eu accepts commits of this table"),
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
]  # fmt: skip


@pytest.mark.parametrize(("name", "facts", "options", "repair", "reason"), REFUSED, ids=[one[0] for one in REFUSED])
def test_what_is_unsafe_has_no_plan_and_says_why(name, facts, options, repair, reason):
    assert reason in refusals(facts, **options)[repair]


def test_a_registration_whose_item_changed_while_it_was_read_stays():
    given = repair_facts(orphaned())
    outcomes = plan_repairs(replace(given, raw_registrations={}))

    assert "changed while it was read" in next(one.reason for one in outcomes if isinstance(one, Refusal))
    assert not any(isinstance(one, ChangePlan) for one in outcomes)


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
