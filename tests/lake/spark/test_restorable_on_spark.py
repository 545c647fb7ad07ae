"""What is claimed of a table that only Spark writes, with deletion vectors and sidecars, and what Spark reads of it."""

import pytest

from lake.delta.names import commit_name
from lake.spark.sql import delta_path
from sandbox.spark_tables import SparkLake
from tests.builders.copies import LOG, proof_of, without
from tests.lake.delta.test_point_log import shortest
from tests.sparksession import shared_spark_lake

pytestmark = pytest.mark.spark

BUCKET = "restorable-versions"
URI = f"s3a://{BUCKET}/t"
PROPERTIES = {
    "delta.enableDeletionVectors": "true",
    "delta.checkpointPolicy": "v2",
    "delta.checkpointInterval": "4",
    "delta.columnMapping.mode": "name",
}
CHANGES = (
    "DELETE FROM {} WHERE id % 5 = 1",
    "UPDATE {} SET id = id + 100 WHERE id = 7",
    "DELETE FROM {} WHERE p = '100%'",
    "OPTIMIZE {}",
)
NEWEST = 6


@pytest.fixture(scope="module")
def objects() -> dict[str, bytes]:
    """A table with hostile partitions, deletion vectors and a checkpoint with sidecars, by keys."""
    lake = shared_spark_lake()
    lake.client.create_bucket(BUCKET)
    lake.create(URI, "id BIGINT, p STRING", PROPERTIES, "PARTITIONED BY (p)")
    lake.insert(URI, "id, element_at(array('a b', '100%', 'x+y', 'k=v/ü'), CAST(id % 4 AS INT) + 1)")
    for change in CHANGES:
        lake.sql(change.format(delta_path(URI)))
    lake.insert(URI, "id, 'a b'", times=1)
    return {key: lake.client.get(BUCKET, key) for key, _ in lake.client.list(BUCKET, "t/")}


def rows(lake: SparkLake, uri: str, version: int) -> list[tuple[int, str]]:
    read = lake.spark.read.format("delta").option("versionAsOf", version).load(uri)
    return sorted((row["id"], row["p"]) for row in read.collect())


def put(lake: SparkLake, name: str, objects: dict[str, bytes]) -> str:
    for key, data in objects.items():
        lake.client.put(BUCKET, f"{name}/{key}", data)
    return f"s3a://{BUCKET}/{name}/t"


def test_every_version_is_claimed_and_agrees_with_its_checksum(objects) -> None:
    assert any("_sidecars/" in key for key in objects)
    proof = proof_of(objects)
    assert (proof.ranges, proof.problems) == (((0, NEWEST),), ())
    from_checkpoint = proof_of(without(objects, LOG + commit_name(0)))
    assert (from_checkpoint.ranges, from_checkpoint.newest.files) == (((4, NEWEST),), proof.newest.files)


def test_spark_reads_what_is_claimed_of_a_copy_without_a_deletion_vector_and_fails_at_the_rest(
    spark_lake: SparkLake, objects
) -> None:
    [vector, *_] = sorted(key for key in objects if "deletion_vector_" in key)
    copy = without(objects, vector)
    claimed = {version for first, last in proof_of(copy).ranges for version in range(first, last + 1)}
    uri = put(spark_lake, "no-vector", copy)

    assert 0 < len(claimed) <= NEWEST
    for version in range(NEWEST + 1):
        if version in claimed:
            assert rows(spark_lake, uri, version) == rows(spark_lake, URI, version)
        else:
            with pytest.raises(Exception, match=r"deletion_vector|FileNotFound|does not exist|404"):
                rows(spark_lake, uri, version)


def test_spark_reads_a_restore_point_from_its_own_log_and_files_alone(spark_lake: SparkLake, objects) -> None:
    point = shortest(objects)
    assert point is not None
    log = {LOG + name: objects[LOG + found.name] for name, found in point.objects.items()}
    uri = put(spark_lake, "point", log | {key: objects[key] for key in point.files})

    assert (point.base, point.state.version, any("_sidecars/" in key for key in log)) == (4, NEWEST, True)
    assert LOG + commit_name(3) not in log
    assert rows(spark_lake, uri, NEWEST) == rows(spark_lake, URI, NEWEST)


def test_spark_refuses_a_checkpoint_without_the_commit_of_its_version(spark_lake: SparkLake, objects) -> None:
    above = [LOG + commit_name(version) for version in range(4, NEWEST + 1)]
    copy = without(objects, *above)
    assert proof_of(copy).ranges == ((0, 3),)
    uri = put(spark_lake, "no-commit", without(copy, *(LOG + commit_name(version) for version in range(4))))
    with pytest.raises(Exception, match="Could not find any delta files for version 4"):
        rows(spark_lake, uri, 4)
