"""Copying by Spark and reconciling, through a real worker: nothing is safe that the destination does not show."""

import pytest

from tests.lake.spark.backupground import HOSTILE

pytestmark = pytest.mark.spark


def reports(params, *manifests):
    return [
        {"bucket": params["folder"]["bucket"], "prefix": f"{params['folder']['prefix']}report/{m['lane']}/"}
        for m in manifests
    ]


def reconcile(ground, params, planned, *manifests):
    return ground.run(
        "backup_reconcile", {**params, "planned": planned["facts"], "reports": reports(params, *manifests)}
    )


def test_full_files_of_planned_objects_have_manifests_of_their_own_and_the_rest_share_one(ground) -> None:
    ground.put([*HOSTILE, *(f"t/{number}" for number in range(6))])
    params = ground.params(manifest_objects=4)
    planned = ground.run("backup_plan", params)
    manifests = planned["manifests"]
    assert [m["objects"] for m in manifests if "/planned/" in m["key"]] == [4, 4, 4]
    assert [m["objects"] for m in manifests if "/manifest/" in m["key"]] == [3]
    for number, manifest in enumerate(manifests):
        assert ground.lake.s3.head(manifest["bucket"], manifest["key"]).etag == manifest["etag"]
        assert ground.copy(manifest, params, token=f"t{number}") == {"done": manifest["objects"], "failed": 0}
    assert reconcile(ground, params, planned, manifests[0])["counts"]["copied"] == 15


def test_vanished_changed_lost_and_unreported_objects_are_never_safe(ground) -> None:
    ground.put(["t/_delta_log/0.json", "t/gone", "t/changed", "t/lost", "t/fine"])
    params = ground.params()
    planned = ground.run("backup_plan", params)
    (manifest,) = planned["manifests"]
    ground.client.delete(ground.source, "t/gone")
    ground.client.put(ground.source, "t/changed", b"DATAt/changed")
    assert ground.copy(manifest, params) == {"done": 4, "failed": 1}  # the sandbox heeds no If-Match on the source
    ground.client.delete(ground.vault, "copy/t/lost")
    ground.client.put(ground.vault, "copy/t/fine", b"tampered")
    said = reconcile(ground, params, planned, manifest)
    assert said["listed"] == sum(said["counts"].values()) == 5
    outcomes = {(g["outcome"], g["code"]): sorted(g["examples"]) for g in said["groups"]}
    assert outcomes == {
        ("vanished", "NoSuchKey"): ["t/gone"],
        ("changed", "OtherContent"): ["t/changed", "t/fine"],
        ("failed", "NotAtDestination"): ["t/lost"],
    }
    assert said["counts"]["copied"] == 1
    assert said["retry"]["objects"] == 3
    again = ground.params(retry=said["retry"])
    replanned = ground.run("backup_plan", again)
    assert replanned["listed"] == 3
    assert sorted(k for m in replanned["manifests"] for k in ground.manifest_keys(m)) == [
        "t/changed",
        "t/fine",
        "t/lost",
    ]
    ground.copy(replanned["manifests"][0], again)
    counts = reconcile(ground, again, replanned, replanned["manifests"][0])["counts"]
    assert (counts["copied"], counts["already_there"]) == (2, 1)


def test_large_objects_go_by_parts_and_count_as_there_next_time(ground) -> None:
    size = 5 * 1024**2
    ground.client.put(ground.source, "t/big.parquet", b"x" * (size + 10))
    params = ground.params(copy_limit=size)
    planned = ground.run("backup_plan", params)
    (manifest,) = planned["manifests"]
    assert manifest["lane"] == "multipart"
    assert ground.copy(manifest, params, part_size=size) == {"done": 1, "failed": 0}
    head = ground.lake.s3.head(ground.vault, "copy/t/big.parquet")
    assert head.size == size + 10
    assert "-2" in head.etag
    said = reconcile(ground, params, planned, manifest)
    assert said["counts"]["copied"] == 1
    later = ground.params(copy_limit=size, selection="incremental", pool=said["facts"]["reconciled"])
    again = ground.run("backup_plan", later)
    assert (again["already_there"], again["manifests"]) == (1, [])
    assert reconcile(ground, later, again)["counts"]["already_there"] == 1


def test_an_empty_source_is_planned_and_reconciled_to_nothing(ground) -> None:
    params = ground.params()
    planned = ground.run("backup_plan", params)
    assert (planned["listed"], planned["manifests"]) == (0, [])
    assert reconcile(ground, params, planned)["listed"] == 0
