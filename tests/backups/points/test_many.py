"""Many tables are proven by Spark: as each would be by itself, and those that need more are left to be."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backups.advancing import needs_spark
from backups.points import spreading
from backups.runs.spark_pipeline import SparkPipeline
from backups.runs.stages import prove as prove_stage
from dashboard.accounts.actor import Actor
from dashboard.jobs.actions import Target, submit
from dashboard.jobs.context import JobFailed
from dashboard.jobs.execution import execute
from lake.aws.s3 import S3
from lake.delta.facts import LogObject, ReadingProblem
from lake.delta.restorable import Blocked, TableAtVersion
from lake.points.proven import ProvenTable, RestorableVersions, line_of, read_line
from lake.spark.jobs import backup_prove
from tests.backups.points.conftest import Backup, refuse
from tests.backups.points.ended_runs import STAGED, copied_run, document_of, proven
from tests.backups.points.spread import spread_all
from tests.builders.copies import LOG, appended, commit, without
from tests.builders.delta import add, first_commit_bytes

pytestmark = [pytest.mark.django_db]

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
KINDS = ("whole", "young", "late", "waits", "empty", "elsewhere", "refused", "gone")


def tables_of_all_kinds(backup: Backup, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Their roots: all there; lacking a commit that is young, or old; with one of which DynamoDB knows; of which the
    backup has nothing; with a file of another table; whose log may not be listed; dropped since the inventory."""
    for kind in ("whole", "young", "late", "waits", "refused"):
        backup.put_both(appended(range(3)), below=f"{kind}/")
    backup.put(commit(3, add("part-3.parquet")), copied=False, below="young/")
    for key, data in appended(range(3, 5)).items():
        backup.put({key: data}, copied=False, below="late/", hours_ago=40)
    backup.put({STAGED: b"{}"}, copied=False, below="waits/", hours_ago=40)
    backup.put(appended(range(2)), copied=False, below="empty/", hours_ago=40)
    shared = add(f"s3a://{backup.source}/whole/t/part-1.parquet")
    backup.put_both({f"{LOG}{0:020d}.json": first_commit_bytes(), **commit(1, shared)}, below="elsewhere/")
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
        "refused": ("unprovable", None),
    }
    assert all(bool(point.proof) is (kind != "refused") for kind, point in points.items())
    assert [len(points[kind].moments) for kind in ("whole", "late", "refused")] == [1, 1, 0]
    assert document_of(backup, points["whole"].proof)["run"] == str(run.pk)
    assert sorted(left) == ([f"{kind}/t" for kind in ("elsewhere", "empty", "late", "waits")] if are_many else [])


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
    monkeypatch.setattr(prove_stage, "AT_ONCE", 1)
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


def test_a_backup_of_many_tables_is_proven_without_a_plan_as_by_itself(backup, monkeypatch, prove):
    backup.put_both(appended(range(3)), below="a/")
    backup.put(without(appended(range(3)), "t/part-1.parquet") | {STAGED: b"{}"}, copied=True, below="b/")
    alone = prove(backup.uri)
    left = spread_all(monkeypatch, backup)
    many = prove(backup.uri)
    assert [(point["state"], point["ranges"]) for point in many] == [("proven", [[0, 2]]), ("behind", [[0, 0]])]
    assert [{**point, "proven_at": ""} for point in many] == [{**point, "proven_at": ""} for point in alone]
    assert left == []


def test_executors_ask_only_buckets_of_the_accounts_that_own_them(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    spread_all(monkeypatch, backup)
    owners = {backup.source: "111122223333", backup.vault: "444455556666"}
    monkeypatch.setattr(S3, "owner_of", lambda _, bucket: owners[bucket])
    heard: list[dict[str, str]] = []
    monkeypatch.setattr(backup_prove, "s3_of", lambda access: heard.append(dict(access.bucket_owners)))
    proven(copied_run(backup))
    assert heard == [owners]


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
