"""How far behind its source a table and its plan are, by points alone, and what the objective is held against."""

import random
import time
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from backups.contract import ObjectiveDocument
from backups.declaration import PlanSection
from backups.documents import objective_document
from backups.models import RestorePoint, Run
from backups.points import spreading
from backups.runs.stages import prove
from dashboard.declaration.reading import DeclarationError
from dashboard.declaration.sections import DeclaredItem
from lake.aws.s3 import S3
from lake.delta.names import commit_name
from lake.points.proven import ProvenTable
from tests.backups.points.conftest import Backup, refuse
from tests.backups.points.ended_runs import STAGED, copied_run, proven
from tests.builders.copies import LOG, appended, commit
from tests.builders.delta import add, checkpoint_bytes, commit_bytes, commit_info, metadata, protocol

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("upserts", "JSON")]

SECONDS = timedelta(seconds=30)  # How long a test may take


@pytest.mark.parametrize(
    ("lacking", "waiting", "hours"), [(30, None, 30), (20, 40, 40), (None, 20, 20), (None, None, 0)]
)
def test_a_point_holds_what_is_older_than_the_first_commit_that_may_be_lacking(backup, lacking, waiting, hours):
    backup.put_both(appended(range(3)))
    if lacking:
        backup.put(commit(3, add("part-3.parquet")), copied=False, hours_ago=lacking)
        backup.put(commit(4, add("part-4.parquet")), copied=False)
    if waiting:
        backup.put({STAGED.replace("3.", "5."): b"x"}, copied=False, hours_ago=waiting)
    before = timezone.now()

    run = proven(copied_run(backup))

    [point] = run.points.all()
    assert run.holds_until == min(point.holds_until, run.cut_off)
    assert before <= point.holds_until + timedelta(hours=hours) + SECONDS <= timezone.now() + 2 * SECONDS


def test_no_table_lacks_a_commit_that_is_older_than_what_its_point_holds_until(backup, monkeypatch):
    """By sets alone: a version of these tables needs all commits and files up to it."""
    monkeypatch.setattr(ProvenTable, "lacks", lambda *_: False)
    chance, holds_until, began = random.Random(38), dict[str, int | None](), time.time()
    for number in range(30):
        versions, below = chance.randint(1, 6), f"n{number}/"
        ages = [chance.randint(0, 80) for _ in range(versions)]
        source = appended(range(versions))
        copied = {key for key in source if chance.random() < 0.85}
        for version, age in enumerate(ages):
            of_version = {key: data for key, data in source.items() if key in needed(version)}
            backup.put(of_version, copied=False, below=below, hours_ago=age)
        backup.put({key: source[key] for key in copied}, copied=True, below=below)
        restorable = [v for v in range(versions) if set().union(*map(needed, range(v + 1))) <= copied]
        lacking = max(ages[len(restorable) :], default=0)
        holds_until[f"s3a://{backup.source}/{below}t"] = lacking if restorable or lacking < 36 else None

    run = proven(copied_run(backup, [f"n{number}/t" for number in range(30)]))

    moments = dict(run.points.values_list("table", "holds_until"))
    assert {table: at and round((began - at.timestamp()) / 3_600) for table, at in moments.items()} == holds_until
    assert (run.holds_until, None in holds_until.values()) == (None, True)


