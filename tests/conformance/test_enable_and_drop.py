"""Enabling and dropping as an operator does, on real Spark: afterwards the page tells what Spark finds."""

from typing import Any

import pytest

from changes.gate import confirmation
from coordinator.coordination import actions
from coordinator.coordination.checks import Operation
from coordinator.coordination.jobs import KINDS, params_of
from coordinator.coordination.reading import CoordinationRequest
from coordinator.models import CommitStore, DeltaTable, TableFinding
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.actions import run_in_foreground
from dashboard.jobs.execution import execute
from dashboard.jobs.models import Job, JobState
from lake.spark.sql import delta_path
from sandbox.client import Client
from sandbox.ground import DELTA_COMMITS
from sandbox.log_store_writer import file_name
from sandbox.spark_tables import SparkLake
from tests.conformance.conftest import BUCKET
from tests.conformance.console import Console, SparkOfLevee
from tests.conformance.coordinated import Coordinated
from tests.conformance.logged import Logged
from tests.conformance.old_deltalake import storage_options

pytestmark = [pytest.mark.spark, pytest.mark.django_db(transaction=True)]

NOBODY = "http://127.0.0.1:9"
ENABLE = ("Enable coordinated commits",)
DROP = ("Drop coordinated commits",)
LEFT = (*ENABLE, "Remove what a drop left behind")


def empty(table: Coordinated) -> None:
    table.create(coordinated=False)


def plain(table: Coordinated) -> None:
    table.create(coordinated=False)
    table.append(2)


def partitioned(table: Coordinated) -> None:
    _made(table, "id BIGINT, day STRING", "id, concat('day ', id % 3)", clause="PARTITIONED BY (day)")


def with_deletion_vectors(table: Coordinated) -> None:
    _made(table, "id BIGINT", "id", {"delta.enableDeletionVectors": "true"})
    table.lake.sql(f"DELETE FROM {delta_path(table.uri)} WHERE id = 3")  # noqa: S608 - quoted
    table.version, table.rows = 2, 19


def column_mapped(table: Coordinated) -> None:
    _made(table, "id BIGINT, `a b` STRING", "id, 'x'", {"delta.columnMapping.mode": "name"})


def with_identity_column(table: Coordinated) -> None:
    table.lake.create(table.uri, "id BIGINT, serial BIGINT GENERATED ALWAYS AS IDENTITY")
    table.lake.insert(table.uri, "id", into="(id)")
    table.into, table.version, table.rows = "(id)", 1, 20


def with_change_data_feed(table: Coordinated) -> None:
    _made(table, "id BIGINT", "id", {"delta.enableChangeDataFeed": "true"})
    table.lake.sql(f"UPDATE {delta_path(table.uri)} SET id = id + 100 WHERE id < 3")  # noqa: S608 - quoted
    table.version = 2


def written_by_delta_rs(table: Coordinated) -> None:
    import pyarrow as pa
    from deltalake import write_deltalake

    options = storage_options(table.client) | {"AWS_S3_ALLOW_UNSAFE_RENAME": "true"}
    for start in (0, 10):
        write_deltalake(
            table.uri, pa.table({"id": list(range(start, start + 10))}), mode="append", storage_options=options
        )
    table.version, table.rows = 1, 20


def _made(
    table: Coordinated, columns: str, select: str, properties: dict[str, str] | None = None, clause: str = ""
) -> None:
    table.lake.create(table.uri, columns, properties, clause)
    table.lake.insert(table.uri, select)
    table.select, table.version, table.rows = select, 1, 20


def succeeded(job: Job) -> Job:
    assert job.state == JobState.SUCCEEDED, (job.error_code, job.message)
    return job


def shows(
    table: Coordinated, console: Console, *, mechanism: str, offers: tuple[str, ...], unpublished: int = 0
) -> None:
    """Assert that the page says what is so."""
    page = console.page(table.uri)
    row = page.table
    shown = (row.mechanism, row.accepted_version, row.published_version, page.offers)
    assert shown == (mechanism, table.version, table.version - unpublished, offers), row.summary
    assert row.summary in page.text
    assert all(offer in page.text for offer in offers)


