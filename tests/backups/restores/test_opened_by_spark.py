"""Tables of real Spark's, backed up, destroyed and opened in place: with the rows of the source, by readers only."""

from functools import partial
from typing import Any

import pytest

from coordinator.models import CommitStore
from dashboard.connections.models import Connection
from lake.aws.s3 import S3
from lake.delta.opened_log import READ_ONLY
from lake.spark.backups.tuning import set_while
from lake.spark.jobs import read_table
from lake.spark.jobs.report import Report
from lake.spark.sql import delta_path
from sandbox.coordinated import take_back_backfill
from sandbox.ground import DELTA_COMMITS
from sandbox.spark_tables import SparkLake
from tests.backups.points.conftest import Backup
from tests.backups.points.ended_runs import copied_run, proven
from tests.backups.restores.restoring import copy_all, everything, open_by, restore, rows
from tests.choosing import slowly
from tests.sparksession import spark_lake

__all__ = ["spark_lake"]
pytestmark = [pytest.mark.django_db, pytest.mark.spark]

CHECKPOINTS = {"delta.checkpointInterval": "3"}
COLUMNS = "id BIGINT, place STRING, tags ARRAY<STRING>, at TIMESTAMP"
LAST = "TIMESTAMP '9999-12-31 00:00:00'"
ROW = "id, element_at(array('a b', 'c=d', '50%', NULL), CAST(id % 4 AS INT) + 1), array('x'), " + LAST
PARSED = {"delta.checkpoint.writeStatsAsStruct": "true", "delta.checkpoint.writeStatsAsJson": "false"}
PARTITIONED = "PARTITIONED BY (place)"
KINDS: dict[str, tuple[str, dict[str, str], str]] = {
    "without a checkpoint": ("t", {}, ""),
    "vectors": ("t", CHECKPOINTS | {"delta.enableDeletionVectors": "true"}, ""),
    "partitions, sidecars": ("t", CHECKPOINTS | {"delta.checkpointPolicy": "v2"}, PARTITIONED),
    "names": ("sales 50%/ünï+x", CHECKPOINTS | {"delta.enableDeletionVectors": "true"}, PARTITIONED),
    "columns mapped": ("t", CHECKPOINTS | {"delta.columnMapping.mode": "name"}, ""),
    "in-commit timestamps": ("t", CHECKPOINTS | {"delta.enableInCommitTimestamps": "true"}, ""),
    "coordinated": ("t", CHECKPOINTS | {"delta.enableDeletionVectors": "true"}, ""),
    "statistics parsed": ("t", CHECKPOINTS | PARSED, ""),
}
WRITES = (
    "INSERT INTO {t} SELECT * FROM {t}",
    "DELETE FROM {t} WHERE id = 5",
    "OPTIMIZE {t}",
    "VACUUM {t}",
    "ALTER TABLE {t} SET TBLPROPERTIES ('a' = 'b')",
)


def make(lake: SparkLake, uri: str, properties: dict[str, str], clause: str) -> None:
    with set_while(lake.spark, {"spark.databricks.delta.checkpoint.partSize": "3"}):
        lake.create(uri, COLUMNS, properties, clause)
        lake.insert(uri, ROW, times=3)
        lake.sql(f"DELETE FROM {delta_path(uri)} WHERE id = 3")  # noqa: S608 - quoted, ours
        lake.insert(uri, ROW)


@pytest.mark.parametrize("kind", [*map(slowly, KINDS)])
def test_a_destroyed_table_opens_in_place_with_its_rows_and_takes_no_write(
    backup: Backup, spark_lake: SparkLake, monkeypatch: pytest.MonkeyPatch, capsys: Any, kind: str
) -> None:
    root, properties, clause = KINDS[kind]
    is_coordinated, uri = kind == "coordinated", f"s3a://{backup.source}/{root}"
    prod = Connection.objects.get(name="prod")
    CommitStore.objects.create(connection=prod, name=DELTA_COMMITS, kind=CommitStore.Kind.COMMIT_COORDINATOR)
    make(spark_lake, uri, properties | (spark_lake.coordinator() if is_coordinated else {}), clause)
    expected = rows(spark_lake, uri)
    counts = counts_of(spark_lake, uri)
    if is_coordinated:
        take_back_backfill(backup.lake, backup.source, root, [5])  # accepted, and never published
    copy_all(backup)
    [point] = proven(copied_run(backup, [root])).points.all()
    for key, _ in list(backup.lake.list(backup.source, "")):
        backup.lake.delete(backup.source, key)
    before, items = everything(backup.lake, backup.source, backup.vault), registrations(backup)
    open_by(monkeypatch, spark_lake)

    told = restore(capsys, uri, "--instant", "--apply")

    assert (told["refused"], told["job"]["state"], told["version"]) == ("", "succeeded", 5)
    assert rows(spark_lake, told["to"]) == expected
    by_statistics = f"SELECT count(*) FROM {delta_path(told['to'])} WHERE at = {LAST}"  # noqa: S608 - quoted, ours
    assert spark_lake.sql(by_statistics)[0][0] == len(expected)
    seen = told["job"]["verified"]
    proven_state = {"version": 5, "files": point.files, "bytes": point.bytes, "rows": len(expected)}
    assert seen["expected"] == {**proven_state, **counts}
    read = read_as(point, len(expected))
    assert seen["spark"] == {**read, **counts, "reason": "", "files_equal": True, "wrote": None}
    if kind == "names":  # deltalake 1.6 escapes the path of a deletion vector twice
        assert "File not found" in seen["deltalake"]["reason"]
    else:
        assert seen["deltalake"] == {**read, "reason": ""}
    after = everything(backup.lake, backup.source, backup.vault)
    written = {key: data for key, data in after.items() if before.get(key) != data}
    assert written
    assert all(key.startswith(f"{told['to'].removeprefix('s3a://')}/_delta_log/") for key in written)
    assert before.keys() <= after.keys()
    assert registrations(backup) == items
    for statement in WRITES:
        with pytest.raises(Exception, match=f"DELTA_UNSUPPORTED_FEATURES_FOR_WRITE.*{READ_ONLY}"):
            spark_lake.sql(statement.format(t=delta_path(told["to"])))
    assert rows(spark_lake, told["to"]) == expected