def test_what_is_committed_while_a_table_is_read_is_not_said_to_be_in_it(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    run, whole, committed = copied_run(backup), S3.list, []

    def listed(self: S3, bucket: str, prefix: str, **more: Any) -> Any:
        yield from whole(self, bucket, prefix, **more)
        if (bucket, prefix) == (backup.source, LOG):
            backup.put(commit(3, add("part-3.parquet")), copied=False)
            committed.append(timezone.now())

    monkeypatch.setattr(S3, "list", listed)
    proven(run)

    assert run.points.get().holds_until < committed[0]


def needed(version: int) -> set[str]:
    """What a version of `appended` needs besides those before it."""
    return {LOG + commit_name(version)} | ({f"t/part-{version}.parquet"} if version else set())


def test_what_a_table_lacks_since_nobody_knows_when_leaves_the_run_of_unknown_age(backup):
    backup.put_both(appended(range(3)), below="b/")
    backup.put_both(appended(range(3)))
    checkpoint = {f"{LOG}{4:020d}.checkpoint.parquet": checkpoint_bytes()}
    backup.put(commit(4, add("part-4.parquet")) | checkpoint, copied=False)
    run = proven(copied_run(backup, ["t", "b/t"]))
    assert (run.holds_until, run.tables["points"]) == (None, {"unprovable": 1, "proven": 1})
    assert objective(backup)["state"] == "past"


def objective(backup: Backup, hours: float = 0) -> ObjectiveDocument:
    """How the plan stands some hours from now."""
    return objective_document(backup.plan, timezone.now() + timedelta(hours=hours))


def test_a_plan_is_within_its_objective_as_long_as_each_table_is_proven_to_be(backup):
    for below in ("", "b/", "new/"):
        backup.put_both(appended(range(3)), below=below)
    backup.put(commit(3, add("part-3.parquet")), copied=False, hours_ago=10)
    backup.put(appended(range(1)), copied=False, below="young/", hours_ago=5)
    assert objective(backup) == {"state": "never", "hours": 36, "tables": 0, "proven": 0, "worst_age_seconds": None}

    first = proven(copied_run(backup, ["t", "b/t", "young/t"]))

    assert first.state == "complete"
    states = [(hours, objective(backup, hours)) for hours in (0, 25, 27, 37)]
    assert [(hours, one["state"], one["proven"], one["tables"]) for hours, one in states] == [
        (0, "within", 2, 3),
        (25, "within", 2, 3),
        (27, "past", 1, 3),
        (37, "past", 0, 3),
    ]
    assert round(states[0][1]["worst_age_seconds"] / 3_600) == 10
    # A table that was dropped since no longer counts, and a run that ended without a proof changes nothing.
    proven(copied_run(backup, ["b/t"]))
    copied_run(backup, ["b/t"], state="failed")
    told = objective(backup)
    assert (told["state"], told["proven"], told["tables"], told["worst_age_seconds"] // 60) == ("within", 1, 1, 0)


def test_a_table_that_was_made_after_the_cut_off_is_in_no_point_so_that_the_plan_is_as_old_as_that(backup):
    backup.put_both(appended(range(3)))
    run = proven(copied_run(backup, cut_off=timezone.now() - timedelta(hours=20)))
    assert run.holds_until == run.cut_off < run.points.get().holds_until


@pytest.mark.parametrize("is_known", [True, False])
def test_points_of_a_run_that_has_not_ended_lower_what_the_proof_before_it_tells(backup, monkeypatch, is_known):
    for below in ("", "z/"):
        backup.put_both(appended(range(3)), below=below)
    first = proven(copied_run(backup, ["t", "z/t"]))
    if is_known:
        backup.put(commit(3, add("part-3.parquet")), copied=False, hours_ago=40)
    else:
        checkpoint = {f"{LOG}{4:020d}.checkpoint.parquet": checkpoint_bytes()}
        backup.put(commit(4, add("part-4.parquet")) | checkpoint, copied=False)
    refuse(monkeypatch, "list", "InternalError", lambda _, prefix: prefix == f"z/{LOG}")
    monkeypatch.setattr(spreading, "AT_ONCE", 1)

    assert proven(copied_run(backup, ["t", "z/t"])).state == "running"

    first.refresh_from_db()
    told = objective(backup)
    assert (told["state"], told["proven"], told["tables"]) == ("past", 1, 2)
    assert (first.holds_until is None, first.not_known_since is None) == (not is_known, is_known)


def test_a_second_try_of_an_older_run_is_believed_where_it_is_the_newest_to_prove(backup):
    backup.put_both(appended(range(3)))
    first, second = proven(copied_run(backup, failed=1)), proven(copied_run(backup))
    backup.put(commit(3, add("part-3.parquet")), copied=False, hours_ago=40)
    retry = proven(copied_run(backup, None, retry_of=first, cut_off=second.cut_off - timedelta(hours=9)))
    assert (objective(backup)["state"], backup.plan.runs.proofs().first()) == ("past", retry)


def test_how_far_behind_a_plan_is_is_not_known_from_the_first_proof_on_that_could_not_tell(backup):
    backup.put_both(appended(range(3)))
    checkpoint = {f"{LOG}{4:020d}.checkpoint.parquet": checkpoint_bytes()}
    backup.put(commit(4, add("part-4.parquet")) | checkpoint, copied=False)
    first, second = proven(copied_run(backup)), proven(copied_run(backup))
    assert first.not_known_since == second.not_known_since
    known = second.not_known_since - timedelta(hours=50)
    Run.objects.filter(pk=second.pk).update(holds_until=known)
    assert proven(copied_run(backup)).not_known_since == known + timedelta(hours=36)


@pytest.mark.parametrize("key", ["source", "destination"])
def test_of_a_plan_whose_places_are_changed_nothing_is_proven_until_its_next_run(backup, key):
    backup.put_both(appended(range(3)))
    proven(copied_run(backup))
    section = PlanSection()
    values = section.item_of(backup.plan).values
    elsewhere = {"source": f"s3a://{backup.source}/elsewhere/", "destination": "s3a://elsewhere/"}[key]
    for changes, state in (({"notify": ["a@acme.example"]}, "within"), ({key: elsewhere}, "never")):
        section.save(DeclaredItem(backup.plan.name, values | changes, "plans[0]"), backup.plan)
        assert objective(backup)["state"] == state
    copied_run(backup)
    with pytest.raises(DeclarationError, match="A run of it is under way"):
        section.save(DeclaredItem(backup.plan.name, values | {key: "s3a://other/"}, "plans[0]"), backup.plan)


@pytest.mark.parametrize(
    ("is_dated", "had_another", "told"),
    [
        (True, False, [(240, 49, True), (49, 0, False)]),
        (False, False, [(73, 72, False), (72, 49, True), (49, 0, False)]),
        (True, True, [(240, 72, False), (72, 49, True), (49, 0, False)]),
    ],
)
def test_a_run_tells_to_which_moments_its_tables_can_be_restored(backup, monkeypatch, is_dated, had_another, told):
    """Of three versions, `a` has all; the second of `b` and what came after cannot be had; all of `new` is too new.
    Before a table was made it needs nothing: where its first commit says so itself, and no other table was there."""
    monkeypatch.setattr(ProvenTable, "lacks", lambda *_: False)
    monkeypatch.setattr(prove, "WINDOW", timedelta(days=10))
    for version, hours in enumerate((72, 48, 24)):
        for below, is_copied, later in (("a/", True, 0), ("b/", version == 0, 1), ("new/", False, -45)):
            made_at = int(1_000 * (time.time() - 3_600 * (hours + later))) if is_dated else 0
            created = commit_bytes(commit_info("CREATE TABLE", timestamp=made_at), metadata(), protocol())
            whole = {**appended(range(3)), LOG + commit_name(0): created}
            of_version = {key: data for key, data in whole.items() if key in needed(version)}
            if hours + later > 0:
                backup.put(of_version, copied=False, below=below, hours_ago=hours + later)
            if is_copied:
                backup.put(of_version, copied=True, below=below)
    if had_another:
        run = Run.objects.create(plan=backup.plan, state="complete")
        fields = {"run": run, "anchored": True, "state": "proven", "proven_at": timezone.now(), "earlier": "1"}
        RestorePoint.objects.create(plan=backup.plan, table=f"s3a://{backup.source}/a/t", **fields)

    run = proven(copied_run(backup, ["a/t", "b/t", "new/t"]))

    assert run.tables["points"] == {"proven": 1, "behind": 1, "too_new": 1}
    now = timezone.now()
    restorable = run.tables["restorable"]
    assert [(hours_before(now, start), hours_before(now, end), of_all) for start, end, of_all in restorable] == told


@pytest.mark.parametrize("is_published", [True, False])
def test_a_version_was_the_newest_until_the_next_one_waited_to_be_published(backup, is_published):
    for copied in (False, True):
        backup.put(appended(range(3)), copied=copied, hours_ago=72)
    backup.put({STAGED: b"x"}, copied=False, hours_ago=40)
    if is_published:
        backup.put(commit(3, add("part-3.parquet")), copied=False, hours_ago=24)

    [point] = proven(copied_run(backup)).points.all()

    now, [[start, end]] = timezone.now(), point.moments
    assert (hours_before(now, start), hours_before(now, end)) == (72, 40)
    assert datetime.fromisoformat(end) == point.holds_until


def test_what_a_proof_drew_is_not_believed_once_a_later_run_has_looked(backup, monkeypatch):
    for copied in (False, True):
        backup.put(appended(range(3)), copied=copied, hours_ago=3)
    first = proven(copied_run(backup))
    assert first.tables["restorable"]
    monkeypatch.setattr(prove, "_restorable", lambda *_: 1 / 0)  # it stops before its end

    second = proven(copied_run(backup))

    first.refresh_from_db()
    assert (second.state, second.points.count(), "restorable" in first.tables) == ("running", 1, False)
    assert first.tables["points"] == {"proven": 1}


def hours_before(now: datetime, moment: str) -> int:
    return round((now - datetime.fromisoformat(moment)) / timedelta(hours=1))
