"""Work that no disk has room for is refused before it begins, and joins are divided so that memory holds them."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from lake.spark.backups.tuning import BYTES_PER_OBJECT, divide, require_room
from lake.spark.errors import SparkRefused

FREE = 2_000_000_000


@pytest.mark.parametrize(
    ("master", "folder", "objects", "is_refused"),
    [
        ("local[4]", "", FREE // BYTES_PER_OBJECT, False),
        ("local[4]", "", FREE // BYTES_PER_OBJECT + 1, True),
        ("local[4]", "of-another-machine", 10**12, False),
        ("spark://host:7077", "", 10**12, False),
    ],
)
def test_what_this_machines_disk_cannot_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, master: str, folder: str, objects: int, is_refused: bool
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=FREE))
    spark = SimpleNamespace(conf={"spark.local.dir": str(tmp_path / folder), "spark.master": master})
    if is_refused:
        with pytest.raises(
            SparkRefused, match=r"takes about 2.0 GB on the disk of .*, where 2.0 GB are free: make room"
        ):
            require_room(spark, objects)
    else:
        require_room(spark, objects)


@pytest.mark.parametrize(
    ("master", "slots", "rows", "partitions"),
    [
        ("local[2]", 2, 0, 4),
        ("local[2]", 2, 1_000_000, 9),
        ("local[16]", 16, 1_000_000, 40),
        ("local[64]", 64, 1_000_000, 100),
        ("spark://host:7077", 400, 1_000_000, 9),
    ],
)
def test_the_more_tasks_one_machine_has_at_once_the_fewer_rows_each_joins(
    master: str, slots: int, rows: int, partitions: int
) -> None:
    told: dict[str, str] = {}
    conf = SimpleNamespace(get=lambda name, _: {"spark.master": master}[name], set=told.__setitem__)
    divide(SimpleNamespace(conf=conf, sparkContext=SimpleNamespace(defaultParallelism=slots)), rows)
    assert told == {"spark.sql.shuffle.partitions": str(partitions)}
