"""Reconciling through a real worker: reports of several files and shares, and files that are not as they should be."""

from typing import Any

import pytest

from lake.spark.backups.tasks import SHARE_BYTES
from tests.lake.spark.backupground import HOSTILE, Ground, csv_line

pytestmark = pytest.mark.spark


def report(ground: Ground, name: str, *lines: str) -> dict[str, str]:
    ground.client.put(ground.evidence, f"report/job-1/results/{name}.csv", "".join(lines).encode())
    return {"bucket": ground.evidence, "prefix": "report/"}


def failed(ground: Ground, key: str, message: str = "") -> str:
    return csv_line(ground.source, key, "", "failed", "404", "NoSuchKey", message)


def succeeded(ground: Ground, key: str) -> str:
    return csv_line(ground.source, key, "", "succeeded", "200", "", "")


def test_reports_of_several_files_and_shares_tell_of_all_objects_once(ground: Ground) -> None:
    keys = [*HOSTILE, *(f"t/{number}" for number in range(40))]
    ground.put(keys)
    params = ground.params()
    planned = ground.run("backup_plan", params)
    for key in keys[::2]:
        ground.client.put(ground.vault, f"copy/{key}", ground.client.get(ground.source, key))
    long = "x" * (SHARE_BYTES // 30)
    place = report(ground, "large", *(failed(ground, key, long) for key in keys))
    report(ground, "later", *(succeeded(ground, key) for key in keys[::2]), failed(ground, "t/of-another-plan"))
    report(ground, "empty")
    given: dict[str, Any] = {**params, "reports": [place]}
    said = ground.run("backup_reconcile", {**given, "planned": planned["facts"]})
    assert said["listed"] == len(keys)
    assert said["counts"]["copied"] == len(keys[::2])
    assert said["counts"]["vanished"] == len(keys[1::2])
    [group] = said["groups"]
    assert len(group["examples"]) == 5
    assert set(group["examples"]) <= set(keys[1::2])


def test_more_than_the_disk_has_room_for_is_refused_before_it_begins(ground: Ground) -> None:
    ground.put(["t/a"])
    params = ground.params()
    facts = ground.run("backup_plan", params)["facts"]
    facts = {**facts, "planned": {**facts["planned"], "objects": 10**15}}
    sentence = ground.refusal("backup_reconcile", {**params, "planned": facts, "reports": []})
    assert sentence.startswith("To compare 1,000,000,000,000,000 objects takes about 400,000,000.0 GB on the disk of ")
