"""What a table lacks that its plan promises is copied from the live source in the same run, and proven again."""

import random
from typing import Any

import pytest

from backups.models import Run
from backups.points import spreading
from backups.runs.stages import prove
from dashboard.jobs.context import JobCancelled
from lake.aws import copying
from lake.aws.copying import Copy
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.delta.names import commit_name
from lake.points import proving, topping_up
from lake.points.topping_up import Topper
from tests.backups.points.conftest import Backup, refuse
from tests.backups.points.ended_runs import GAPS, STAGED, copied_run, proven, restored
from tests.backups.points.test_kept import before, empty
from tests.builders.copies import LOG, appended, commit, name, without
from tests.builders.delta import add, checkpoint_bytes, first_commit_bytes, metadata, protocol, remove
from tests.choosing import slowly
from tests.lake.delta import test_restorable_model as model

pytestmark = pytest.mark.django_db

LONG_AGO = 40.0
"""Hours; the objective is 36."""


def put_long_ago(backup: Backup, objects: dict[str, bytes]) -> None:
    backup.put(objects, copied=False, hours_ago=LONG_AGO)


@pytest.fixture
def behind(backup: Backup) -> Backup:
    """A table of five versions, of which the backup has three: its inventory was old."""
    put_long_ago(backup, appended(range(5)))
    backup.put(appended(range(3)), copied=True)
    return backup


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[Copy]:
    """What is copied from the source, in order."""
    sent: list[Copy] = []
    before(monkeypatch, topping_up, "copied", lambda _, copy: sent.append(copy))
    return sent


def pool(backup: Backup) -> dict[str, bytes]:
    found = backup.lake.list(backup.vault, "pool/t/")
    return {key.removeprefix("pool/"): backup.lake.get(backup.vault, key) for key, _ in found}


def test_what_the_inventory_missed_is_copied_and_proven_in_the_same_run(behind):
    run = proven(copied_run(behind))

    [point] = run.points.all()
    assert (run.state, point.state, point.version, point.ranges) == ("complete", "proven", 4, [[0, 4]])
    assert restored(behind, point.proof) == appended(range(5))
    assert "Of what tables lacked, 4 objects were copied from the source." in run.sentence
    counts = run.tables["topped_up"]
    assert counts == {"objects": 4, "usd": "0.000025", "is_open": False}


def test_data_is_copied_before_checkpoints_and_these_before_commits_in_their_order(behind, copies):
    live = [protocol(), metadata(), *(add(name(version)) for version in range(1, 7))]
    checkpoint = f"{LOG}{6:020d}.checkpoint.parquet"
    put_long_ago(behind, appended(range(9)) | {checkpoint: checkpoint_bytes(*live)})

    [point] = proven(copied_run(behind)).points.all()

    keys = [copy.source_key for copy in copies]
    assert sorted(keys[:6]) == [f"t/{name(version)}" for version in range(3, 9)]
    assert keys[6:] == [checkpoint, *(LOG + commit_name(version) for version in range(6, 9))]
    assert (point.version, point.ranges) == (8, [[0, 2], [6, 8]])


def test_files_that_vacuum_took_lead_to_a_newer_version(backup):
    """The first file was compacted into another and removed before it was copied."""
    first = appended(range(2))
    compacted = commit(2, remove(name(1)), add("compacted.parquet"))
    put_long_ago(backup, without(first, f"t/{name(1)}") | compacted | {"t/compacted.parquet": b"x" * 500})
    backup.put(without(first, f"t/{name(1)}"), copied=True)

    [point] = proven(copied_run(backup)).points.all()

    assert (point.state, point.version, point.ranges) == ("proven", 2, [[0, 0], [2, 2]])
    assert "t/compacted.parquet" in restored(backup, point.proof)


def test_what_is_younger_than_the_objective_is_left_to_the_next_run(backup, copies):
    backup.put(appended(range(5)), copied=False, hours_ago=30)
    backup.put(appended(range(3)), copied=True)
    [point] = proven(copied_run(backup)).points.all()
    assert (point.state, point.version, copies) == ("proven", 2, [])


