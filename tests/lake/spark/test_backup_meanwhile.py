"""Reports, destinations and sources that part from each other between planning and reconciling, to the last retry."""

import itertools
from urllib.parse import quote

import pytest

from tests.lake.spark.backupground import Ground, open_ground
from tests.sparkworker import warm_worker

__all__ = ["warm_worker"]
pytestmark = pytest.mark.spark

REPORTS, THERE, NOW = ("ok", "failed", "none"), ("same", "other", "none"), ("same", "changed", "gone")
CASES = {
    f"t/{report} {there}+{now}=%/ü\n.bin": (report, there, now)
    for report, there, now in itertools.product(REPORTS, THERE, NOW)
}
FIRST = {
    ("ok", "other"): ("changed", "OtherContent"),
    ("ok", "none"): ("failed", "NotAtDestination"),
    ("failed", "other"): ("failed", "SlowDown"),
    ("failed", "none"): ("failed", "SlowDown"),
    ("none", "other"): ("failed", "NotReported"),
    ("none", "none"): ("failed", "NotReported"),
}
"""By report and destination, whatever the source is now: no report but the destination makes an object safe."""


@pytest.fixture
def ground(warm_worker) -> Ground:
    return open_ground(warm_worker)


def line(ground: Ground, key: str, report: str) -> str:
    ends = {
        "ok": ("succeeded", "200", "", "Successful"),
        "failed": ("failed", "503", "SlowDown", 'Reduce ""your""\nrate, later'),
    }
    fields = (ground.source, quote(key, safe="/"), "", *ends[report])
    return ",".join(f'"{field}"' for field in fields) + "\n"


def part(ground: Ground) -> None:
    """Make of each object the case that its key names."""
    for key, (_, there, now) in CASES.items():
        data = ground.client.get(ground.source, key)
        if there != "none":
            ground.client.put(ground.vault, f"copy/{key}", data if there == "same" else data[::-1])
        if now == "gone":
            ground.client.delete(ground.source, key)
        elif now == "changed":
            ground.client.put(ground.source, key, b"written anew")


def outcomes(ground: Ground, said) -> dict[str, tuple[str, str]]:
    """The outcome and code of each key, from what reconciling wrote."""
    import io

    from pyarrow import parquet

    place = said["facts"]["reconciled"]
    found: dict[str, tuple[str, str]] = {}
    for key in ground.keys(place["bucket"], place["prefix"]):
        if key.endswith(".parquet"):
            rows = parquet.read_table(io.BytesIO(ground.client.get(place["bucket"], key))).to_pylist()
            found |= {row["key"]: (row["outcome"], row["code"]) for row in rows}
    return found


def test_reports_and_sources_say_what_they_will_only_the_destination_makes_safe(ground) -> None:
    ground.put(CASES)
    params = ground.params()
    planned = ground.run("backup_plan", params)
    part(ground)
    report = {"bucket": ground.evidence, "prefix": "report/"}
    lines = "".join(line(ground, key, said) for key, (said, _, _) in CASES.items() if said != "none")
    ground.client.put(ground.evidence, "report/job-1/results/a.csv", lines.encode())
    said = ground.run("backup_reconcile", {**params, "planned": planned["facts"], "reports": [report]})
    told = outcomes(ground, said)
    assert set(told) == set(CASES)
    for key, (reported, there, _) in CASES.items():
        safe = ("already_there", "copied") if there == "same" else ()
        assert told[key][0] in safe or told[key] == FIRST[reported, there], key
    assert said["retry"]["objects"] == sum(there != "same" for _, there, _ in CASES.values())

    again = ground.params(retry=said["retry"])
    replanned = ground.run("backup_plan", again)
    (manifest,) = replanned["manifests"]
    ground.copy(manifest, again)
    place = {"bucket": ground.evidence, "prefix": f"{again['folder']['prefix']}report/copy/"}
    ends = ground.run("backup_reconcile", {**again, "planned": replanned["facts"], "reports": [place]})
    finally_told = outcomes(ground, ends)
    assert finally_told == {
        key: ("vanished", "NoSuchKey") if now == "gone" else ("copied", "")
        for key, (_, there, now) in CASES.items()
        if there != "same"
    }
    for key in (key for key, (outcome, _) in finally_told.items() if outcome == "copied"):
        assert ground.client.get(ground.vault, f"copy/{key}") == ground.client.get(ground.source, key)


@pytest.mark.parametrize("kind", ["CSV", "ORC", "Parquet"])
def test_hostile_keys_go_round_from_an_inventory_of_each_format_although_some_change_or_vanish(ground, kind) -> None:
    from tests.lake.spark.backupground import HOSTILE

    extra = ("t/a b/changed %.bin", "t/a b/vanished +.bin", "t/a b/later.bin")
    ground.put([*HOSTILE, *extra[:2]])
    params = ground.params(**ground.delivered(kind, ("Size", "LastModifiedDate", "ETag", "EncryptionStatus"), parts=2))
    ground.client.put(ground.source, extra[0], b"changed since")
    ground.client.delete(ground.source, extra[1])
    ground.put(extra[2:])
    planned = ground.run("backup_plan", params)
    (manifest,) = planned["manifests"]
    ground.copy(manifest, params)
    place = {"bucket": ground.evidence, "prefix": f"{params['folder']['prefix']}report/copy/"}
    told = outcomes(ground, ground.run("backup_reconcile", {**params, "planned": planned["facts"], "reports": [place]}))
    # The sandbox heeds no If-Match on the source, as S3 does: there a changed object is not even copied.
    changed = told.pop(extra[0])
    assert changed[0] == "changed"
    assert told.pop(extra[1]) == ("vanished", "NoSuchKey")
    assert told == dict.fromkeys(HOSTILE, ("copied", ""))
    for key in HOSTILE:
        assert ground.client.get(ground.vault, f"copy/{key}") == ground.client.get(ground.source, key)
