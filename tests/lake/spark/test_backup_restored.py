"""What Delta itself reads of a copy of the live files alone: the newest version, and those of the window."""

from datetime import UTC, datetime, timedelta

import pytest

from lake.spark.sql import delta_path
from sandbox.spark_tables import SparkLake
from tests.lake.spark.test_backup_logs import Memory, actions
from tests.lazily import lazily
from tests.sparksession import shared_spark_lake

live = lazily("lake.spark.backups.live")
_is_needed = lazily("lake.spark.backups.selection", "_is_needed")
_last = lazily("lake.spark.backups.selection", "_last")


pytestmark = pytest.mark.spark

BUCKET, TABLE = "backup-restored", "t"
URI = f"s3a://{BUCKET}/{TABLE}"
CHANGES = (
    "DELETE FROM {} WHERE id % 5 = 1",
    "UPDATE {} SET id = id + 100 WHERE id = 7",
    "DELETE FROM {} WHERE p = '100%'",
)
PROPERTIES = {
    "delta.enableDeletionVectors": "true",
    "delta.checkpointPolicy": "v2",
    "delta.checkpointInterval": "4",
    "delta.enableChangeDataFeed": "true",
}


@pytest.fixture(scope="module")
def objects() -> dict[str, bytes]:
    """A table of seven versions with deletion vectors, hostile partitions and a checkpoint with sidecars, by keys."""
    spark_lake = shared_spark_lake()
    spark_lake.client.create_bucket(BUCKET)
    spark_lake.create(URI, "id BIGINT, p STRING", PROPERTIES, "PARTITIONED BY (p)")
    spark_lake.insert(URI, "id, element_at(array('a b', '100%', 'x+y', 'k=v/ü'), CAST(id % 4 AS INT) + 1)")
    for change in CHANGES:
        spark_lake.sql(change.format(delta_path(URI)))
    spark_lake.insert(URI, "id, 'a b'", times=2)
    found = {key: spark_lake.client.get(BUCKET, key) for key, _ in spark_lake.client.list(BUCKET, "")}
    assert any("_sidecars/" in key for key in found)
    assert any("deletion_vector_" in key for key in found)
    return found


def needed(spark_lake: SparkLake, monkeypatch, objects, since: datetime) -> set[str]:
    rows = actions(monkeypatch, Memory(objects), since=since)
    assert [row["problem"] for row in rows if row["problem"]] == []
    assert [row["counted"] for row in rows if row["counted"]] != []
    frame = spark_lake.spark.createDataFrame([tuple(row.values()) for row in rows], live.ACTIONS)
    return {key for row in _last(frame).where(_is_needed(since)).collect() for key in row["last"]["keys"]} & set(
        objects
    )


def rows(spark_lake: SparkLake, uri: str, version: int) -> list[tuple[int, str]]:
    read = spark_lake.spark.read.format("delta").option("versionAsOf", version).load(uri)
    return sorted((row["id"], row["p"]) for row in read.collect())


@pytest.mark.parametrize(("name", "window", "versions"), [("newest", 0, [6]), ("window", 24, [1, 3, 6])])
def test_a_copy_of_what_is_needed_reads_as_the_table_does(
    spark_lake: SparkLake, monkeypatch, objects, name: str, window: int, versions: list[int]
) -> None:
    since = datetime.now(UTC) + timedelta(minutes=1) - timedelta(hours=window)
    kept = needed(spark_lake, monkeypatch, objects, since)
    data = {key for key in objects if "_delta_log/" not in key and "_change_data/" not in key and not key.endswith("/")}
    assert kept <= data
    assert (kept == data) is (name == "window")
    for key in (*kept, *(key for key in objects if "_delta_log/" in key)):
        spark_lake.client.put(BUCKET, f"{name}/{key}", objects[key])
    for version in versions:
        assert rows(spark_lake, f"s3a://{BUCKET}/{name}/{TABLE}", version) == rows(spark_lake, URI, version)