def works(table: Coordinated) -> None:
    """Assert that an application that starts now writes and reads every row, and that no version is missing."""
    table.forget()
    table.append()
    assert table.count() == table.rows
    assert table.published() == list(range(table.version + 1))


@pytest.mark.parametrize(
    "made",
    [
        empty,
        plain,
        partitioned,
        with_deletion_vectors,
        column_mapped,
        with_identity_column,
        with_change_data_feed,
        written_by_delta_rs,
    ],
)
def test_a_table_of_any_make_is_enabled_and_dropped(
    made, table: Coordinated, console: Console, spark_of_levee: SparkOfLevee
) -> None:
    made(table)
    enabled = succeeded(console.enable(table.uri))
    table.version += 1
    assert enabled.result["after"]["registration"]["table_id"] == table.item()["tableId"]["S"]
    shows(table, console, mechanism="coordinated_commits", offers=DROP)
    works(table)
    dropped = succeeded(console.drop(table.uri))
    table.version += 2
    assert f"(commits {table.version - 1}, {table.version})" in dropped.message
    assert table.item()["acceptingCommits"]["BOOL"] is False
    shows(table, console, mechanism="single_driver", offers=LEFT)
    works(table)


def test_a_table_enabled_again_has_two_registrations_and_the_page_names_the_one_that_counts(
    table: Coordinated, console: Console
) -> None:
    plain(table)
    first = succeeded(console.enable(table.uri)).result["after"]["registration"]["table_id"]
    succeeded(console.drop(table.uri))
    second = succeeded(console.enable(table.uri, probe=True)).result["after"]["registration"]["table_id"]
    table.version += 5
    assert {item["tableId"]["S"]: item["acceptingCommits"]["BOOL"] for item in table.items()} == {
        first: False,
        second: True,
    }
    shows(table, console, mechanism="coordinated_commits", offers=DROP)
    found = TableFinding.objects.get(table__uri=table.uri, code="K11", resolved_at=None)
    assert f"the newest metadata names {second}" in found.summary
    works(table)


def test_a_drop_removes_on_request_what_it_would_leave_behind(table: Coordinated, console: Console) -> None:
    plain(table)
    succeeded(console.enable(table.uri))
    dropped = succeeded(console.drop(table.uri, remove_features=("vacuumProtocolCheck", "inCommitTimestamp")))
    assert "vacuumProtocolCheck was removed. inCommitTimestamp was removed." in dropped.message
    table.version = max(table.published())
    shows(table, console, mechanism="single_driver", offers=ENABLE)
    assert sorted(console.page(table.uri).table.features) == ["appendOnly", "checkpointProtection", "invariants"]
    works(table)


def test_a_new_table_is_coordinated_from_its_first_commit(table: Coordinated, console: Console) -> None:
    made = succeeded(console.act(Operation.CREATE, table.uri, store=DELTA_COMMITS, columns="id BIGINT", probe=True))
    table.version = 1
    assert made.result["after"]["registration"]["table_id"] == table.item()["tableId"]["S"]
    shows(table, console, mechanism="coordinated_commits", offers=DROP)
    works(table)


def test_one_job_enables_many_tables_and_tells_of_each(
    table: Coordinated, console: Console, spark_of_levee: SparkOfLevee
) -> None:
    """The second is coordinated already, which its checks refuse; the first is none the worse for it."""
    other = Coordinated(table.lake, table.bucket, f"{table.key}-other")
    plain(table)
    other.create()
    for uri in (table.uri, other.uri):
        console.observe(uri)
    rows = list(DeltaTable.objects.filter(uri__in=(table.uri, other.uri)).order_by("uri"))
    said = {"stated": True, "confirm": actions.many_name(rows)}
    job = actions.act_on_many(Actor.command(), rows, Operation.ENABLE, store=DELTA_COMMITS, **said)
    execute(job.pk, "here")
    job.refresh_from_db()
    succeeded(job)
    assert [one["state"] for one in job.result["outcomes"]] == ["done", "refused"]
    assert spark_of_levee.asked == ["enable_coordinated_commits"]
    table.version += 1
    shows(table, console, mechanism="coordinated_commits", offers=DROP)
    works(table)
    works(other)


