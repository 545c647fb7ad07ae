"""Planning the live files alone, through a real worker: what tables' logs name stays, what only lies beside goes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.lake.spark.backupground import Ground, open_ground
from tests.sparkworker import shared_worker

pytestmark = pytest.mark.spark

VECTOR = {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 4, "sizeInBytes": 40}
VECTOR_FILE = "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
PROTOCOL = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
META = {"metaData": {"id": "i", "configuration": {}, "partitionColumns": []}}


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


LIVE = ("a.parquet", "late.parquet", "p=1/x y", "v.parquet", VECTOR_FILE)
BESIDE = ("_change_data/cdc.parquet", "_SUCCESS", ".hidden/x", "metadata/v1.metadata.json")
LEFT = ("old.parquet", "orphan.parquet", "p=1/orphan")
UNREAD = {
    "gap": "The log lacks version 1, which comes before version 2.",
    "torn": "Line 1 of version 0 is not one whole action.",
    "later": "The table needs readers that know the feature fromTheFuture, which Levee does not.",
    "counted": "The checksum of version 0 counts 2 files, and the log 1.",
}


def windowed(ground: Ground) -> None:
    commit(ground, "t", 0, PROTOCOL, META, add("a.parquet"), add("old.parquet"), add("late.parquet"), add("p=1/x%20y"))
    commit(ground, "t", 1, remove("old.parquet", 30), remove("late.parquet", 20), add("v.parquet"))
    commit(ground, "t", 2, remove("v.parquet", 20), add("v.parquet", deletionVector=VECTOR))
    data(ground, "t", *LIVE, *BESIDE, *LEFT)


def unreadable(ground: Ground) -> None:
    commit(ground, "gap", 0, PROTOCOL, META, add("a"))
    commit(ground, "gap", 2, add("b"))
    ground.client.put(ground.source, "torn/_delta_log/00000000000000000000.json", b'{"add":{"path":"a"')
    future = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["fromTheFuture"]}}
    commit(ground, "later", 0, future, META)
    for table, files in (("counted", 2), ("fine", 1)):
        commit(ground, table, 0, PROTOCOL, META, add("a"))
        checksum = json.dumps({"numFiles": files}).encode()
        ground.client.put(ground.source, f"{table}/_delta_log/00000000000000000000.crc", checksum)
    for table in (*UNREAD, "fine"):
        data(ground, table, "a", "orphan")


def cloned(ground: Ground) -> None:
    commit(ground, "base", 0, PROTOCOL, META, add("kept"), add("cloned"))
    commit(ground, "base", 1, remove("cloned", 100))
    here, there = f"s3a://{ground.source}/base/cloned", "s3a://elsewhere/base/cloned"
    commit(ground, "clone", 0, PROTOCOL, META, add(here), add(there), add("own"))
    data(ground, "base", "kept", "cloned", "orphan")
    data(ground, "clone", "own")


def proposed(ground: Ground) -> None:
    commit(ground, "coordinated", 0, PROTOCOL, META, add("a"))
    name = "00000000000000000001.0dc4bd69-3b5a-4b7a-8d59-2f0b4a0f4b11.json"
    body = "".join(json.dumps(action) + "\n" for action in (add("staged"), remove("a", 100))).encode()
    log = "coordinated/_delta_log"
    ground.client.put(ground.source, f"{log}/_staged_commits/{name}", body)
    ground.client.put(ground.source, f"{log}/.tmp/{1:020d}.json.0dc4bd69-3b5a", body.replace(b"staged", b"temp"))
    data(ground, "coordinated", "a", "staged", "temp", "orphan")


@dataclass(frozen=True)
class Planning:
    """One planning of all these tables with a window of 24 hours, and the keys outside logs that it names."""

    ground: Ground
    params: Mapping[str, Any]
    said: Mapping[str, Any]
    keys: list[str]

    def of(self, table: str) -> list[str]:
        return [key.removeprefix(f"{table}/") for key in self.keys if key.startswith(f"{table}/")]


@pytest.fixture(scope="module")
def planning() -> Planning:
    ground = open_ground(shared_worker("warm worker"))
    for prepare in (windowed, unreadable, cloned, proposed):
        prepare(ground)
    data(ground, "plain", "outside.txt")
    params = ground.params(files="live", window_hours=24)
    said = ground.run("backup_plan", params)
    keys = sorted(key for manifest in said["manifests"] for key in ground.manifest_keys(manifest))
    return Planning(ground, params, said, [key for key in keys if "_delta_log/" not in key])


def test_what_is_live_was_removed_lately_or_is_beside_the_data_stays(planning) -> None:
    assert planning.of("t") == sorted([*LIVE, *BESIDE])
    assert planning.of("plain") == ["outside.txt"]


def test_tables_whose_log_cannot_be_read_are_copied_whole_and_named(planning) -> None:
    assert [planning.of(table) for table in UNREAD] == [["a", "orphan"]] * len(UNREAD)
    assert planning.of("fine") == ["a"]
    unread = planning.said["tables"]["unread"]
    assert unread["count"] == len(UNREAD)
    assert {one["table"]: one["reason"] for one in unread["examples"]} == UNREAD


def test_files_of_other_tables_that_a_shallow_clone_names_stay_and_those_elsewhere_are_told(planning) -> None:
    assert (planning.of("base"), planning.of("clone")) == (["cloned", "kept"], ["own"])
    told = planning.said["tables"]["references"]
    assert (told["inside"], told["outside"]) == (1, 1)
    assert told["examples"] == [{"table": "clone", "inside": 1, "outside": 1}]


def test_files_of_commits_that_are_accepted_and_not_yet_published_stay(planning) -> None:
    assert planning.of("coordinated") == ["a", "staged", "temp"]


def test_what_is_left_out_is_told_and_reconciled_as_nothing(planning) -> None:
    ground, params, said = planning.ground, planning.params, planning.said
    left = [*(f"t/{path}" for path in LEFT), "fine/orphan", "base/orphan", "coordinated/orphan"]
    assert said["tables"]["left_out"] == {"objects": len(left), "bytes": sum(len(f"data{key}") for key in left)}
    assert said["listed"] == len(ground.keys(ground.source)) - len(left)
    (manifest,) = said["manifests"]
    ground.copy(manifest, params)
    report = {"bucket": ground.evidence, "prefix": f"{params['folder']['prefix']}report/copy/"}
    ends = ground.run("backup_reconcile", {**params, "planned": said["facts"], "reports": [report]})
    assert ends["listed"] == ends["counts"]["copied"] == said["listed"]
