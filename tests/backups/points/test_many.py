"""Many tables are proven by Spark: as each would be by itself, and those that need more are left to be."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from backups.advancing import needs_spark
from backups.models import Plan
from backups.points import spreading
from backups.runs import spark_pipeline
from backups.runs.spark_pipeline import SparkPipeline
from backups.runs.stages import prove as prove_stage
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.actions import Target, submit
from dashboard.jobs.context import JobFailed
from dashboard.jobs.execution import execute
from lake.aws.s3 import S3
from lake.backup.objects import POINTS
from lake.delta.facts import LogObject, ReadingProblem
from lake.delta.restorable import Blocked, TableAtVersion
from lake.points.proven import ProvenTable, RestorableVersions, line_of, read_line
from lake.spark.jobs import backup_prove
from sandbox.client import REGION
from tests.backups.points.conftest import Backup, refuse
from tests.backups.points.ended_runs import STAGED, copied_run, document_of, proven
from tests.backups.points.spread import spread_all
from tests.backups.points.test_kept import before
from tests.builders.copies import LOG, appended, commit, without
from tests.builders.delta import add, checkpoint_bytes, first_commit_bytes, metadata, protocol

pytestmark = [pytest.mark.django_db]

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
KINDS = ("whole", "young", "late", "waits", "empty", "elsewhere", "pointing", "refused", "gone")


def tables_of_all_kinds(backup: Backup, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Their roots: all there; lacking a commit that is young, or old; with one of which DynamoDB knows; of which the
    backup has nothing; with a file of another table; with a checkpoint that names such a one; whose log may not be
    listed; dropped since the inventory."""
    for kind in ("whole", "young", "late", "waits", "refused"):
        backup.put_both(appended(range(3)), below=f"{kind}/")
    backup.put(commit(3, add("part-3.parquet")), copied=False, below="young/")
    for key, data in appended(range(3, 5)).items():
        backup.put({key: data}, copied=False, below="late/", hours_ago=40)
    backup.put({STAGED: b"{}"}, copied=False, below="waits/", hours_ago=40)
    backup.put(appended(range(2)), copied=False, below="empty/", hours_ago=40)
    shared = add(f"s3a://{backup.source}/whole/t/part-1.parquet")
    backup.put_both({f"{LOG}{0:020d}.json": first_commit_bytes(), **commit(1, shared)}, below="elsewhere/")
    pointing = checkpoint_bytes(protocol(), metadata(), shared, add("part-2.parquet"))
    backup.put_both(appended(range(3)) | {f"{LOG}{2:020d}.checkpoint.parquet": pointing}, below="pointing/")
    refuse(monkeypatch, "list", "AccessDenied", lambda bucket, key: bucket == backup.source and "refused" in key)
    return [f"{kind}/t" for kind in KINDS]


@pytest.mark.parametrize("are_many", [False, True])
def test_tables_are_proven_alike_however_many_they_are(backup, monkeypatch, are_many):
    roots = tables_of_all_kinds(backup, monkeypatch)
    left = spread_all(monkeypatch, backup) if are_many else []

    run = proven(copied_run(backup, roots))

    points = {point.table.split("/")[-2]: point for point in run.points.all()}
    assert {kind: (point.state, point.version) for kind, point in points.items()} == {
        "whole": ("proven", 2),
        "young": ("proven", 2),
        "late": ("proven", 4),
        "waits": ("unprovable", 2),
        "empty": ("proven", 1),
        "elsewhere": ("proven", 1),
        "pointing": ("proven", 2),
        "refused": ("unprovable", None),
    }
    assert all(bool(point.proof) is (kind != "refused") for kind, point in points.items())
    assert [len(points[kind].moments) for kind in ("whole", "late", "refused")] == [1, 1, 0]
    assert document_of(backup, points["whole"].proof)["run"] == str(run.pk)
    need_more = ["elsewhere/t", "empty/t", "late/t", "pointing/t", "waits/t"]
    assert sorted(left) == (need_more if are_many else [])


