"""Whole runs on real Spark and the sandbox's S3, from a listing or an inventory to reconciliation."""

import os
import random
import signal
import threading
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import quote

import pytest
import urllib3

from backups import actions
from backups.advancing import advance_here
from backups.points import spreading
from backups.runs import spark_pipeline
from backups.runs.ports import Reports
from backups.runs.spark_pipeline import SparkPipeline
from backups.runs.stages import prove
from dashboard.accounts.actor import Actor
from lake.aws.access import open_lake
from lake.aws.copying import Copy, copy_in_parts
from lake.backup.objects import BucketPrefix
from tests.backups.runs import plain
from tests.backups.runs.ground import Ground, counts
from tests.backups.runs.world import start
from tests.builders.copies import appended
from tests.builders.delta import add, commit_bytes, first_commit_bytes
from tests.lake.spark.backupground import HOSTILE
from tests.sparkworker import pid_of, warm_worker

__all__ = ["warm_worker"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]

LIMIT = 4_000


@pytest.fixture
def ground(monkeypatch, settings, tmp_path, warm_worker) -> Iterator[Ground]:
    class Warm:
        def borrow(self, *_: object) -> object:
            return warm_worker

    ground = Ground(keys=HOSTILE)
    ground.client.put(ground.source, HOSTILE[0], table_of_all(ground))
    ground.allow(settings, tmp_path)
    monkeypatch.setattr(spark_pipeline, "spark", Warm())
    monkeypatch.setattr("backups.advancing.POLL_SECONDS", 0.3)
    monkeypatch.setattr(spreading, "SPREAD_FROM", 1)  # Spark proves the tables too
    settings.BACKUP_COPY_LIMIT_BYTES = LIMIT
    ground.rules(copy_limit=LIMIT, delivery_seconds=3600)
    yield ground
    ground.own_rules()


def table_of_all(ground: Ground) -> bytes:
    """The first commit of a table to which belongs whatever else below its folder has a name that is no whole path."""
    root = HOSTILE[0].partition("_delta_log/")[0]
    listed = ground.client.list(ground.source, root)
    sizes = {key: size for key, size in listed if key != HOSTILE[0] and not key.startswith(f"{root}/")}
    adds = [add(quote(key.removeprefix(root)), size=size) for key, size in sizes.items()]
    return first_commit_bytes() + commit_bytes(*adds)


@pytest.mark.parametrize(("engine", "copied_again"), [("spark", 0), ("s3-batch", 1)])
def test_every_object_arrives_whole_and_a_second_run_copies_the_new_and_the_log(ground, engine, copied_again):
    """The log is in every manifest; Spark looks before it copies, S3 does not."""
    ground.plant(ground.source, ["t/large 1", "t/large 2"], "x" * (LIMIT + 1_000))
    plan, total = ground.plan(engine=engine), len(HOSTILE) + 2

    first = advance_here(start(plan))

    assert (first.state, counts(first)) == ("complete", {"listed": total, "copied": total})
    assert {(row.lane, row.engine, row.total) for row in first.copy_jobs.all()} == {
        ("copy", engine, len(HOSTILE)),
        ("multipart", "spark", 2),
    }
    assert ground.copies() == ground.originals()
    [point] = first.points.all()
    assert (point.table, point.state, point.version) == (f"s3a://{ground.source}/t/a b", "proven", 0)
    assert point.files == len(HOSTILE) - 3

    ground.client.put(ground.source, "t/new", b"new")
    ground.client.put(ground.source, "t/a b/_delta_log/_last_checkpoint", b"{}")
    second = advance_here(start(plan))
    assert (second.state, counts(second)) == (
        "complete",
        {"listed": total + 1, "copied": 1 + copied_again, "already_there": total - copied_again},
    )
    assert ground.originals().keys() - ground.copies().keys() == {"t/a b/_delta_log/_last_checkpoint"}


def test_a_run_takes_the_inventory_that_s3_delivered(ground, monkeypatch):
    """Spark proves its tables, and leaves none."""
    whole, proven_here = appended(range(3)), list[str]()
    for key, data in whole.items():
        ground.client.put(ground.source, key, data)
    prove_here = prove.prove_copy
    monkeypatch.setattr(
        prove, "prove_copy", lambda *words, **more: proven_here.extend(words[4]) or prove_here(*words, **more)
    )
    ground.client.create_bucket(f"lists-{ground.source}")
    place = f"s3a://lists-{ground.source}/{ground.source}/levee/"
    plan = ground.plan(engine="s3-batch", inventory=place, minimum_lag_hours=0)
    actions.ask_for_inventory(Actor.command(), plan, enqueue=False)
    answer = urllib3.request("POST", f"{ground.client.origin}/_sandbox/inventory?bucket={ground.source}&id=levee")
    assert answer.status == 200
    ground.client.put(ground.source, "t/after", b"written after the inventory")
    ground.client.delete(ground.source, HOSTILE[1])

    run = advance_here(start(plan))

    assert (run.state, counts(run)) == (
        "complete",
        {"listed": len(HOSTILE) + len(whole), "copied": len(HOSTILE) + len(whole) - 1, "vanished": 1},
    )
    point = run.points.get(table=f"s3a://{ground.source}/t")
    assert (point.state, point.version, bool(point.proof), proven_here) == ("proven", 2, True, [])
    originals = ground.originals()
    assert originals.pop("t/after")
    assert ground.copies() == originals


