"""Planning a backup through a real worker: inventories of every form, tables, lanes, the pool, manifests."""

import pytest

from lake.spark.backups.tuning import BULK, set_while
from tests.lake.spark.backupground import HOSTILE, Ground
from tests.lazily import lazily

without_pool = lazily("lake.spark.backups.selection", "without_pool")

pytestmark = pytest.mark.spark

OBJECT = (
    "concat('lake/orders/day=2026-11-20/part-', id, '-c000.snappy.parquet') as key",
    "id as size",
    "md5(cast(id as string)) as etag",
)


def planned_keys(ground: Ground, said) -> list[str]:
    return sorted(key for manifest in said["manifests"] for key in ground.manifest_keys(manifest))


def test_a_listing_becomes_manifests_with_every_hostile_key_in_its_table(ground) -> None:
    ground.put(HOSTILE)
    said = ground.run("backup_plan", ground.params())
    assert said["listed"] == len(HOSTILE)
    assert planned_keys(ground, said) == sorted(HOSTILE)
    assert said["tables"]["count"] == 1
    assert (said["tables"]["largest"][0]["table"], said["tables"]["largest"][0]["objects"]) == (
        "t/a b",
        len(HOSTILE) - 1,
    )
    written = said["manifests"][0]
    head = ground.lake.s3.head(written["bucket"], written["key"])
    assert (head.etag, written["objects"]) == (written["etag"], len(HOSTILE))


def test_what_the_pool_has_is_left_out_but_never_the_log(ground) -> None:
    ground.put(HOSTILE)
    for key in HOSTILE:
        ground.client.put(ground.vault, f"copy/{key}", ground.client.get(ground.source, key))
    changed, missing = HOSTILE[1], HOSTILE[2]
    ground.client.put(ground.vault, f"copy/{changed}", ground.client.get(ground.source, changed).upper())
    ground.client.delete(ground.vault, f"copy/{missing}")
    said = ground.run("backup_plan", ground.params(selection="incremental"))
    assert planned_keys(ground, said) == sorted([HOSTILE[0], changed, missing])
    assert (said["listed"], said["already_there"]) == (len(HOSTILE), len(HOSTILE) - 3)
    # A file of each lane from each partition that has any: a task of several would hold in memory what each has joined.
    assert len(said["facts"]["planned"]["files"]) > len({"copy", "already_there"})


@pytest.mark.slow
def test_a_pool_may_hold_more_than_memory_does(spark_lake) -> None:
    """Two million objects a partition, where a task has some 200 MB."""
    spark = spark_lake.spark
    objects = spark.range(100, numPartitions=1).selectExpr(*OBJECT, "'copy' as lane")
    there = spark.range(50, 4_000_000, numPartitions=2).selectExpr(*OBJECT).toDF("pool_key", "pool_size", "pool_etag")
    with set_while(spark, BULK | {"spark.sql.shuffle.partitions": "2"}):
        lanes = without_pool(objects, there, lanes=["copy"]).groupBy("lane").count().collect()
    assert {row["lane"]: row["count"] for row in lanes} == {"copy": 50, "already_there": 50}


def test_only_the_plans_prefix_is_planned(ground) -> None:
    ground.put(["in/a", "in/b", "out/c"])
    said = ground.run("backup_plan", ground.params(source={"bucket": ground.source, "prefix": "in/"}))
    assert planned_keys(ground, said) == ["in/a", "in/b"]
