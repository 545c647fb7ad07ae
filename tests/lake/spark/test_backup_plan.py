"""Planning a backup through a real worker: inventories of every form, tables, lanes, the pool, manifests."""

import pytest

from tests.lake.spark.backupground import HOSTILE, Ground, csv_line, gz, open_ground
from tests.sparkworker import warm_worker

__all__ = ["warm_worker"]
pytestmark = pytest.mark.spark

SCHEMA = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, StorageClass"
OLD, NEW = "2026-01-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"


@pytest.fixture
def ground(warm_worker) -> Ground:
    return open_ground(warm_worker)


def planned_keys(ground: Ground, said, lane: str = "copy") -> list[str]:
    manifests = [manifest for manifest in said["manifests"] if manifest["lane"] == lane]
    return sorted(key for manifest in manifests for key in ground.manifest_keys(manifest))


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


def test_a_csv_inventory_of_versions_gives_the_newest_and_no_delete_marker(ground) -> None:
    def row(key: str, latest: str, marker: str, size: str, modified: str = OLD, kind: str = "STANDARD") -> str:
        return csv_line(ground.source, key, "v", latest, marker, size, modified, "e1", kind)

    first = gz(
        row("t/_delta_log/0.json", "true", "false", "10"),
        row("t/a +%=ü\n.parquet", "true", "false", "20"),
        row("t/old.parquet", "false", "false", "20"),
        row("t/gone.parquet", "true", "true", ""),
        "\n\n",
    )
    second = gz(
        row("t/new.parquet", "true", "false", "1", NEW),
        row("t/cold.parquet", "true", "false", "1", OLD, "GLACIER"),
        row("t/large.parquet", "true", "false", "6000"),
    )
    inventory = ground.deliver([first, second], "CSV", SCHEMA)
    said = ground.run("backup_plan", ground.params(**inventory, cut_off="2026-02-01T00:00:00Z", copy_limit=5000))
    assert (said["listed"], said["too_new"], said["archived"], said["already_there"]) == (5, 1, 1, 0)
    assert planned_keys(ground, said) == ["t/_delta_log/0.json", "t/a +%=ü\n.parquet"]
    assert planned_keys(ground, said, "multipart") == ["t/large.parquet"]
    assert said["listed"] == sum(said[name] for name in ("too_new", "archived")) + sum(
        manifest["objects"] for manifest in said["manifests"]
    )


@pytest.mark.parametrize("kind", ["Parquet", "ORC"])
def test_columnar_inventories_are_read_with_their_raw_keys(ground, kind) -> None:
    import io
    from datetime import UTC, datetime

    import pyarrow as pa
    from pyarrow import orc, parquet

    moment = datetime(2026, 1, 1, tzinfo=UTC)
    rows = {
        "bucket": [ground.source] * 3,
        "key": ["a+b %2F/_delta_log/0.json", "a+b %2F/x.parquet", "a+b %2F/deep.parquet"],
        "size": [1, 2, 3],
        "last_modified_date": pa.array([moment] * 3, pa.timestamp("ms", tz="UTC")),
        "e_tag": ["e", "e", "e"],
        "storage_class": ["STANDARD", "STANDARD", "INTELLIGENT_TIERING"],
        "intelligent_tiering_access_tier": [None, None, "DEEP_ARCHIVE"],
    }
    sink = io.BytesIO()
    (parquet if kind == "Parquet" else orc).write_table(pa.table(rows), sink)
    inventory = ground.deliver([sink.getvalue()], kind, "unread")
    said = ground.run("backup_plan", ground.params(**inventory))
    assert planned_keys(ground, said) == ["a+b %2F/_delta_log/0.json", "a+b %2F/x.parquet"]
    assert said["archived"] == 1


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


def test_tables_inside_tables_and_beside_files_of_their_name_keep_their_own(ground) -> None:
    ground.put(["a/_delta_log/0.json", "a/x", "a/b/_delta_log/0.json", "a/b/y", "a/b/c/z", "ab/x", "d/e/f"])
    said = ground.run("backup_plan", ground.params())
    objects = {table["table"]: table["objects"] for table in said["tables"]["largest"]}
    assert objects == {"a": 2, "a/b": 3}


def test_a_manifest_holds_no_more_than_its_share(ground) -> None:
    ground.put(f"t/{number}" for number in range(25))
    said = ground.run("backup_plan", ground.params(manifest_objects=10))
    assert sum(manifest["objects"] for manifest in said["manifests"]) == 25
    assert all(manifest["objects"] <= 10 for manifest in said["manifests"])
    assert len(planned_keys(ground, said)) == 25


def test_an_empty_source_plans_nothing(ground) -> None:
    said = ground.run("backup_plan", ground.params())
    assert (said["listed"], said["manifests"]) == (0, [])


def test_only_the_plans_prefix_is_planned(ground) -> None:
    ground.put(["in/a", "in/b", "out/c"])
    said = ground.run("backup_plan", ground.params(source={"bucket": ground.source, "prefix": "in/"}))
    assert planned_keys(ground, said) == ["in/a", "in/b"]


def test_an_inventory_without_etags_is_refused(ground) -> None:
    inventory = ground.deliver([gz('"b","k","1"\n')], "CSV", "Bucket, Key, Size")
    assert "lacks the column ETag" in ground.refusal("backup_plan", ground.params(**inventory))


def test_an_unknown_choice_of_files_is_refused(ground) -> None:
    assert "write all or live" in ground.refusal("backup_plan", ground.params(files="some"))