def test_a_table_that_has_its_newest_version_is_not_read_a_second_time(backup, copies, monkeypatch):
    """Whether the staged commit after it was accepted is not known, and nothing that a copy tells."""
    put_long_ago(backup, appended(range(3)) | {STAGED: b"{}"})
    backup.put(appended(range(3)), copied=True)
    listed: list[str] = []
    before(monkeypatch, S3, "list", lambda _, bucket, prefix, **more: listed.append(f"{bucket}/{prefix}"))
    [point] = proven(copied_run(backup)).points.all()
    assert (point.state, point.problems) == ("unprovable", [])
    assert f"{backup.source}/t/" not in listed


def test_what_the_source_has_not_whole_either_is_said(behind, copies):
    behind.lake.delete(behind.source, f"t/{name(3)}")

    run = proven(copied_run(behind))

    [point] = run.points.all()
    assert (run.state, point.state, point.version, copies) == (GAPS, "behind", 2, [])
    said = "Not topped up from the source. At the source, no newer version of it can be proven either."
    assert point.problems[0] == said


def test_a_newer_version_that_is_whole_is_taken_where_the_newest_is_not(behind):
    behind.lake.delete(behind.source, f"t/{name(4)}")
    [point] = proven(copied_run(behind)).points.all()
    assert (point.state, point.version) == ("behind", 3)
    assert restored(behind, point.proof) == appended(range(4))


def test_a_data_file_of_another_size_is_not_copied_over(behind, copies):
    behind.put({f"t/{name(2)}": b"another's"}, copied=True)
    [point] = proven(copied_run(behind)).points.all()
    assert (point.version, copies) == (1, [])
    assert "has another size than at the source: move it away." in point.problems[0]
    assert pool(behind)[f"t/{name(2)}"] == b"another's"


def test_a_table_made_anew_is_topped_up_and_the_point_of_the_one_before_stays(backup):
    backup.put_both(appended(range(4)))
    before_it = proven(copied_run(backup)).points.get()
    empty(backup, backup.source)
    first = {LOG + commit_name(0): first_commit_bytes(table_id="00000000-0000-4000-8000-000000000000")}
    anew = first | commit(1, add("new.parquet")) | {"t/new.parquet": b"x" * 500}
    put_long_ago(backup, anew)

    run = proven(copied_run(backup))

    point = run.points.get(earlier="")
    assert (point.state, point.version) == ("proven", 1)
    assert restored(backup, point.proof) == anew
    assert restored(backup, before_it.proof) == appended(range(4))


def test_what_it_costs_has_to_be_left_of_the_ceiling(behind, copies, settings):
    settings.BACKUP_PRICES = {"copy_thousand": "1000"}
    run = proven(copied_run(behind, ceiling_usd="40.00", estimate_usd="38.00"))
    [point] = run.points.all()
    assert (point.version, copies) == (2, [])
    said = "Copying the 4 objects that it lacks would cost $4.00: the plan's ceiling leaves less."
    assert said in point.problems[0]

    run = proven(copied_run(behind, ceiling_usd="40.00", actual_usd="35.00"))

    assert (run.points.get().version, len(copies), str(run.actual_usd)) == (4, 4, "39.00")


@pytest.mark.parametrize(
    "fields",
    [
        {"ceiling_usd": "0.00"},
        {"ceiling_usd": "40.00", "actual_usd": "60.00"},
        {"ceiling_usd": "40.00", "tables": {"topped_up": {"usd": "40.00"}}},
        {"ceiling_usd": "40.00", "tables": {"topped_up": {"is_open": True}}},
    ],
    ids=["none", "above it", "spent by an earlier try", "an earlier try died"],
)
def test_where_nothing_is_left_of_the_ceiling_nothing_is_copied_and_the_source_is_not_listed(
    behind, copies, monkeypatch, fields
):
    listed: list[str] = []
    before(monkeypatch, S3, "list", lambda _, bucket, prefix, **more: listed.append(f"{bucket}/{prefix}"))
    [point] = proven(copied_run(behind, **fields)).points.all()
    assert (point.version, copies) == (2, [])
    assert "The plan's ceiling leaves nothing to be spent." in point.problems[0]
    assert f"{behind.source}/t/" not in listed


