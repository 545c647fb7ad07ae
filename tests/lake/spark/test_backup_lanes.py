"""The lane of an object, for every combination of what an inventory says of it."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.lazily import lazily

pa = lazily("pyarrow")
with_lanes = lazily("lake.spark.backups.planned", "with_lanes")


CUT_OFF = datetime(2026, 11, 20, tzinfo=UTC)
LIMIT = 5 * 1024**3
CLASSES = ("STANDARD", "GLACIER", "DEEP_ARCHIVE", "GLACIER_IR", "INTELLIGENT_TIERING", "", None)
TIERS = ("", None, "FREQUENT", "ARCHIVE_INSTANT_ACCESS", "ARCHIVE", "DEEP_ARCHIVE", "ARCHIVE_ACCESS")
MOMENTS = (CUT_OFF - timedelta(days=1), CUT_OFF, CUT_OFF + timedelta(microseconds=1))
SIZES = (0, LIMIT, LIMIT + 1)


def expected(kind: str | None, tier: str | None, moment: datetime, size: int) -> str:
    if kind in {"GLACIER", "DEEP_ARCHIVE"} or tier in {"ARCHIVE", "DEEP_ARCHIVE", "ARCHIVE_ACCESS"}:
        return "archived"
    if moment > CUT_OFF:
        return "too_new"
    return "multipart" if size > LIMIT else "copy"


def test_every_object_has_the_lane_that_its_class_tier_time_and_size_say() -> None:
    rows = list(itertools.product(CLASSES, TIERS, MOMENTS, SIZES))
    told = laned(rows, [str(number) for number in range(len(rows))], [None] * len(rows))
    assert told == [expected(*row) for row in rows]


def test_the_hint_at_a_table_s_last_checkpoint_is_left_out_and_nothing_that_looks_like_one() -> None:
    hint = "_delta_log/_last_checkpoint"
    keys = {hint: "", f"t/{hint}": "t", f"t/{hint}s": "t", f"t/x{hint}": "t", f"{hint}/t": "t", f"u/{hint}": None}
    told = laned([(None, None, CUT_OFF, 1)] * len(keys), list(keys), list(keys.values()))
    assert told == ["left_out", "left_out", "copy", "copy", "copy", "copy"]


def test_what_would_be_copied_over_the_restore_points_of_the_backup_is_left_out() -> None:
    keys = ["_levee/points/lake/t/@1-a.json", "t/_levee/points/a", "_levee/point"]
    told = laned([(None, None, CUT_OFF, 1)] * len(keys), keys, [None] * len(keys))
    assert told == ["left_out", "copy", "copy"]


def laned(rows: list[tuple[Any, ...]], keys: list[str], tables: list[str | None]) -> list[str]:
    kinds, tiers, moments, sizes = zip(*rows, strict=True)
    batch = pa.RecordBatch.from_pydict(
        {
            "key": keys,
            "size": pa.array(sizes, pa.int64()),
            "modified_at": pa.array(moments, pa.timestamp("us", tz="UTC")),
            "storage_class": pa.array(kinds, pa.string()),
            "access_tier": pa.array(tiers, pa.string()),
            "table": pa.array(tables, pa.string()),
        }
    )
    (told,) = with_lanes(CUT_OFF, LIMIT)(iter([batch]))
    assert told.schema.names == ["key", "size", "modified_at", "table", "lane"]
    lanes: list[str] = told["lane"].to_pylist()
    return lanes
