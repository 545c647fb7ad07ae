"""Work that no disk has room for is refused before it begins."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lake.spark.backups.tuning import BYTES_PER_OBJECT, require_room
from lake.spark.errors import SparkRefused


def session(folder: Path, master: str = "local[4]") -> Any:
    return SimpleNamespace(conf={"spark.local.dir": str(folder), "spark.master": master})


def is_refused(spark: Any, objects: int) -> bool:
    try:
        require_room(spark, objects)
    except SparkRefused:
        return True
    return False


@pytest.fixture(autouse=True)
def free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=2_000_000_000))


def test_what_just_fits_is_let_through(tmp_path: Path) -> None:
    most = 2_000_000_000 // BYTES_PER_OBJECT
    assert [is_refused(session(tmp_path), objects) for objects in (most, most + 1)] == [False, True]


def test_what_does_not_fit_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SparkRefused) as refused:
        require_room(session(tmp_path), 100_000_000)
    assert str(refused.value) == (
        f"To compare 100,000,000 objects takes about 40.0 GB on the disk of {tmp_path}, where 2.0 GB are free: make "
        "room there, or have LEVEE_HOME on a larger disk."
    )


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", ""])
def test_the_disks_of_a_cluster_are_its_own_affair(tmp_path: Path, master: str) -> None:
    assert not is_refused(session(tmp_path, master), 10**12)


def test_a_folder_of_another_machine_is_its_own_affair(tmp_path: Path) -> None:
    assert not is_refused(session(tmp_path / "gone"), 10**12)