def test_tables_share_what_is_left(behind, settings):
    settings.BACKUP_PRICES = {"copy_thousand": "1000"}
    put_long_ago(behind, {f"b/{key}": data for key, data in appended(range(5)).items()})
    behind.put({f"b/{key}": data for key, data in appended(range(3)).items()}, copied=True)
    run = proven(copied_run(behind, ["t", "b/t"], ceiling_usd="5.00"))
    assert sorted(point.version for point in run.points.all()) == [2, 4]


def test_without_a_ceiling_an_earlier_try_that_died_keeps_nothing_from_being_copied(behind):
    earlier = {"usd": "3.00", "objects": 2, "is_open": True}
    run = proven(copied_run(behind, ceiling_usd=None, tables={"topped_up": earlier}))
    assert run.points.get().version == 4
    assert (run.tables["topped_up"]["objects"], str(run.actual_usd)) == (6, "3.00")


def test_what_was_spent_is_counted_however_the_try_ends(behind, monkeypatch):
    """The first object cannot be copied, the others can; then the stage stops."""

    def fail(_: S3, copy: Copy) -> None:
        if copy.source_key == f"t/{name(3)}":
            raise AwsError("NoSuchKey", "it said", "", "s3:CopyObject", "", "")

    before(monkeypatch, topping_up, "copied", fail)
    before(monkeypatch, prove, "_set_aside", lambda *_: 1 / 0)

    run = proven(copied_run(behind))

    counts = run.tables["topped_up"]
    assert run.points.count() == 0
    assert counts == {"objects": 1, "usd": "0.000025", "is_open": False}


def test_a_cancelled_run_copies_no_further_object(behind, copies, monkeypatch):
    monkeypatch.setattr(spreading, "AT_ONCE", 1)
    below = [f"n{number}/" for number in range(24)]
    for one in below:
        put_long_ago(behind, {f"{one}{key}": data for key, data in appended(range(5)).items()})
    toppers: list[Topper] = []
    before(monkeypatch, prove, "prove_copy", lambda *words: toppers.append(words[-1]))
    before(monkeypatch, prove, "_store", cancel)
    run = copied_run(behind, [f"{one}t" for one in below])
    proven(run)
    counts = Run.objects.get(pk=run.pk).tables["topped_up"]
    assert 0 < counts["objects"] == len(copies) < 24 * 9
    assert (counts["is_open"], toppers[0].stopped.is_set()) == (False, True)


def cancel(*_: Any) -> None:
    raise JobCancelled


def test_what_was_under_way_when_the_run_was_stopped_goes_no_step_further(behind, copies, monkeypatch):
    toppers: list[Topper] = []
    before(monkeypatch, prove, "prove_copy", lambda *words: toppers.append(words[-1]))
    before(monkeypatch, topping_up, "copied", lambda *_: toppers[0].stopped.set())
    [point] = proven(copied_run(behind)).points.all()
    assert (point.version, len(copies) <= 2) == (2, True)
    assert "The run was stopped." in point.problems[0]


def test_very_much_is_left_to_the_next_run(behind, copies, monkeypatch):
    monkeypatch.setattr(topping_up, "MOST_OBJECTS", 3)
    [point] = proven(copied_run(behind)).points.all()
    assert (point.version, copies) == (2, [])
    assert "It lacks 4 objects, which is much" in point.problems[0]
    monkeypatch.setattr(topping_up, "MOST_OBJECTS", 4)
    monkeypatch.setattr(topping_up, "MOST_BYTES", 1_000)
    assert proven(copied_run(behind)).points.get().version == 2


