"""Inventories noticed, verified to the last byte, or refused with a reason and waited for."""

import json
import uuid
from datetime import UTC, datetime

import pytest

from backups.models import Inventory, Run
from backups.runs.stages.inventory import ensure_bucket
from lake.aws.access import Access, open_lake
from sandbox.client import REGION
from tests.backups.runs.world import World, make_plan, md5, start, tick
from tests.sandboxlake import sandbox_lake

pytestmark = pytest.mark.django_db

PLACE = "lake/daily/"
SCHEMA = (
    "message s3.inventory {  required binary bucket (UTF8);  required binary key (UTF8);  optional int64 size;"
    "  optional int64 last_modified_date (TIMESTAMP_MILLIS);  optional binary e_tag (UTF8);}"
)
SCAN = datetime(2026, 11, 19, tzinfo=UTC)


def deliver(world: World, name: str = "2026-11-19T00-00Z", **changes) -> None:
    """Put an inventory where S3 would, checksum last."""
    part = b"rows of " + name.encode()
    key = f"{PLACE}data/{name}.parquet"
    manifest = {
        "sourceBucket": "lake",
        "destinationBucket": "arn:aws:s3:::manifests",
        "version": "2016-11-30",
        "creationTimestamp": str(int(datetime.strptime(f"{name}+0000", "%Y-%m-%dT%H-%MZ%z").timestamp() * 1000)),
        "fileFormat": "Parquet",
        "fileSchema": SCHEMA,
        "files": [{"key": key, "size": len(part), "MD5checksum": md5(part)}],
        **changes,
    }
    body = json.dumps(manifest).encode()
    objects = world.s3.objects
    objects["manifests", key] = part
    objects["manifests", f"{PLACE}{name}/manifest.json"] = body
    objects["manifests", f"{PLACE}{name}/manifest.checksum"] = f"{md5(body)}\n".encode()


def plan(**changes):
    return make_plan(inventory=f"s3a://manifests/{PLACE}", **changes)


def run_of(world: World, **changes) -> Run:
    run = start(plan(**changes))
    tick(world, rounds=6)
    run.refresh_from_db()
    return run


def test_the_newest_whole_inventory_is_taken(world):
    deliver(world, "2026-11-18T00-00Z")
    deliver(world)

    run = run_of(world)

    assert (run.state, run.inventory) == ("complete", "2026-11-19T00-00Z")
    assert run.inventory_manifest == f"{PLACE}2026-11-19T00-00Z/manifest.json"


def test_the_snapshot_is_as_old_as_the_lag_and_names_its_bucket(world):
    deliver(world, "2026-04-02T00-00Z")

    run = run_of(world, minimum_lag_hours=48, destination="s3a://lake-{date}/", evidence="s3a://evidence/")

    assert run.cut_off == datetime(2026, 3, 31, tzinfo=UTC)
    assert run.destination == "s3a://lake-2026-03-31/"
    assert run.folder == f"s3a://evidence/runs/{run.pk}/"


def test_without_an_inventory_the_run_waits_and_goes_on_when_it_comes(world):
    run = run_of(world)
    assert run.state == "waiting_for_inventory"
    assert "none has arrived yet" in run.sentence

    deliver(world)
    tick(world)
    run.refresh_from_db()
    assert run.state == "complete"


def test_a_manifest_without_its_checksum_has_not_arrived(world):
    deliver(world)
    del world.s3.objects["manifests", f"{PLACE}2026-11-19T00-00Z/manifest.checksum"]

    assert run_of(world).state == "waiting_for_inventory"


def broken(world: World, what: str) -> None:
    folder, part = f"{PLACE}2026-11-19T00-00Z/", ("manifests", f"{PLACE}data/2026-11-19T00-00Z.parquet")
    match what:
        case "checksum":
            world.s3.objects["manifests", f"{folder}manifest.checksum"] = b"0" * 32
        case "missing part":
            del world.s3.objects[part]
        case "damaged part":
            world.s3.objects[part] = world.s3.objects[part].replace(b"rows", b"cows")
        case "no manifest":
            del world.s3.objects["manifests", f"{folder}manifest.json"]


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("checksum", "manifest.checksum says"),
        ("missing part", "is not there"),
        ("damaged part", "has the MD5"),
        ("no manifest", "manifest.json is not there"),
    ],
)
def test_a_broken_inventory_is_refused_with_the_reason_and_waited_for(world, what, reason):
    deliver(world)
    broken(world, what)

    run = run_of(world)

    assert run.state == "waiting_for_inventory"
    assert reason in run.sentence
    assert Inventory.objects.get().state == "refused"
    deliver(world)
    tick(world)
    run.refresh_from_db()
    assert run.state == "complete"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sourceBucket": "other"}, "is of the bucket 'other'"),
        ({"fileSchema": SCHEMA.replace("e_tag", "tag")}, "lacks ETag: add them to the inventory's configuration"),
    ],
)
def test_a_manifest_that_is_not_the_plans_is_refused_with_the_reason(world, changes, reason):
    deliver(world, **changes)
    run = run_of(world)
    assert run.state == "waiting_for_inventory"
    assert reason in run.sentence


def test_a_refused_inventory_is_not_replaced_by_an_older_one_in_silence(world):
    deliver(world, "2026-11-18T00-00Z")
    deliver(world)
    broken(world, "missing part")

    assert run_of(world).state == "waiting_for_inventory"


def test_a_scheduled_run_waits_for_an_inventory_that_no_earlier_run_has_used(world):
    deliver(world)
    first = run_of(world)
    second = start(first.plan)
    Run.objects.filter(pk=second.pk).update(due_at=SCAN)

    tick(world, rounds=6)
    second.refresh_from_db()
    assert second.state == "waiting_for_inventory"
    assert "in an earlier run already" in second.sentence

    deliver(world, "2026-11-20T00-00Z")
    tick(world)
    second.refresh_from_db()
    assert (second.state, second.inventory) == ("complete", "2026-11-20T00-00Z")


def test_a_bucket_is_made_once():
    client, name = sandbox_lake(), f"snapshot-{uuid.uuid4().hex[:8]}"
    access = Access(REGION, endpoint_url=client.origin, static_credentials=("sandbox", "sandbox"))
    with open_lake(access) as lake:
        ensure_bucket(lake.s3, name, REGION)
        ensure_bucket(lake.s3, name, REGION)
        assert next(iter(lake.s3.list(name, ""))).objects == ()