def refused(console: Console, operation: Operation, uri: str, spark_of_levee: SparkOfLevee) -> str:
    """Have it checked and the checks refuse it, and have a worker refuse it as well: Spark is never asked."""
    checked = console.check(operation, uri)
    found = checked.result["preflight"]
    assert not found["may_run"]
    store = DELTA_COMMITS if operation is Operation.ENABLE else ""
    change = CoordinationRequest(operation, uri, store=store)
    params = {
        **params_of(change),
        **confirmation(Actor.command(), checked, found["digest"], ""),
        **{"shown": found["checks"], "checked_at": checked.result["read_at"], "stated": True, "probe": False},
    }
    job = run_in_foreground(Actor.command(), KINDS[operation], "Refused", connection=console.connection, params=params)
    assert (job.state, job.error_code) == (JobState.FAILED, "Refused")
    assert job.message.startswith("Stopped before any change: ")
    assert spark_of_levee.asked == []
    return job.message


def is_not_judged(table: Coordinated, console: Console, words: str) -> None:
    """Assert that the page says that nothing of the coordinator is known, and does not call the table healthy."""
    console.observe(table.uri)
    page = console.page(table.uri)
    assert (page.table.state, page.table.mechanism) == ("not_checked", "coordinated_commits")
    assert words in page.table.summary
    assert page.table.summary in page.text


def test_a_table_of_a_log_store_is_never_converted_through_a_plain_writer(
    stores: Client, key: str, console: Console, spark_of_levee: SparkOfLevee
) -> None:
    logged = Logged(stores, BUCKET, key)
    logged.create()
    logged.append(2)
    said = refused(console, Operation.ENABLE, logged.uri, spark_of_levee)
    assert "S3DynamoDBLogStore speaks to AWS alone" in said
    assert logged.version == 2
    console.observe(logged.uri)
    assert DeltaTable.objects.get(uri=logged.uri).mechanism == "log_store"
    logged.append()


def test_a_table_whose_coordinator_is_at_another_endpoint_is_refused(
    table: Coordinated, console: Console, spark_of_levee: SparkOfLevee, dynamodb_local: str
) -> None:
    elsewhere = SparkLake(table.lake.spark, Client(table.client.origin, dynamodb_origin=dynamodb_local))
    elsewhere.create(table.uri, "id BIGINT", elsewhere.coordinator())
    said = refused(console, Operation.DROP, table.uri, spark_of_levee)
    assert f"The endpoint is {dynamodb_local}, and this connection reaches DynamoDB at" in said
    table.version = 0
    is_not_judged(table, console, f"registrations could not be read: The endpoint is {dynamodb_local}")
    works(table)


def test_a_table_whose_coordinator_is_in_another_region_is_refused(
    table: Coordinated, console: Console, spark_of_levee: SparkOfLevee
) -> None:
    table.create()
    here, there = table.client.dynamodb_origin, "https://dynamodb.eu-west-1.amazonaws.com"
    written = {name: table.read(name) for name in (file_name(0), file_name(0).replace(".json", ".crc"))}
    for name, data in written.items():
        table.write(name, data.replace(here.encode(), there.encode()))
    said = refused(console, Operation.DROP, table.uri, spark_of_levee)
    assert f"The endpoint is {there}, and this connection reaches DynamoDB at" in said
    is_not_judged(table, console, f"registrations could not be read: The endpoint is {there}")
    for name, data in written.items():
        table.write(name, data)
    works(table)


def test_enabling_is_refused_where_nobody_serves_dynamodb(
    table: Coordinated, console: Console, spark_of_levee: SparkOfLevee, settings: Any
) -> None:
    plain(table)
    settings.ALLOWED_ENDPOINTS = [*settings.ALLOWED_ENDPOINTS, NOBODY]
    CommitStore.objects.all().delete()
    Connection.objects.update(dynamodb_endpoint_url=NOBODY)
    console.connection.refresh_from_db()
    said = refused(console, Operation.ENABLE, table.uri, spark_of_levee)
    assert f"DynamoDB does not describe {DELTA_COMMITS}" in said
    console.observe(table.uri)
    shows(table, console, mechanism="single_driver", offers=ENABLE)
    works(table)
