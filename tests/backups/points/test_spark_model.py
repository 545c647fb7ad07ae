"""Random tables of real Spark's, copied late and with losses: what runs claim opens with the rows of the source.

As in `test_restorable_model`, with what deltalake does not write: deletion vectors, merges, checkpoints of each kind,
column mapping, and commits that only the commit coordinator knows. Spark opens the copies, but for those of coordinated
tables, which it would take to their coordinator: these have no deletion vectors, and deltalake opens them.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator.models import CommitStore
from dashboard.connections.models import Connection
from lake.delta.replay import usable_checkpoints
from lake.spark.backups.tuning import set_while
from lake.spark.sql import delta_path
from sandbox.coordinated import take_back_backfill
from sandbox.ground import DELTA_COMMITS
from sandbox.spark_tables import SparkLake
from tests.backups.points.conftest import Backup
from tests.backups.points.ended_runs import copied_run, proven, restored
from tests.backups.points.spread import spread_all
from tests.builders.copies import LOG, log_listing, without
from tests.choosing import slowly
from tests.lake.delta import test_restorable_model as model
from tests.lazily import lazily
from tests.sparksession import spark_lake

deltalake = lazily("deltalake")
parquet = lazily("pyarrow.parquet")

__all__ = ["spark_lake"]
pytestmark = [pytest.mark.django_db, pytest.mark.spark]

ROUNDS, STEPS = 2, 5
CHANGES = (
    "INSERT INTO {t} SELECT id FROM range({n}, {n} + 6)",
    "INSERT INTO {t} SELECT id FROM range({n}, {n} + 3)",
    "INSERT OVERWRITE {t} SELECT id FROM range({n}, {n} + 9)",
    "DELETE FROM {t} WHERE id % 5 = {k}",
    "UPDATE {t} SET id = id + 100000 WHERE id % 4 = {k}",
    "MERGE INTO {t} USING (SELECT id FROM range({n} - 8, {n} + 4)) s ON {t}.id = s.id "
    "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
    "OPTIMIZE {t}",
    "VACUUM {t} RETAIN 0 HOURS",
)


class SparkSource:
    """A table of Spark's in a bucket of the sandbox, with the rows of each version of its present life."""

    def __init__(self, lake: SparkLake, bucket: str, chance: random.Random) -> None:
        self.lake, self.bucket, self.chance = lake, bucket, chance
        self.uri, self.next_id = f"s3a://{bucket}/t", 0
        self.is_coordinated = chance.random() < 0.4
        self.rows: dict[int, list[int]] = {}
        self._create()

    def step(self) -> None:
        others = (self._restore, self._clean_up_log, self._create)[: 1 if self.is_coordinated else 3]
        if self.chance.random() < 0.2:
            self.chance.choice(others)()
        else:
            self._change(self.chance.choice(CHANGES))

    def objects(self) -> dict[str, bytes]:
        return {key: self.lake.client.get(self.bucket, key) for key, _ in self.lake.client.list(self.bucket, "t/")}

    def wait_in_the_coordinator(self) -> None:
        """Leave the newest commits accepted and not published, as writers do that die."""
        newest = max(self.rows)
        first = max(newest - self.chance.randint(0, 2), 1)
        take_back_backfill(self.lake.client, self.bucket, "t", list(range(first, newest + 1)))
        self._forget()

    def _create(self) -> None:
        for key, _ in list(self.lake.client.list(self.bucket, "t/")):
            self.lake.client.delete(self.bucket, key)
        self._forget()
        self.rows = {}
        properties = {
            "delta.checkpointInterval": "3",
            "delta.checkpointPolicy": self.chance.choice(["classic", "v2"]),
            "delta.enableDeletionVectors": "false" if self.is_coordinated else self.chance.choice(["true", "false"]),
            **({"delta.columnMapping.mode": "name"} if self.chance.random() < 0.3 and not self.is_coordinated else {}),
            **(self.lake.coordinator() if self.is_coordinated else {}),
        }
        self.lake.create(self.uri, "id BIGINT", properties)
        self._note()

    def _change(self, change: str) -> None:
        statement = change.format(t=delta_path(self.uri), n=self.next_id, k=self.chance.randint(0, 3))
        self.next_id += 10
        self.lake.sql(statement)
        self._note()

    def _restore(self) -> None:
        version = self.chance.choice(list(self.rows))
        try:
            self.lake.sql(f"RESTORE TABLE {delta_path(self.uri)} TO VERSION AS OF {version}")
        except Exception:  # noqa: BLE001 - its files may be vacuumed
            return
        self._note()

    def _clean_up_log(self) -> None:
        objects = {key: data for key, data in self.objects().items() if key.startswith(LOG)}
        if checkpoints := sorted(usable_checkpoints(log_listing(objects))):
            first = self.chance.choice(checkpoints)
            for key in objects:
                name = key.removeprefix(LOG)
                if name[:20].isdigit() and int(name[:20]) < first:
                    self.lake.client.delete(self.bucket, key)
            self._forget()

    def _note(self) -> None:
        """Keep what the newest version holds. VACUUM makes two that change nothing; what changes nothing makes none."""
        newest = self.lake.sql(f"DESCRIBE HISTORY {delta_path(self.uri)} LIMIT 1")[0]["version"]
        new = range(max(self.rows, default=-1) + 1, newest + 1)
        self.rows |= dict.fromkeys(new, ids(self.lake, self.uri))

    def _forget(self) -> None:
        self.lake.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def ids(lake: SparkLake, uri: str, version: int | None = None) -> list[int]:
    read = lake.spark.read.format("delta")
    read = read if version is None else read.option("versionAsOf", version)
    return sorted(row["id"] for row in read.load(uri).collect())


