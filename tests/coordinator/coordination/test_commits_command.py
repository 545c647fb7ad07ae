"""`levee commits`: the plan, carrying it out, handing it over, and the settings of writers."""

from typing import Any

import pytest

from coordinator.coordination.bulk import ManyParams
from coordinator.coordination.confirmed import ActParams, ActResult, CheckParams, CheckResult
from coordinator.coordination.contract import CommitsJson, ManyCommitsJson
from coordinator.models import DeltaTable
from coordinator.writers.contract import ConfJson
from dashboard.audit.models import AuditEntry
from dashboard.commands import Failed, UsageError
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobResult
from dashboard.jobs.models import Job
from lake.spark.jobs import append_probe, enable_coordinated_commits
from tests.builders.lake import make_bucket, make_store, make_table
from tests.coordinator.coordination.desk import ROOT, Desk
from tests.coordinator.coordination.fake_spark import CONVERT, ends
from tests.json_types import missing, printed, said

pytestmark = pytest.mark.django_db


def commits(*words: str) -> Any:
    return printed("commits", *words)


def test_the_plan_is_printed_and_nothing_is_done(desk: Desk, plain: DeltaTable) -> None:
    document = commits("enable", plain.uri, "--store", desk.store)

    assert (document["operation"], document["may_run"], document["job"]) == ("enable", True, None)
    assert {check["state"] for check in document["checks"]} == {"ok", "warning"}
    assert document["statement"].startswith(f"ALTER TABLE delta.`{plain.uri}` SET TBLPROPERTIES")
    assert [call["operation"] for call in document["calls"]] == ["ALTER TABLE SET TBLPROPERTIES"]
    assert desk.spark.asked == []
    assert [job.kind for job in Job.objects.all()] == ["check-coordination"]
    told = said("commits", "enable", plain.uri, "--store", desk.store)
    assert "OK       Commit store: " in told
    assert "WARNING  Other writers: " in told
    assert f"1. Puts the table under coordinator {desk.store}, in one commit." in told
    assert "Nothing was changed. --apply carries it out." in told


def test_apply_enables_in_the_foreground(desk: Desk, plain: DeltaTable) -> None:
    document = commits("enable", plain.uri, "--store", desk.store, "--apply", "--writers-paused", "--probe")

    assert document["job"]["state"] == "succeeded"
    assert document["job"]["proofs"]
    assert [job.kind for job in desk.spark.asked] == [enable_coordinated_commits.KIND, append_probe.KIND]
    assert desk.console.table(ROOT).mechanism == "coordinated_commits"
    assert AuditEntry.objects.filter(action="table.enable-coordination", actor_name="command", outcome="done").exists()


@pytest.mark.parametrize("typed", [[], ["--confirm", "sales.order"], ["--writers-paused"]])
def test_a_drop_needs_the_tables_name(desk: Desk, coordinated: DeltaTable, typed: list[str]) -> None:
    with pytest.raises(UsageError, match=r"--confirm sales\.orders"):
        commits("drop", coordinated.uri, "--apply", *typed)
    assert desk.console.table(ROOT).mechanism == "coordinated_commits"


def test_create_makes_a_table(desk: Desk) -> None:
    uri = desk.console.lake.uri("new/table")

    document = commits("create", uri, "--store", desk.store, "--columns", "id BIGINT", "--apply")

    assert document["job"]["state"] == "succeeded"
    assert desk.console.table("new/table").mechanism == "coordinated_commits"


def test_checks_that_fail_are_printed_and_with_apply_end_in_1(desk: Desk, coordinated: DeltaTable) -> None:
    words = ("enable", coordinated.uri, "--store", desk.store)

    document = commits(*words)
    assert (document["may_run"], document["digest"], document["calls"]) == (False, "", [])
    with pytest.raises(Failed, match="the checks refuse it"):
        commits(*words, "--apply", "--writers-paused")


def test_a_job_that_fails_ends_in_1(desk: Desk, plain: DeltaTable) -> None:
    desk.spark.at[CONVERT] = ends("failed", "Out of memory.")

    with pytest.raises(Failed, match="Out of memory"):
        commits("enable", plain.uri, "--store", desk.store, "--apply", "--writers-paused")


def test_enqueue_hands_the_work_to_the_workers(desk: Desk, plain: DeltaTable) -> None:
    words = ("--apply", "--writers-paused", "--enqueue")

    document = commits("enable", plain.uri, "--store", desk.store, *words)

    assert document["job"]["state"] == "queued"
    assert desk.spark.asked == []


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["enable"], "needs the table's URI"),
        (["enable", "s3a://lake/sales/orders"], "--store NAME"),
        (["enable", "s3a://lake/sales/orders", "--store", "commits", "--enqueue"], "goes with --apply"),
        (["leftovers", "s3a://lake/sales/orders"], "--remove"),
        (["enable", "s3a://lake/sales/orders", "--store", "commits", "--rehearse", "--apply"], "--rehearse"),
        (["enable", "s3a://lake/sales/orders", "--store", "commits", "--rehearse", "--probe"], "--rehearse"),
        (["enable", "--all", "--store", "commits", "--rehearse"], "--rehearse"),
        (["enable", "s3a://lake/sales/orders", "--store", "commits", "--apply"], "--writers-paused"),
        (["enable", "--all"], "--store NAME"),
        (["enable", "--all", "--store", "commits", "--apply"], "--writers-paused"),
        (["drop", "s3a://lake/sales/orders", "--all"], "would be for one table"),
        (["drop", "--all", "--remove", "vacuumProtocolCheck"], "would be for one table"),
        (["drop", "--all", "--connection", "nowhere"], "No connection is called"),
        (["create", "--all", "--store", "commits"], "takes one table at a time"),
        (["drop", "s3a://lake/sales/orders", "--search", "orders"], "with --all"),
        (["drop", "nonsense"], "nonsense"),
        (["conf"], "--store NAME"),
        (["policy"], "--store NAME"),
    ],
)
def test_what_makes_no_sense_ends_in_2(words: list[str], match: str) -> None:
    make_table(store=make_store("commits"))

    with pytest.raises(UsageError, match=match):
        commits(*words)