def test_copies_are_as_the_plan_wants_them(behind, copies):
    key = "arn:aws:kms:eu-west-1:123456789012:key/a"
    type(behind.plan).objects.update(encryption_key=key, storage_class="STANDARD_IA")
    proven(copied_run(behind))
    assert {(copy.encryption_key, bool(copy.etag)) for copy in copies} == {(key, True)}
    assert {copy.storage_class for copy in copies if not copy.source_key.startswith(LOG)} == {"STANDARD_IA"}


def test_what_one_copy_cannot_take_is_copied_in_parts(behind, monkeypatch):
    whole = list[Copy]()
    before(monkeypatch, copying, "copy_object", lambda _, copy: whole.append(copy))
    monkeypatch.setattr(copying, "COPY_LIMIT", 10)
    [point] = proven(copied_run(behind)).points.all()
    assert (point.version, whole) == (4, [])


@pytest.mark.parametrize("code", ["AccessDenied", "NoSuchKey", "PreconditionFailed", "InvalidObjectState"])
def test_what_cannot_be_copied_is_said_and_other_tables_go_on(behind, monkeypatch, code):
    put_long_ago(behind, {f"b/{key}": data for key, data in appended(range(5)).items()})
    behind.put({f"b/{key}": data for key, data in appended(range(3)).items()}, copied=True)

    def fail(_: S3, copy: Copy) -> None:
        if copy.source_key == LOG + commit_name(4):
            raise AwsError(code, "it said", "", "s3:CopyObject", "", "")

    before(monkeypatch, topping_up, "copied", fail)

    run = proven(copied_run(behind, ["t", "b/t"]))

    points = {point.table.removeprefix(f"s3a://{behind.source}/"): point for point in run.points.all()}
    assert (points["b/t"].version, points["t"].version) == (4, 2)
    assert code in points["t"].problems[0]
    assert restored(behind, points["t"].proof) == appended(range(3))


