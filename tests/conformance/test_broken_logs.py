"""What Spark and deltalake make of logs whose files are broken: the ground of `coordinator/protocols/published_log.py`.

Each table has a row of its own in each version, so that the rows which a reader finds name the versions that it has.
"""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from sandbox.spark_tables import SparkLake

pytestmark = pytest.mark.spark

VERSIONS = range(13)
STOPS = "stops"
Outcome = str | list[int]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("broken-logs") / "whole"


@pytest.fixture
def table(whole: Path, spark_lake: SparkLake, tmp_path: Path) -> Path:
    """A copy of a table that Spark wrote, with a checkpoint at 10, its hint, and a `.crc` beside each commit."""
    if not whole.exists():
        for version in VERSIONS:
            spark_lake.spark.createDataFrame([(version,)], "id int").coalesce(1).write.format("delta").mode(
                "append"
            ).option("delta.checkpointInterval", "10").save(str(whole))
    # Hadoop's checksums of local files, which S3 does not have, would stop Spark before it looks at what it reads.
    return Path(shutil.copytree(whole, tmp_path / "table", ignore=shutil.ignore_patterns(".*.crc")))


def log(table: Path, name: str) -> Path:
    return table / "_delta_log" / name


def commit(table: Path, version: int) -> Path:
    return log(table, f"{version:020d}.json")


def checkpoint(table: Path) -> Path:
    return log(table, f"{10:020d}.checkpoint.parquet")


def cut(table: Path) -> None:
    checkpoint(table).write_bytes(checkpoint(table).read_bytes()[:-100])


def part_of_three(table: Path) -> None:
    whole = checkpoint(table).read_bytes()
    checkpoint(table).unlink()
    for part in (1, 3):
        log(table, f"{10:020d}.checkpoint.{part:010d}.{3:010d}.parquet").write_bytes(whole)


def without(*names: str, commits: Iterable[int] = ()) -> Callable[[Path], None]:
    def remove(table: Path) -> None:
        for name in names:
            log(table, name).unlink()
        for version in commits:
            commit(table, version).unlink()

    return remove


def emptied(table: Path) -> None:
    checkpoint(table).write_bytes(b"")


def hint_of(version: int) -> Callable[[Path], None]:
    return lambda table: (
        log(table, "_last_checkpoint").write_text(json.dumps({"version": version, "size": 15})) and None
    )


def body(version: int, data: bytes) -> Callable[[Path], None]:
    return lambda table: commit(table, version).write_bytes(data) and None


HINT, CHECKPOINT = "_last_checkpoint", f"{10:020d}.checkpoint.parquet"
ALL = list(VERSIONS)
BUT_3 = [version for version in VERSIONS if version != 3]


@pytest.mark.parametrize(
    ("how", "spark", "deltalake"),
    [
        ([], ALL, ALL),
        ([lambda table: checkpoint(table).write_bytes(b"garbage" * 50)], STOPS, STOPS),
        ([cut], STOPS, STOPS),
        ([lambda table: checkpoint(table).write_bytes(b"garbage" * 50), without(HINT)], STOPS, STOPS),
        ([without(CHECKPOINT, HINT)], ALL, ALL),
        ([without(CHECKPOINT)], ALL, STOPS),
        ([part_of_three], ALL, STOPS),
        ([part_of_three, without(HINT)], ALL, ALL),
        ([hint_of(12)], ALL, STOPS),
        ([hint_of(5)], ALL, ALL),
        ([emptied], ALL, STOPS),
        ([emptied, without(HINT)], ALL, ALL),
        ([emptied, without(HINT, commits=range(10))], STOPS, [10, 11, 12]),
        ([body(3, b""), without(CHECKPOINT, HINT)], BUT_3, BUT_3),
        ([body(3, b"\n"), without(CHECKPOINT, HINT)], BUT_3, BUT_3),
        ([body(3, b"")], ALL, ALL),
        ([body(3, b'{"add":{"path"'), without(CHECKPOINT, HINT)], STOPS, STOPS),
        ([body(3, b'{"add":{"path"')], ALL, ALL),
    ],
    ids=lambda value: None,
)
def test_both_readers_do_what_the_verdict_says(
    table: Path, spark_lake: SparkLake, how: list[Callable[[Path], None]], spark: Outcome, deltalake: Outcome
) -> None:
    for change in how:
        change(table)

    assert (read_by_spark(spark_lake, table), read_by_deltalake(table)) == (spark, deltalake)


def read_by_spark(lake: SparkLake, table: Path) -> Outcome:
    try:
        return sorted(row.id for row in lake.spark.read.format("delta").load(str(table)).collect())
    except Exception:  # noqa: BLE001 - whichever way it stops
        return STOPS


def read_by_deltalake(table: Path) -> Outcome:
    from deltalake import DeltaTable

    try:
        return sorted(DeltaTable(str(table)).to_pyarrow_table()["id"].to_pylist())
    except Exception:  # noqa: BLE001 - whichever way it stops
        return STOPS


def test_a_checkpoint_whose_sidecar_is_gone_stops_spark(spark_lake: SparkLake, tmp_path: Path) -> None:
    table = tmp_path / "table"
    properties = "'delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '2'"
    spark_lake.spark.sql(f"CREATE TABLE delta.`{table}` (id int) USING delta TBLPROPERTIES ({properties})")
    for version in (1, 2):
        spark_lake.spark.range(version, version + 1).selectExpr("int(id) id").write.format("delta").mode("append").save(
            str(table)
        )
    assert read_by_spark(spark_lake, table) == [1, 2]
    sidecars = list(log(table, "_sidecars").glob("*.parquet"))
    assert sidecars

    copy = Path(shutil.copytree(table, tmp_path / "copy", ignore=shutil.ignore_patterns("*.crc", sidecars[0].name)))

    assert read_by_spark(spark_lake, copy) == STOPS
