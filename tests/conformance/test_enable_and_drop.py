"""Enabling and dropping as an operator does, on real Spark: afterwards the page tells what Spark finds."""

import pytest

from dashboard.jobs.models import Job, JobState
from lake.spark.sql import delta_path
from tests.conformance.console import Console, SparkOfLevee
from tests.conformance.coordinated import Coordinated
from tests.conformance.old_deltalake import storage_options

pytestmark = [pytest.mark.spark, pytest.mark.django_db(transaction=True)]

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


def test_a_drop_removes_on_request_what_it_would_leave_behind(table: Coordinated, console: Console) -> None:
    plain(table)
    succeeded(console.enable(table.uri))
    dropped = succeeded(console.drop(table.uri, remove_features=("vacuumProtocolCheck", "inCommitTimestamp")))
    assert "vacuumProtocolCheck was removed. inCommitTimestamp was removed." in dropped.message
    table.version = max(table.published())
    shows(table, console, mechanism="single_driver", offers=ENABLE)
    assert sorted(console.page(table.uri).table.features) == ["appendOnly", "checkpointProtection", "invariants"]
    works(table)
