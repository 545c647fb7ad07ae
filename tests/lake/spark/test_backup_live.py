"""Planning the live files alone, through a real worker: what tables' logs name stays, what only lies beside goes."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.lake.spark.backupground import Ground, open_ground
from tests.sparkworker import warm_worker

__all__ = ["warm_worker"]
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

VECTOR = {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 4, "sizeInBytes": 40}
VECTOR_FILE = "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
PROTOCOL = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
META = {"metaData": {"id": "i", "configuration": {}, "partitionColumns": []}}


@pytest.fixture
def ground(warm_worker) -> Ground:
    return open_ground(warm_worker)


def ms(hours_ago: float) -> int:
    return int((datetime.now(UTC) - timedelta(hours=hours_ago)).timestamp() * 1000)


def add(path: str, **more):
    return {"add": {"path": path, "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True, **more}}


def remove(path: str, hours_ago: float, **more):
    return {"remove": {"path": path, "deletionTimestamp": ms(hours_ago), "dataChange": True, **more}}


def commit(ground: Ground, table: str, version: int, *actions) -> None:
    body = "".join(json.dumps(action) + "\n" for action in actions).encode()
    ground.client.put(ground.source, f"{table}/_delta_log/{version:020d}.json", body)


def data(ground: Ground, table: str, *paths: str) -> None:
    ground.put(f"{table}/{path}" for path in paths)


def planned(ground: Ground, window_hours: int = 24, **changes):
    said = ground.run("backup_plan", ground.params(files="live", window_hours=window_hours, **changes))
    keys = sorted(key for manifest in said["manifests"] for key in ground.manifest_keys(manifest))
    return said, [key for key in keys if "_delta_log/" not in key]


def test_what_is_live_was_removed_lately_or_is_beside_the_data_stays(ground) -> None:
    commit(ground, "t", 0, PROTOCOL, META, add("a.parquet"), add("old.parquet"), add("late.parquet"), add("p=1/x%20y"))
    commit(ground, "t", 1, remove("old.parquet", 30), remove("late.parquet", 20), add("v.parquet"))
    commit(ground, "t", 2, remove("v.parquet", 20), add("v.parquet", deletionVector=VECTOR))
    live = ("a.parquet", "late.parquet", "p=1/x y", "v.parquet", VECTOR_FILE)
    beside = ("_change_data/cdc.parquet", "_SUCCESS", ".hidden/x", "metadata/v1.metadata.json")
    data(ground, "t", *live, *beside, "old.parquet", "orphan.parquet", "p=1/orphan")
    data(ground, "plain", "outside.txt")
    said, keys = planned(ground)
    assert keys == sorted(["plain/outside.txt", *(f"t/{path}" for path in (*live, *beside))])
    assert said["listed"] == len(keys) + 3
    assert said["tables"]["left_out"] == {"objects": 3, "bytes": sum(len(f"datat/{k}") for k in LEFT)}
    assert said["tables"]["unread"] == {"count": 0, "examples": []}
    params = ground.params()
    (manifest,) = said["manifests"]
    ground.copy(manifest, params)
    report = {"bucket": ground.evidence, "prefix": f"{params['folder']['prefix']}report/copy/"}
    ends = ground.run("backup_reconcile", {**params, "planned": said["facts"], "reports": [report]})
    assert ends["listed"] == ends["counts"]["copied"] == said["listed"]


LEFT = ("old.parquet", "orphan.parquet", "p=1/orphan")


def test_tables_whose_log_cannot_be_read_are_copied_whole_and_named(ground) -> None:
    commit(ground, "gap", 0, PROTOCOL, META, add("a"))
    commit(ground, "gap", 2, add("b"))
    ground.client.put(ground.source, "torn/_delta_log/00000000000000000000.json", b'{"add":{"path":"a"')
    future = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["fromTheFuture"]}}
    commit(ground, "later", 0, future, META)
    commit(ground, "counted", 0, PROTOCOL, META, add("a"))
    ground.client.put(ground.source, "counted/_delta_log/00000000000000000000.crc", b'{"numFiles": 2}')
    commit(ground, "fine", 0, PROTOCOL, META, add("a"))
    ground.client.put(ground.source, "fine/_delta_log/00000000000000000000.crc", b'{"numFiles": 1}')
    for table in ("gap", "torn", "later", "counted", "fine"):
        data(ground, table, "a", "orphan")
    said, keys = planned(ground)
    assert [key for key in keys if key.endswith("orphan")] == [
        f"{t}/orphan" for t in ("counted", "gap", "later", "torn")
    ]
    reasons = {one["table"]: one["reason"] for one in said["tables"]["unread"]["examples"]}
    assert reasons == {
        "gap": "The log lacks version 1, which comes before version 2.",
        "torn": "Line 1 of version 0 is not one whole action.",
        "later": "The table needs readers that know the feature fromTheFuture, which Levee does not.",
        "counted": "The checksum of version 0 counts 2 files, and the log 1.",
    }


def test_files_of_other_tables_that_a_shallow_clone_names_stay_and_those_elsewhere_are_told(ground) -> None:
    commit(ground, "base", 0, PROTOCOL, META, add("kept"), add("cloned"))
    commit(ground, "base", 1, remove("cloned", 100))
    here, there = f"s3a://{ground.source}/base/cloned", "s3a://elsewhere/base/cloned"
    commit(ground, "clone", 0, PROTOCOL, META, add(here), add(there), add("own"))
    data(ground, "base", "kept", "cloned", "orphan")
    data(ground, "clone", "own")
    said, keys = planned(ground)
    assert keys == ["base/cloned", "base/kept", "clone/own"]
    assert said["tables"]["references"] == {
        "inside": 1,
        "outside": 1,
        "examples": [{"table": "clone", "inside": 1, "outside": 1}],
    }


def test_files_of_commits_that_are_accepted_and_not_yet_published_stay(ground) -> None:
    commit(ground, "t", 0, PROTOCOL, META, add("a"))
    body = "".join(json.dumps(action) + "\n" for action in (add("staged"), remove("a", 100))).encode()
    name = "00000000000000000001.0dc4bd69-3b5a-4b7a-8d59-2f0b4a0f4b11.json"
    ground.client.put(ground.source, f"t/_delta_log/_staged_commits/{name}", body)
    ground.client.put(
        ground.source, "t/_delta_log/.tmp/00000000000000000001.json.0dc4bd69-3b5a", body.replace(b"staged", b"temp")
    )
    data(ground, "t", "a", "staged", "temp", "orphan")
    assert planned(ground)[1] == ["t/a", "t/staged", "t/temp"]