def counts_of(lake: SparkLake, uri: str) -> dict[str, int]:
    """What Delta has of the original; `place` is its one partition column."""
    from pyspark.sql import DataFrame

    log = lake.spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(lake.spark._jsparkSession, uri)
    files = DataFrame(log.unsafeVolatileSnapshot().allFiles().toDF(), lake.spark)
    places = {row[1] for row in rows(lake, uri)} if files.filter("cardinality(partitionValues) > 0").count() else {}
    return {"partitions": len(places), "vectors": files.filter("deletionVector IS NOT NULL").count()}


def read_as(point: Any, count: int) -> dict[str, Any]:
    return {"version": 5, "files": point.files, "rows": count, "schema_equal": True}


def registrations(backup: Backup) -> Any:
    items = backup.lake.dynamodb("Scan", TableName=DELTA_COMMITS, ConsistentRead=True)["Items"]
    return [one for one in items if one["path"]["S"].startswith(f"s3a://{backup.source}/")]


@pytest.mark.slow
def test_a_deletion_vector_that_is_not_what_it_was_is_noticed(
    backup: Backup, spark_lake: SparkLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counting the rows of a table, and reading one of them, goes without it."""
    uri, (root, properties, clause) = f"s3a://{backup.source}/t", KINDS["vectors"]
    make(spark_lake, uri, properties, clause)
    read = partial(read_table.run, spark_lake.spark, {"table": uri}, Report(lambda **_: None))
    assert read()["counted"] == (len(rows(spark_lake, uri)),) * 2
    with monkeypatch.context() as patch:
        patch.setattr(read_table, "MOST_COUNTED", 1)
        some, said = read()["counted"]
    assert 0 < some == said < len(rows(spark_lake, uri))
    for key in [key for key, _ in backup.lake.list(backup.source, f"{root}/") if key.endswith(".bin")]:
        backup.lake.put(backup.source, key, backup.lake.get(backup.source, key)[:-8] + bytes(8))
    with pytest.raises(Exception, match="checksum"):
        read()
    spark_lake.sql(f"DELETE FROM {delta_path(uri)}")  # noqa: S608 - quoted, ours
    assert (read()["counted"], read()["fingerprint"]["digest"]) == ((0, 0), "0" * 64), "of a table without files"


@pytest.mark.parametrize("kind", [*map(slowly, ("without a checkpoint", "partitions, sidecars"))])
def test_no_part_of_a_log_opens_before_its_last_object(
    backup: Backup, spark_lake: SparkLake, monkeypatch: pytest.MonkeyPatch, capsys: Any, kind: str
) -> None:
    root, properties, clause = KINDS[kind]
    uri, put, written = f"s3a://{backup.source}/{root}", S3.put, dict[str, bytes]()
    make(spark_lake, uri, properties, clause)
    copy_all(backup)
    proven(copied_run(backup, [root]))
    open_by(monkeypatch, spark_lake)

    def noting(self: S3, bucket: str, key: str, data: bytes, **more: Any) -> Any:
        written[key.partition("/_delta_log/")[2]] = data
        return put(self, bucket, key, data, **more)

    monkeypatch.setattr(S3, "put", noting)
    assert restore(capsys, uri, "--instant", "--apply")["refused"] == ""
    for number in range(1, len(written) + 1):
        table = f"part/{kind[:7]}/{number}"
        for name in list(written)[:number]:
            backup.lake.put(backup.vault, f"{table}/_delta_log/{name}", written[name])
        opens = f"SELECT count(*) FROM {delta_path(f's3a://{backup.vault}/{table}')}"  # noqa: S608 - quoted, ours
        if number == len(written):
            assert spark_lake.sql(opens)[0][0] == len(rows(spark_lake, uri))
        else:
            with pytest.raises(Exception, match=r"DELTA_|doesn't exist|not a Delta table"):
                spark_lake.sql(opens)
