"""Jobs through a real worker on S3A and the sandbox; another session makes the tables and looks afterwards.

What enabling does is tried as an operator does it, in tests/conformance.
"""

import itertools
from datetime import datetime

import pytest

from lake.spark.client import SparkWorker
from lake.spark.errors import SparkRefused
from lake.spark.jobs import append_probe, create_table, drop_coordinated_commits, enable_coordinated_commits
from lake.spark.messages import SparkJob, SparkOutcome, SparkProgress
from lake.spark.sql import delta_path
from sandbox.coordinated import registration
from sandbox.ground import DELTA_COMMITS, PROD
from sandbox.spark_tables import SparkLake
from tests.jvms import JVMS
from tests.sparkworker import worker_home, worker_settings

pytestmark = pytest.mark.spark

numbers = itertools.count()
NOBODY = "http://127.0.0.1:9"


def plain(lake: SparkLake, uri: str) -> None:
    lake.create(uri, "id BIGINT")
    lake.insert(uri, "id", times=2)


@pytest.fixture
def uri() -> str:
    return f"s3a://{PROD}/tests/jobs/t{next(numbers)}"


@pytest.fixture
def run(warm_worker: SparkWorker):
    def done(job: SparkJob, heard: list[SparkProgress] | None = None) -> SparkOutcome:
        outcome = warm_worker.run(job, (heard if heard is not None else []).append)
        assert outcome.state == "done", outcome
        return outcome

    return done


def enable(lake: SparkLake, uri: str) -> SparkJob:
    return enable_coordinated_commits.job(uri, DELTA_COMMITS, lake.client.dynamodb_origin)


def versions(lake: SparkLake, uri: str) -> list[int]:
    return sorted(int(row[0]) for row in lake.sql(f"DESCRIBE HISTORY {delta_path(uri)}"))


def test_dropping_tells_its_two_commits_and_what_stays_behind(spark_lake, run, uri) -> None:
    plain(spark_lake, uri)
    run(enable(spark_lake, uri))
    heard: list[SparkProgress] = []
    outcome = run(drop_coordinated_commits.job(uri), heard)
    commits = [(commit["version"], commit["operation"]) for commit in outcome.result["commits"]]
    assert commits == [(4, "UNSET TBLPROPERTIES"), (5, "DROP FEATURE")]
    assert [progress.note[:10] for progress in heard if progress.note] == ["Version 4 ", "Version 5 "]
    first, second = drop_coordinated_commits.FIRST, drop_coordinated_commits.SECOND
    assert [progress.step for progress in heard if progress.note] == [first, second]
    first_at, second_at = (datetime.fromisoformat(commit["at"]) for commit in outcome.result["commits"])
    took = {step.name: step.seconds for step in outcome.steps}
    assert took[second] >= (second_at - first_at).total_seconds() - 0.01
    assert outcome.result["left_behind"] == ["vacuumProtocolCheck", "inCommitTimestamp"]
    assert registration(spark_lake.client, uri)["acceptingCommits"]["BOOL"] is False
    spark_lake.insert(uri, "id")
    assert versions(spark_lake, uri) == list(range(7))


def test_enabling_at_a_dynamodb_that_nobody_serves_fails_and_leaves_the_table_plain(
    spark_lake, warm_worker, uri
) -> None:
    plain(spark_lake, uri)
    outcome = warm_worker.run(enable_coordinated_commits.job(uri, DELTA_COMMITS, NOBODY), timeout_seconds=120)
    assert outcome.state == "failed"
    assert outcome.error is not None
    assert "Connection refused" in outcome.error.sentence
    assert versions(spark_lake, uri) == [0, 1, 2]
    spark_lake.insert(uri, "id")


def test_an_s3_that_nobody_serves_fails_in_bounded_time() -> None:
    settings = worker_settings()
    endpoint = type(settings.endpoint)("us-west-2", NOBODY, environment_credentials=True)
    with JVMS.room(), SparkWorker(worker_settings(endpoint=endpoint), worker_home()) as worker:
        outcome = worker.run(append_probe.job(f"s3a://{PROD}/t"), timeout_seconds=90)
    assert outcome.state == "failed"
    assert outcome.error is not None
    assert "Connection refused" in outcome.error.sentence


@pytest.mark.parametrize("path", ["a/../b", "a/./b", "a//b", "..", "a\nb", "a\x00b"])
def test_a_path_that_spark_would_take_for_another_is_refused_before_it_is_asked(path) -> None:
    with pytest.raises(SparkRefused, match="is no table location"):
        enable_coordinated_commits.job(
            f"s3a://{PROD}/{path}", DELTA_COMMITS, "https://dynamodb.us-west-2.amazonaws.com"
        )


def test_a_table_is_created_under_a_coordinator_with_the_columns_asked_for(spark_lake, run, uri) -> None:
    columns = [
        create_table.column("id", "BIGINT", nullable=False, comment="it's"),
        create_table.column("day`s", "DATE"),
        create_table.column("code", "VARCHAR(5)"),
        create_table.column("nested", "STRUCT<a: INT, b: ARRAY<MAP<STRING, DECIMAL(10,2)>>>"),
    ]
    job = create_table.job(
        uri, ", ".join(columns), partition_by=["day`s"], store=DELTA_COMMITS, endpoint=spark_lake.client.dynamodb_origin
    )
    outcome = run(job)
    assert outcome.result["table_id"] == registration(spark_lake.client, uri)["tableId"]["S"]
    schema = spark_lake.spark.table(delta_path(uri)).schema
    assert [field.name for field in schema.fields] == ["id", "day`s", "code", "nested"]
    assert schema["nested"].dataType.simpleString() == "struct<a:int,b:array<map<string,decimal(10,2)>>>"
    assert (schema["id"].nullable, schema["id"].metadata["comment"]) == (False, "it's")
    [detail] = spark_lake.sql(f"DESCRIBE DETAIL {delta_path(uri)}")
    assert detail["partitionColumns"] == ["day`s"]


def test_a_comment_is_a_text_whatever_it_says(spark_lake, run, uri) -> None:
    comments = {"a": "C:\\temp\\", "b": ") USING delta TBLPROPERTIES (delta.appendOnly = true) -- "}
    columns = ", ".join(create_table.column(name, "STRING", comment=comment) for name, comment in comments.items())
    outcome = run(create_table.job(uri, columns, store=DELTA_COMMITS, endpoint=spark_lake.client.dynamodb_origin))
    assert outcome.result["table_id"] == registration(spark_lake.client, uri)["tableId"]["S"]
    assert "delta.appendOnly" not in outcome.result["properties"]
    schema = spark_lake.spark.table(delta_path(uri)).schema
    assert {field.name: field.metadata["comment"] for field in schema.fields} == comments


@pytest.mark.parametrize("columns", ["id INT) USING parquet LOCATION 's3a://x' --", "id INT; DROP TABLE t"])
def test_columns_that_are_no_columns_create_nothing(spark_lake, warm_worker, uri, columns) -> None:
    assert warm_worker.run(create_table.job(uri, columns)).state == "failed"
    assert list(spark_lake.client.list(PROD, uri.partition(f"{PROD}/")[2])) == []