def test_of_what_spark_leaves_it_keeps_nothing(backup, monkeypatch):
    roots = tables_of_all_kinds(backup, monkeypatch)
    spread_all(monkeypatch, backup)
    monkeypatch.setattr(prove_stage, "prove_copy", lambda *_: iter(()))
    run = proven(copied_run(backup, roots))
    below = f"pool/{POINTS}{backup.source}/"
    kept = {key.removeprefix(below).partition("/")[0] for key, _ in backup.lake.list(backup.vault, below)}
    assert kept == {"whole", "young"} == {point.table.split("/")[-2] for point in run.points.all()} - {"refused"}


@pytest.mark.parametrize("are_many", [False, True])
def test_without_a_listing_of_the_backup_no_table_is_judged(backup, monkeypatch, are_many):
    backup.put_both(appended(range(3)))
    if are_many:
        spread_all(monkeypatch, backup)
    refuse(monkeypatch, "list", "AccessDenied", lambda bucket, key: bucket == backup.vault)
    run = proven(copied_run(backup))
    assert (run.state, run.points.count(), run.failed_attempts) == ("running", 0, 1)


def test_what_spark_does_not_begin_in_time_is_proven_afterwards(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    left = spread_all(monkeypatch, backup)
    monkeypatch.setattr(backup_prove, "BEGIN_SECONDS", 0)
    [point] = proven(copied_run(backup)).points.all()
    assert (point.state, bool(point.proof), left) == ("proven", True, ["t"])


def test_the_backup_is_listed_once_for_all_files_that_lie_elsewhere(backup, monkeypatch):
    backup.put_both(appended(range(2)), below="whole/")
    shared = add(f"s3a://{backup.source}/whole/t/part-1.parquet")
    for number in range(3):
        objects = {f"{LOG}{0:020d}.json": first_commit_bytes(), **commit(1, shared)}
        backup.put_both(objects, below=f"n{number}/")
    listed: list[str] = []
    before(monkeypatch, S3, "list", lambda _, bucket, prefix, **more: listed.append(prefix))
    run = proven(copied_run(backup, [f"n{number}/t" for number in range(3)]))
    assert (run.tables["points"], listed.count("pool/")) == ({"proven": 3}, 1)


def test_tables_are_read_when_spark_was_asked_by_the_clock_of_who_asked(backup, monkeypatch):
    """An executor whose clock runs ahead would have a point hold what came later."""
    backup.put_both(appended(range(3)))
    spread_all(monkeypatch, backup)
    then = timezone.now() - timedelta(minutes=5)
    monkeypatch.setattr(spark_pipeline, "timezone", SimpleNamespace(now=lambda: then))
    [point] = proven(copied_run(backup)).points.all()
    assert point.holds_until == then


def test_a_run_with_many_tables_left_to_prove_waits_for_spark(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    left = spread_all(monkeypatch, backup)
    run = copied_run(backup)
    assert needs_spark(run)
    details = {"connection": backup.plan.vault_connection, "params": {"run": str(run.pk)}}
    job = submit(Actor.schedule(), "backup-run", "Back up", target=Target("run", str(run.pk), "nightly"), **details)
    execute(job.pk, "worker/aws")
    run.refresh_from_db()
    assert (run.state, run.stage, left, run.points.count()) == ("running", "prove", [], 0)


def test_what_spark_has_proven_is_stored_some_tables_at_a_time_and_not_proven_again(backup, monkeypatch):
    for number in range(3):
        backup.put_both(appended(range(2)), below=f"n{number}/")
    spread_all(monkeypatch, backup)
    monkeypatch.setattr(spreading, "SPREAD_AT_ONCE", 1)
    asked: list[list[str]] = []
    prove = SparkPipeline.prove

    def two_and_no_more(self: SparkPipeline, wanted: Any, roots: Any) -> Any:
        asked.append(list(roots))
        if len(asked) == 3:
            raise JobFailed("SparkEnded", "Spark ended by itself.")
        return prove(self, wanted, roots)

    monkeypatch.setattr(SparkPipeline, "prove", two_and_no_more)
    run = copied_run(backup, [f"n{number}/t" for number in range(3)])

    assert (proven(run).state, run.points.count()) == ("running", 2)
    assert (proven(run).state, run.points.count()) == ("complete", 3)
    assert asked == [["n0/t"], ["n1/t"], ["n2/t"], ["n2/t"]]


@pytest.mark.parametrize("words", [[], ["--plan", "warehouse-daily"]])
def test_a_backup_of_many_tables_is_proven_as_by_itself(backup, monkeypatch, prove, words):
    lacking = without(appended(range(3)), "t/part-1.parquet")
    backup.put_both(appended(range(3)), below="a/")
    backup.put_both(lacking | {STAGED: b"{}"}, below="b/", hours_ago=40)
    backup.put_both(appended(range(2)), below="c/")
    alone = prove(backup.uri, *words)
    left = spread_all(monkeypatch, backup)
    many = prove(backup.uri, *words)
    assert [(point["state"], point["ranges"], point["anchored"]) for point in many] == [
        ("proven", [[0, 2]], bool(words)),
        ("behind", [[0, 0]], bool(words)),
        ("proven", [[0, 1]], bool(words)),
    ]
    later = ("proven_at", "holds_until")
    assert [{**point, **dict.fromkeys(later)} for point in many] == [
        {**point, **dict.fromkeys(later)} for point in alone
    ]
    assert left == (["b/t"] if words else [])


def test_a_source_that_another_connection_reads_is_not_read_by_spark(backup, monkeypatch, prove):
    backup.put_both(appended(range(3)))
    backup.plan.connection = Connection.objects.create(name="lake", region=REGION, endpoint_url=backup.lake.origin)
    backup.plan.save()
    spread_all(monkeypatch, backup)
    monkeypatch.setattr(SparkPipeline, "prove", lambda *_: pytest.fail("Spark was asked."))
    assert [point["state"] for point in prove(backup.uri, "--plan", "warehouse-daily")] == ["proven"]


def test_executors_get_what_points_are_kept_for_and_who_has_to_own_the_buckets(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    spread_all(monkeypatch, backup)
    Plan.objects.update(encryption_key="arn:aws:kms:eu-west-1:111122223333:key/1")
    owners = {backup.source: "111122223333", backup.vault: "444455556666"}
    monkeypatch.setattr(S3, "owner_of", lambda _, bucket: owners[bucket])
    heard: list[backup_prove.ProveOrders] = []

    def proving(orders: backup_prove.ProveOrders) -> Any:
        heard.append(orders)
        return lambda _: iter(())

    monkeypatch.setattr(backup_prove, "proving", proving)
    run = copied_run(backup)
    proven(run)
    [orders] = heard
    assert (orders.access.bucket_owners, orders.destination.uri) == (owners, backup.plan.destination)
    assert (orders.plan, orders.run, orders.source_bucket) == ("warehouse-daily", str(run.pk), backup.source)
    assert (orders.encryption_key[-6:], orders.objective) == (":key/1", timedelta(hours=36))


def test_a_table_is_read_from_its_line_as_it_was_proven():
    later = NOW + timedelta(microseconds=7)
    table = ProvenTable(
        'ünï/"t"\n',
        RestorableVersions(
            TableAtVersion(3, "id", 2, 10**12, 1_700_000_000_123, has_own_time=True),
            ((0, 1), (3, 3)),
            (Blocked("t/é", "missing", 2, 2),),
            7,
            (ReadingProblem("0.json", "It is missing."),),
        ),
        accepted=9,
        accepted_at=1_700_000_000_456,
        lacking_since=NOW,
        may_lack_since=later,
        waiting=LogObject(".tmp/4.json", 3, NOW, "etag", "STANDARD"),
        read_at=later,
        unpublished={4: "_staged_commits/4.json"},
        not_known="DynamoDB was not asked.",
        kept="s3a://vault/1.json",
        not_kept="why",
        not_topped_up="why not",
        moments=((NOW, later),),
    )
    for one in (table, ProvenTable("", RestorableVersions())):
        line = line_of(one)
        assert read_line(line) == one
        assert "\n" not in line