@pytest.mark.parametrize("allowed", range(4))
def test_a_failure_at_any_copy_claims_nothing_untrue_and_the_next_run_ends_it(backup, monkeypatch, prove, allowed):
    left = [allowed]

    def interrupt(*_: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise AwsError("SlowDown", "it said", "", "s3:CopyObject", "", "")

    before(monkeypatch, topping_up, "copied", interrupt)
    put_long_ago(backup, appended(range(5)))
    backup.put(appended(range(3)), copied=True)

    run = proven(copied_run(backup))

    assert (run.state, run.points.get().version) == (GAPS, 2)
    there = pool(backup)
    for first, last in prove(backup.uri)[0]["ranges"]:
        for version in range(first, last + 1):
            assert there.items() >= appended(range(version + 1)).items()
    left[0] = 99
    assert restored(backup, proven(copied_run(backup)).points.get().proof) == appended(range(5))


@pytest.mark.parametrize(
    "key",
    [
        "_levee/points/{source}/t/@2-0123456789abcdef.json",
        "b/t/_delta_log/00000000000000000002.json",
        "outside/of/the/plan.parquet",
    ],
)
def test_what_a_log_names_that_is_none_of_the_plans_is_not_copied(behind, copies, key):
    key = key.format(source=behind.source)
    type(behind.plan).objects.update(source=f"s3a://{behind.source}/t/" if "outside" in key else behind.plan.source)
    put_long_ago(behind, {key: b"x" * 500} | commit(5, add(f"s3a://{behind.source}/{key}")))

    [point] = proven(copied_run(behind)).points.all()

    assert (point.version, copies) == (2, [])
    assert "as data, which is none of the plan's." in point.problems[0]
    assert key not in [found.removeprefix("pool/") for found, _ in behind.lake.list(behind.vault, "pool/")]


def test_files_outside_of_the_table_are_asked_for_once(backup, monkeypatch):
    """As of a shallow clone."""
    clone = appended(range(1)) | commit(1, *(add(f"s3a://{backup.source}/other/{n}.parquet") for n in range(9)))
    put_long_ago(backup, clone | {f"other/{n}.parquet": b"x" * 500 for n in range(9)})
    backup.put({f"other/{n}.parquet": b"x" * 500 for n in range(8)}, copied=True)
    asked: list[str] = []
    before(monkeypatch, S3, "head", lambda _, bucket, key: asked.append(f"{bucket}/{key}"))

    [point] = proven(copied_run(backup)).points.all()

    assert point.version == 1
    assert len([one for one in asked if one.startswith(backup.source)]) == 9
    assert {one for one in asked if one.startswith(f"{backup.vault}/pool/other/8")}


@pytest.mark.parametrize("change", ["dropped", "refused"])
def test_where_the_second_proof_is_worse_the_first_is_kept(behind, monkeypatch, change):
    def meanwhile(_: S3, copy: Copy) -> None:
        if copy.source_key != LOG + commit_name(4):
            return
        if change == "refused":
            refuse(monkeypatch, "list", "AccessDenied", lambda bucket, prefix: (bucket, prefix) == (behind.source, LOG))
        else:
            gone.extend(key for key in appended(range(5)) if key != copy.source_key)

    gone: list[str] = []
    before(monkeypatch, topping_up, "copied", meanwhile)
    before(monkeypatch, proving, "read_copy", lambda *_: [behind.lake.delete(behind.source, key) for key in gone])

    [point] = proven(copied_run(behind)).points.all()

    assert (point.version, point.not_kept) == (2, "")
    assert restored(behind, point.proof) == appended(range(3))
    assert "Not topped up from the source." in point.problems[0]


def test_a_staged_commit_of_long_ago_is_no_lack_of_younger_ones(backup, copies):
    backup.put(appended(range(5)), copied=False, hours_ago=1)
    backup.put(appended(range(3)), copied=True)
    put_long_ago(backup, {STAGED.replace(f"{3:020d}", f"{5:020d}"): b"{}"})
    proven(copied_run(backup))
    assert copies == []


def test_a_commit_that_was_published_late_is_as_old_as_what_it_waited_in(backup):
    backup.put(appended(range(4)), copied=False, hours_ago=1)
    backup.put(appended(range(3)), copied=True)
    put_long_ago(backup, {STAGED: b"{}"})
    assert proven(copied_run(backup)).points.get().version == 3


def test_logs_are_copied_into_no_archive(behind, copies):
    type(behind.plan).objects.update(storage_class="GLACIER")
    proven(copied_run(behind))
    classes = {copy.source_key.startswith(LOG): copy.storage_class for copy in copies}
    assert classes == {True: "", False: "GLACIER"}


def test_a_backup_that_has_all_and_cannot_be_read_is_not_copied_again(behind, copies, monkeypatch):
    behind.put(appended(range(5)), copied=True)
    refuse(monkeypatch, "get", "AccessDenied", lambda bucket, key: bucket == behind.vault and commit_name(3) in key)
    [point] = proven(copied_run(behind)).points.all()
    assert (point.version, copies) == (2, [])
    assert "The backup has all of its objects, and not all of them can be read there." in point.problems[0]


@pytest.mark.parametrize("seed", [*range(2), *map(slowly, range(2, 60))])
def test_every_table_that_is_whole_at_its_source_is_restorable_to_its_newest_version(backup, tmp_path, seed):
    """Of tables that are changed, compacted, vacuumed, dropped and made anew, copied late and with losses."""
    chance = random.Random(seed)
    source, there = model.Source(tmp_path / "source", chance), {}
    for _ in range(4):
        stale = source.objects()
        for _ in range(chance.randint(1, 4)):
            source.step()
        model.back_up(there, source, stale, chance)
        empty(backup, backup.source)
        put_long_ago(backup, source.objects())
        backup.put(there, copied=True)

        run = proven(copied_run(backup))

        point = run.points.get(earlier="")
        newest = max(source.rows)
        assert point.version == newest, point.problems
        assert model.opened(restored(backup, point.proof), tmp_path / "copy") == (newest, source.rows[newest])
        there |= pool(backup)


def test_a_proof_by_hand_copies_nothing(behind, prove, copies):
    [point] = prove(behind.uri, "--plan", behind.plan.name)
    assert (point["state"], point["version"], copies) == ("behind", 2, [])
