"""Which plans and refusals each state gives, and what every plan rests on."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.repairs import calls
from coordinator.repairs.plan import FileCheck, Plan, Refusal, RepairFacts
from coordinator.repairs.planning import plan_repairs, wanted_files
from lake.delta.facts import LogStoreEntry, Mechanism, Problem, Registration, TableFacts
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
    registration,
    staged_name,
    table_facts,
    temp_name,
)

STAMP = coordinator_commit(0).in_commit_timestamp or 0
STAGED = [staged_name(4)]
OTHER_PATH = "s3://lake/orders"


def file(name: str, *, time: int | None = None, size: int = 1_000, problems: tuple[str, ...] = ()) -> FileCheck:
    return FileCheck(name, size, "e", name, 2, time, problems)


def default_file(name: str) -> FileCheck:
    """A whole file; published commits are a second older for each version below 4."""
    version = int(name.rpartition("/")[2][:20]) if name.rpartition("/")[2][:20].isdecimal() else 0
    return file(name, time=STAMP + (version - 4) * 1_000)


def repair_facts(
    facts: TableFacts,
    *,
    files: Mapping[str, FileCheck | None] | None = None,
    coordinator: str = "commits",
    stores: Mapping[str, str] | None = None,
) -> RepairFacts:
    verdict = diagnose(facts)
    found = {name: default_file(name) for name in wanted_files(facts, verdict)}
    raw = {one.table_id: {"commits": {"L": [{"M": {"version": {"N": "4"}}}]}} for one in facts.registrations}
    held = dict.fromkeys(facts.entries, "delta_log") if stores is None else stores
    return RepairFacts(facts, verdict, held, coordinator, raw, {**found, **(files or {})})


def made(facts: TableFacts, **options: Any) -> tuple[Plan | Refusal, ...]:
    return plan_repairs(repair_facts(facts, **options))


def plans(facts: TableFacts, **options: Any) -> dict[str, Plan]:
    return {one.repair.value: one for one in made(facts, **options) if isinstance(one, Plan)}


def refusals(facts: TableFacts, **options: Any) -> dict[str, str]:
    """All reasons for each repair: more than one finding may refuse it."""
    found: dict[str, str] = {}
    for one in made(facts, **options):
        if isinstance(one, Refusal):
            found[one.repair.value] = f"{found.get(one.repair.value, '')} {one.reason}"
    return found


def kinds(plan: Plan) -> list[str]:
    return [type(call).__name__ for call in plan.calls]


def pending(**options: Any) -> TableFacts:
    return log_store_facts(listing(temp=[temp_name(4)]), entry(3), entry(4, complete=False, **options))


def lost_file(**options: Any) -> TableFacts:
    return log_store_facts(listing(temp=[temp_name(4)], **options), entry(3), entry(4))


def unrecoverable() -> TableFacts:
    return log_store_facts(listing(), entry(3), entry(4, complete=False))


def unbackfilled(*commits: Any, version: int = 4, **options: Any) -> TableFacts:
    listed = commits or (coordinator_commit(4),)
    return coordinated_facts(listing(staged=STAGED), registration(version, *listed, **options))


def lost_item(staged: Iterable[str] = ()) -> TableFacts:
    facts = coordinated_facts(listing(staged=staged))
    assert facts.protocol
    return replace(facts, protocol=replace(facts.protocol, version=3))


def orphaned() -> TableFacts:
    """A registration whose upgrade lost version 2 to another commit, two days ago."""
    return coordinated_facts(listing(age=2 * DAY), registration(3), registration(2, table_id="other", accepted=False))


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
        ["SaveAside", "RequireEmpty", "DeleteEntry"],
    ),
    ("C11", unrecoverable(), "abandon-commit", ["SaveAside", "RequireAbsent", "DeleteEntry"]),
    (
        "C1",
        log_store_facts(listing(temp=[log_object(temp_name(3, "lost"), age=2 * DAY), temp_name(3)]), entry(3)),
        "remove-orphans",
        ["DeleteLitter"],
    ),
    (
        "K0",
        orphaned(),
        "remove-orphans",
        ["DeleteRegistration"],
    ),
    (
        "K2",
        coordinated_facts(
            listing(staged=[log_object(staged_name(3, "lost"), size=7, age=2 * DAY), staged_name(3)]), registration(3)
        ),
        "remove-orphans",
        ["DeleteLitter"],
    ),
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
        coordinated_facts(listing(staged=STAGED), registration(4)),
        "publish-accepted-staged-file",
        ["Publish", "RequireEqual"],
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
]


@pytest.mark.parametrize(("name", "facts", "repair", "expected"), PLANNED, ids=[one[0] for one in PLANNED])
def test_a_repairable_state_has_a_plan_of_exactly_these_calls(name, facts, repair, expected):
    assert kinds(plans(facts)[repair]) == expected


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
    ("C2: unknown store", pending(), {"stores": {}}, "publish-commit", "is not known"),
    ("C2: malformed", pending(problems=("expireTime is S 'x', not number (N).",)), {}, "publish-commit", "malformed"),
    ("C2: two lock domains",
     log_store_facts(listing(temp=[temp_name(4), temp_name(4, "b")]), entry(4, complete=False),
                     entry(4, complete=False, path=OTHER_PATH, temp=temp_name(4, "b"))),
     {}, "publish-commit", "only one of them can be right"),
    ("C2: coordinator accepted it",
     replace(pending(), registrations=(registration(4, accepting=False),)), {}, "publish-commit", "as well"),
    ("C2: entries unread", replace(pending(), problems=(Problem("DynamoDB table other", "denied"),)), {},
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
    ("foreign writer", log_store_facts(listing(), entry(2)), {}, "complete-entry", "nobody held"),
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
    ("K0: not read as it is", orphaned(), {"coordinator": ""}, "remove-orphans", "not one of this connection"),
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
    ("K3: log store entry", replace(unbackfilled(), entries={URI: (entry(4, complete=False),)}), {}, "backfill",
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


def test_two_accepted_candidates_of_equal_bytes_are_one():
    facts = coordinated_facts(listing(staged=[staged_name(4, "a"), staged_name(4, "b")]), registration(4))
    same = {name: replace(file(name, time=STAMP), sha256="same") for name in (staged_name(4, "a"), staged_name(4, "b"))}

    assert "publish-accepted-staged-file" in plans(facts, files=same)


LOSING = {
    "C10": (log_store_facts(listing(()), entry(0, complete=False)), "abandon-commit", "commit 0"),
    "C11": (unrecoverable(), "abandon-commit", "commit 4"),
    "K8": (lost_item(STAGED), "re-register", "every commit above 3"),
}


@pytest.mark.parametrize(("facts", "repair", "lost"), LOSING.values(), ids=LOSING.keys())
def test_what_can_lose_a_commit_names_it_and_saves_first(facts, repair, lost):
    plan = plans(facts)[repair]

    assert lost in plan.loses
    assert isinstance(plan.calls[0], calls.SaveAside)
    assert plan.calls[0].key.startswith("orders/_levee_rescue/")


def test_no_other_plan_loses_anything():
    losing = {name for name, facts, repair, _ in PLANNED if plans(facts)[repair].can_lose}
    assert losing == {"C10", "C11", "K8 below staged files"}


def test_a_plan_made_anew_is_the_same_plan():
    later = {name: replace(facts, observed_at=facts.observed_at.replace(minute=30)) for name, facts, *_ in PLANNED}
    assert all(plans(facts)[repair].digest == plans(later[name])[repair].digest for name, facts, repair, _ in PLANNED)


def test_a_registration_whose_item_changed_while_it_was_read_stays():
    given = repair_facts(orphaned())
    outcomes = plan_repairs(replace(given, raw_registrations={}))

    assert "changed while it was read" in next(one.reason for one in outcomes if isinstance(one, Refusal))
    assert not any(isinstance(one, Plan) for one in outcomes)


def test_a_registration_is_removed_as_it_was_read():
    [call] = plans(orphaned())["remove-orphans"].calls

    assert call == calls.DeleteRegistration("commits", "other", URI, 2)


def test_a_list_is_cleared_as_it_was_read():
    clear = plans(unbackfilled())["backfill"].calls[-1]

    assert isinstance(clear, calls.ClearCommits)
    assert (clear.table, clear.table_id, clear.path, clear.table_version) == ("commits", TABLE_ID, URI, 4)
    assert clear.commits == {"L": [{"M": {"version": {"N": "4"}}}]}


def test_a_commit_is_backfilled_from_the_folder_where_its_file_lies():
    name = staged_name(4, folder="_commits")
    facts = coordinated_facts(listing(staged=[name]), registration(4, coordinator_commit(4)))

    [publish, *_] = plans(facts)["backfill"].calls

    assert isinstance(publish, calls.Publish)
    assert publish.source == f"orders/_delta_log/{name}"


def test_a_version_is_raised_to_the_newest_published_with_its_own_time():
    call = plans(coordinated_facts(listing(), registration(1)))["raise-coordinator-version"].calls[-1]

    assert isinstance(call, calls.RaiseVersion)
    assert (call.from_version, call.to_version, call.to_timestamp) == (1, 3, STAMP - 1_000)


def test_litter_is_removed_in_bounded_plans():
    files = [log_object(temp_name(3, f"lost{number}"), age=2 * DAY) for number in range(1_000)]
    plan = plans(log_store_facts(listing(temp=[*files, temp_name(3)]), entry(3)))["remove-orphans"]

    assert len(plan.calls) == 300
    assert "700 more" in " ".join(plan.consequences)


def test_the_temp_file_of_an_expired_entry_is_no_litter_while_its_version_left_a_trace():
    """The file of version 4 may have been lost after its entry expired; its checksum is still there."""
    log = listing(temp=[log_object(temp_name(4), age=2 * DAY)])
    facts = log_store_facts(replace(log, checksums={4: log_object(f"{4:020d}.crc")}), entry(3))

    assert "remove-orphans" not in plans(facts)


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
        names = [(one.repair, one.code, one.version) for one in made(facts)]
        assert len(names) == len(set(names))
