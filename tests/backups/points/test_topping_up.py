"""What a table lacks that its plan promises is copied from the live source in the same run, and proven again."""

import random
from typing import Any

import pytest

from backups.points import topping_up
from lake.aws.copying import Copy
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.delta.names import commit_name
from tests.backups.points.conftest import Backup
from tests.backups.points.ended_runs import GAPS, copied_run, proven, restored
from tests.backups.points.test_kept import before, empty
from tests.builders.copies import LOG, appended, commit, name, without
from tests.builders.delta import add, first_commit_bytes, remove
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
    before(monkeypatch, topping_up, "copy_object", lambda _, copy: sent.append(copy))
    return sent


def pool(backup: Backup) -> dict[str, bytes]:
    found = backup.lake.list(backup.vault, "pool/t/")
    return {key.removeprefix("pool/"): backup.lake.get(backup.vault, key) for key, _ in found}


def test_what_the_inventory_missed_is_copied_and_proven_in_the_same_run(behind):
    run = proven(copied_run(behind))

    [point] = run.points.all()
    assert (run.state, point.state, point.version, point.ranges) == ("complete", "proven", 4, [[0, 4]])
    assert restored(behind, point.proof) == appended(range(5))
    assert "4 objects that they lacked came from the source after the run's own copies." in run.sentence
    counts = run.tables["topped_up"]
    assert (counts["tables"], counts["objects"], counts["bytes"] > 1_000, counts["usd"]) == (1, 4, True, "0.000025")


def test_data_is_copied_before_checkpoints_and_these_before_commits_in_their_order(behind, copies):
    put_long_ago(behind, appended(range(8)))
    behind.put({f"{LOG}{6:020d}.checkpoint.parquet": b"none"}, copied=False, hours_ago=LONG_AGO)
    proven(copied_run(behind))
    keys = [copy.source_key for copy in copies]
    data, log = keys[:5], keys[5:]
    assert sorted(data) == [f"t/{name(version)}" for version in range(3, 8)]
    assert log == [LOG + commit_name(version) for version in range(3, 8)]


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
    put_long_ago(backup, appended(range(3)))
    backup.put(appended(range(3)), copied=True)
    listed: list[str] = []
    before(monkeypatch, S3, "list", lambda _, bucket, prefix, **more: listed.append(f"{bucket}/{prefix}"))
    proven(copied_run(backup))
    assert f"{backup.source}/t/" not in listed


def test_what_the_source_has_not_whole_either_is_said(behind, copies):
    behind.lake.delete(behind.source, f"t/{name(3)}")

    run = proven(copied_run(behind))

    [point] = run.points.all()
    assert (run.state, point.state, point.version, copies) == (GAPS, "behind", 2, [])
    assert point.problems[0] == (
        "Copying it from the source: At the source, no newer version of it has all its files either."
    )


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
    assert (
        "Copying the 4 objects that it lacks would cost $4.00, and the plan's ceiling leaves $2.00."
        in point.problems[0]
    )

    run = proven(copied_run(behind, ceiling_usd="40.00", actual_usd="35.00"))

    assert (run.points.get().version, len(copies), str(run.actual_usd)) == (4, 4, "39.00")


def test_what_was_spent_before_an_interruption_counts(behind, settings):
    settings.BACKUP_PRICES = {"copy_thousand": "1000"}
    spent = {"topped_up": {"tables": 1, "objects": 9, "bytes": 9, "usd": "37"}}
    run = proven(copied_run(behind, ceiling_usd="40.00", tables=spent))
    assert run.points.get().version == 2


def test_a_cent_is_always_left(behind):
    run = proven(copied_run(behind, ceiling_usd="40.00", actual_usd="60.00"))
    assert run.points.get().version == 4


def test_very_much_is_left_to_the_next_run(behind, copies, monkeypatch):
    monkeypatch.setattr(topping_up, "MOST_OBJECTS", 3)
    [point] = proven(copied_run(behind)).points.all()
    assert (point.version, copies) == (2, [])
    assert "It lacks 4 objects" in point.problems[0]


def test_copies_are_as_the_plan_wants_them(behind, copies):
    key = "arn:aws:kms:eu-west-1:123456789012:key/a"
    type(behind.plan).objects.update(encryption_key=key, storage_class="STANDARD_IA")
    proven(copied_run(behind))
    assert {(copy.encryption_key, copy.storage_class, bool(copy.etag)) for copy in copies} == {
        (key, "STANDARD_IA", True)
    }


def test_what_one_copy_cannot_take_is_copied_in_parts(behind, copies, monkeypatch):
    monkeypatch.setattr(topping_up, "COPY_LIMIT", 10)
    [point] = proven(copied_run(behind)).points.all()
    assert (point.version, copies) == (4, [])


@pytest.mark.parametrize("code", ["AccessDenied", "NoSuchKey", "PreconditionFailed", "InvalidObjectState"])
def test_what_cannot_be_copied_is_said_and_other_tables_go_on(behind, monkeypatch, code):
    put_long_ago(behind, {f"b/{key}": data for key, data in appended(range(5)).items()})
    behind.put({f"b/{key}": data for key, data in appended(range(3)).items()}, copied=True)

    def fail(_: S3, copy: Copy) -> None:
        if copy.source_key == LOG + commit_name(4):
            raise AwsError(code, "it said", "", "s3:CopyObject", "", "")

    before(monkeypatch, topping_up, "copy_object", fail)

    run = proven(copied_run(behind, ["t", "b/t"]))

    points = {point.table.removeprefix(f"s3a://{behind.source}/"): point for point in run.points.all()}
    assert (points["b/t"].version, points["t"].version) == (4, 2)
    assert code in points["t"].problems[0]
    assert restored(behind, points["t"].proof) == appended(range(3))


def test_an_interruption_at_any_copy_claims_nothing_untrue_and_the_next_try_ends(backup, monkeypatch, prove):
    left = [99]

    def interrupt(*_: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise AwsError("SlowDown", "it said", "", "s3:CopyObject", "", "")

    before(monkeypatch, topping_up, "copy_object", interrupt)
    put_long_ago(backup, appended(range(5)))
    for allowed in range(4):
        empty(backup, backup.vault)
        backup.put(appended(range(3)), copied=True)
        left[0] = allowed
        run = proven(copied_run(backup))
        assert (run.state, run.points.count()) == ("running", 0)

        there = pool(backup)
        for first, last in prove(backup.uri)[0]["ranges"]:
            for version in range(first, last + 1):
                assert there.items() >= appended(range(version + 1)).items()

        left[0] = 99
        assert restored(backup, proven(run).points.get(earlier="").proof) == appended(range(5))
        type(run).objects.filter(pk=run.pk).update(state="cancelled")


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