# Many


@pytest.mark.slow
def test_many_are_enabled_with_one_outcome_each_and_dropped_by_their_number(desk: Desk) -> None:
    uris = [desk.plain(root).uri for root in ("a/one", "a/two")]
    other = desk.plain("b/three")
    chosen = ("--all", "--search", "/a/", "--bucket", desk.console.lake.bucket)

    enabled = commits("enable", *chosen, "--store", desk.store, "--apply", "--writers-paused")["job"]
    assert [(one["uri"], one["state"]) for one in enabled["outcomes"]] == [(uri, "done") for uri in uris]
    with pytest.raises(UsageError, match="--confirm '2 tables'"):
        commits("drop", *chosen, "--apply", "--confirm", "3 tables")
    dropped = commits("drop", *chosen, "--apply", "--confirm", "2 tables")["job"]

    assert (dropped["state"], [one["state"] for one in dropped["outcomes"]]) == ("succeeded", ["done", "done"])
    assert commits("drop", *chosen, "--apply")["tables"] == []
    assert other.uri not in str(enabled)


@pytest.mark.slow
def test_what_is_printed_is_of_its_type(desk: Desk, coordinated: DeltaTable) -> None:
    one, how = desk.plain("a/one"), ("--store", desk.store, "--apply", "--writers-paused")
    checked = commits("enable", one.uri, "--store", desk.store)
    many = commits("enable", "--all", *how)

    assert checked["checks"]
    assert not missing(checked, CommitsJson)
    assert many["skipped"]
    assert not missing(many, ManyCommitsJson)
    assert not missing(commits("drop", one.uri, "--apply", "--confirm", one.name), CommitsJson)
    assert not missing(commits("conf", coordinated.uri), ConfJson)
    types: dict[str, tuple[Any, Any]] = {
        "check-coordination": (CheckParams, CheckResult),
        "enable-many": (ManyParams, JobResult),
        "drop-coordinated-commits": (ActParams, ActResult),
    }
    jobs = Job.objects.filter(kind__in=types)
    assert {job.kind for job in jobs} == set(types)
    assert [wrong for job in jobs for wrong in missing(job.params, types[job.kind][0], job.kind)] == []
    assert [wrong for job in jobs for wrong in missing(job.result, types[job.kind][1], job.kind)] == []


def test_one_command_works_on_one_connection(db: None) -> None:
    for name in ("north", "south"):
        make_table(connection=Connection.objects.create(name=name, region="eu-west-1"), bucket=name)

    with pytest.raises(UsageError, match="of north, south: add --connection"):
        commits("enable", "--all", "--store", "commits")
    assert len(commits("enable", "--all", "--store", "commits", "--connection", "north")["tables"]) == 1


@pytest.mark.parametrize("verb", ["drop", "conf"])
def test_a_table_that_levee_does_not_know_ends_in_1(db: None, verb: str) -> None:
    with pytest.raises(Failed, match="knows no table"):
        commits(verb, "s3a://lake/nowhere")


def test_conf_prints_the_settings_of_a_tables_writers_and_sends_s3a_to_the_region_of_the_bucket(db: None) -> None:
    table = make_table(store=make_store(), mechanism="log_store")
    make_bucket(connection=table.connection, facts={"region": "ap-south-1"})

    document = commits("conf", table.uri)

    settings = {one["key"]: one["value"] for one in document["settings"]}
    assert settings["spark.io.delta.storage.S3DynamoDBLogStore.ddb.tableName"] == "delta_log"
    assert settings["spark.io.delta.storage.S3DynamoDBLogStore.ddb.region"] == table.connection.region
    assert settings["spark.hadoop.fs.s3a.endpoint.region"] == "ap-south-1"
    assert document["spark_submit"].startswith("spark-submit")
    assert "# pyspark session" in said("commits", "conf", table.uri)


def test_conf_of_a_store_takes_release_and_mechanism(db: None) -> None:
    make_store("commits", kind="commit_coordinator")

    own = commits("conf", "--store", "commits")
    other = commits("conf", "--store", "commits", "--release", "3.3.2", "--mechanism", "single_driver")

    assert (own["mechanism"], own["delta"]) == ("coordinated_commits", "4.4.0")
    assert own["new_tables"][0]["key"].endswith("commitCoordinator-preview")
    assert (other["mechanism"], other["delta"], other["new_tables"]) == ("single_driver", "3.3.2", [])


def test_conf_of_a_table_without_session_settings_ends_in_1(db: None) -> None:
    table = make_table(mechanism="catalog_managed")

    with pytest.raises(Failed, match="add --mechanism"):
        commits("conf", table.uri)