def test_no_damaged_copy_is_ever_called_safe(ground, monkeypatch):
    """Whatever becomes of the destination between copy and reconciliation, each outcome is that of plain Python.

    The reports are of both engines: S3 copies what it can, Spark what is too large for that.
    """
    ground.plant(ground.source, [f"t/part-{number:02}" for number in range(40)], "some data")
    ground.plant(ground.source, ["t/large 1", "t/large 2", "t/large 3"], "x" * (LIMIT + 1_000))
    reconcile, checked = SparkPipeline.reconcile, []

    def damage_and_reconcile(self, wanted, planned, reports, copied_until):
        found = None
        for seed in (1, 2):
            damage(ground, random.Random(seed))
            found = reconcile(self, wanted, planned, reports, copied_until)
            outcomes = outcomes_at(ground, found.facts["reconciled"])
            assert outcomes == expected(ground, reports), f"seed {seed}"
            checked.append(sorted(set(outcomes.values())))
        return found

    monkeypatch.setattr(SparkPipeline, "reconcile", damage_and_reconcile)
    run = advance_here(start(ground.plan(engine="s3-batch")))

    assert len(checked) == 2, run.sentence
    assert checked[1] == [("changed", "OtherContent"), ("copied", ""), ("failed", "NotAtDestination")]
    assert run.state == "complete_with_gaps"
    assert run.copied + run.changed + run.failed == run.listed == 43 + len(HOSTILE)


def damage(ground: Ground, chance: random.Random) -> None:
    """Delete, cut, exchange or overwrite about a third of what was copied."""
    with open_lake(ground.access) as lake:
        for key, size in list(ground.client.list(ground.vault, "pool/")):
            if chance.random() < 0.35:
                kind = chance.choice(["delete", "cut", "same size", "other", "empty", "parts"])
                new = {"cut": b"!" * max(size - 1, 1), "other": b"!" * (size + 1), "empty": b""}.get(kind, b"!" * size)
                ground.client.delete(ground.vault, key)
                if kind == "parts":
                    ground.client.put(ground.vault, "damage", new)
                    copy_in_parts(lake.s3, Copy(ground.vault, "damage", ground.vault, key, size))
                elif kind != "delete":
                    ground.client.put(ground.vault, key, new)


def expected(ground: Ground, reports: Reports) -> dict[str, tuple[str, str]]:
    with open_lake(ground.access) as lake:
        source = plain.objects_at(lake, BucketPrefix(ground.source))
        there = plain.objects_at(lake, BucketPrefix(ground.vault, "pool/"))
        told = plain.told_by(lake, reports)
    return {
        key: plain.outcome_of(found.size, found.etag, told.get(key), there.get(key)) for key, found in source.items()
    }


def outcomes_at(ground: Ground, place: dict[str, str]) -> dict[str, tuple[str, str]]:
    """What Spark wrote down of each object."""
    from pyarrow import parquet

    files = [key for key, _ in ground.client.list(place["bucket"], place["prefix"]) if key.endswith(".parquet")]
    tables = [parquet.read_table(BytesIO(ground.client.get(place["bucket"], key))) for key in files]
    return {row["key"]: (row["outcome"], row["code"]) for table in tables for row in table.to_pylist()}


def test_spark_killed_amid_a_copy_goes_on_where_it_ended(ground, monkeypatch, warm_worker):
    names = [f"t/part-{number:05}" for number in range(2_000)]
    ground.plant(ground.source, names, "data")
    run_job, killed = SparkPipeline.run, []

    def run_and_be_killed(self, kind, params):
        if kind != "backup_copy" or killed:
            return run_job(self, kind, params)
        killed.append(pid_of(warm_worker))
        threading.Thread(target=kill_when_copying, args=(ground, killed[0]), daemon=True).start()
        return run_job(self, kind, params)

    monkeypatch.setattr(SparkPipeline, "run", run_and_be_killed)
    said: list[str] = []
    total = len(names) + len(HOSTILE)
    run = advance_here(start(ground.plan(engine="spark")), said.append)

    assert any("The Spark worker ended by itself (signal 9)" in sentence for sentence in said), said
    assert (run.state, run.copied + run.already_there, run.listed) == ("complete", total, total)
    assert 0 < run.already_there < total
    assert ground.copies() == ground.originals()


def kill_when_copying(ground: Ground, group: int) -> None:
    for _ in range(2_000):
        if any(ground.client.list(ground.vault, "pool/")):
            break
    os.killpg(group, signal.SIGKILL)