def logs(pool: dict[str, bytes], there: dict[str, bytes], version: int) -> Iterator[dict[str, bytes]]:
    """The pool's data with what of its log is as the source has it: all, and with none or one of its checkpoints."""
    sidecars = {key: data for key, data in pool.items() if "/_sidecars/" in key and there.get(key) == data}
    best = {**model.at_its_best(pool, there, version), **sidecars}
    best = {key: data for key, data in best.items() if not key.endswith("/")}
    yield best
    checkpoints = {key for key in best if ".checkpoint." in key and "_sidecars/" not in key}
    bases = {key.removeprefix(LOG)[:20] for key in checkpoints}
    for base in [*sorted(bases, reverse=True), ""]:
        others = [key for key in checkpoints if not base or not key.startswith(LOG + base)]
        if others:
            yield without(best, *others)


def rows_of_files(objects: dict[str, bytes], folder: Path, version: int) -> list[int] | None:
    """The rows of the files that deltalake lists, which reads no table with the features of coordinated ones itself."""
    model.lay_out(objects, folder)
    try:
        table = deltalake.DeltaTable(str(folder / "t"))
        if table.version() != version:
            return None
        files = [parquet.read_table(uri.removeprefix("file://")) for uri in table.file_uris()]
    except Exception:  # noqa: BLE001 - whatever it raises, it does not open
        return None
    return sorted(row for file in files for row in file["id"].to_pylist())


class Reader:
    """Opens a version of a table of these objects, by Spark or by deltalake."""

    def __init__(self, source: SparkSource, backup: Backup, folder: Path) -> None:
        self.source, self.bucket, self.folder, self.opened = source, backup.vault, folder, 0

    def rows(self, objects: dict[str, bytes], version: int) -> list[int] | None:
        """None where it does not open."""
        if self.source.is_coordinated:
            return rows_of_files(objects, self.folder, version)
        self.opened += 1
        for key, data in objects.items():
            self.source.lake.client.put(self.bucket, f"opened/{self.opened}/{key}", data)
        try:
            return ids(self.source.lake, f"s3a://{self.bucket}/opened/{self.opened}/t", version)
        except Exception:  # noqa: BLE001 - whatever it raises, it does not open
            return None


@pytest.fixture
def chance(spark_lake: SparkLake, seed: int) -> Iterator[random.Random]:
    """What the seed draws; the session that tests share has its settings as before afterwards."""
    chance, delta = random.Random(seed), "spark.databricks.delta"
    drawn = {f"{delta}.checkpoint.partSize": str(chance.choice([2, 1000]))}
    with set_while(spark_lake.spark, {f"{delta}.retentionDurationCheck.enabled": "false", **drawn}):
        yield chance


@pytest.mark.parametrize("seed", [*map(slowly, range(8))])
def test_what_runs_claim_of_spark_s_tables_opens_with_the_rows_of_the_source_and_nothing_else_does(
    backup: Backup, spark_lake: SparkLake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chance: Any, seed: int
) -> None:
    prod = Connection.objects.get(name="prod")
    CommitStore.objects.create(connection=prod, name=DELTA_COMMITS, kind=CommitStore.Kind.COMMIT_COORDINATOR)
    source = SparkSource(spark_lake, backup.source, chance)
    if seed % 2:
        spread_all(monkeypatch, backup)
    reader, pool, points = Reader(source, backup, tmp_path / "copy"), dict[str, bytes](), dict[str, Any]()
    for _ in range(ROUNDS):
        stale = source.objects()
        for _ in range(chance.randint(1, STEPS)):
            source.step()
        if source.is_coordinated and chance.random() < 0.7:
            source.wait_in_the_coordinator()
        model.back_up(pool, source, stale | (source.objects() if chance.random() < 0.5 else {}), chance)
        backup.put(pool, copied=True)
        [point] = proven(copied_run(backup)).points.filter(earlier="")
        there = source.objects()
        claimed = [version for first, last in point.ranges for version in range(first, last + 1)]
        unpublished = {one["version"] for one in point.unpublished}
        assert set(claimed) <= set(source.rows)
        in_both = log_listing(pool).commits.keys() & log_listing(there).commits.keys()
        for version in in_both | (set(claimed) - unpublished):
            opens = any(reader.rows(one, version) == source.rows[version] for one in logs(pool, there, version))
            assert opens is (version in claimed), version
        if claimed:
            assert (point.version, point.not_kept, bool(point.proof)) == (claimed[-1], "", True)
            points[point.proof] = (point.version, source.rows[point.version])
    for key, _ in list(backup.lake.list(backup.vault, f"pool/{LOG}")):
        backup.lake.delete(backup.vault, key)
    for proof, (version, rows) in points.items():
        assert reader.rows(restored(backup, proof), version) == rows
