"""Inventories as S3 delivers them, in all forms, through a real worker; those that are not whole are refused."""

import boto3
import pytest

from sandbox.client import REGION
from tests.lake.spark.backupground import HOSTILE, Ground, gz

pytestmark = pytest.mark.spark

BARE = ("Size", "LastModifiedDate", "ETag")
EVERY = (
    *BARE,
    "StorageClass",
    "IsMultipartUploaded",
    "ReplicationStatus",
    "EncryptionStatus",
    "ObjectLockRetainUntilDate",
    "ObjectLockMode",
    "ObjectLockLegalHoldStatus",
    "IntelligentTieringAccessTier",
    "BucketKeyStatus",
    "ChecksumAlgorithm",
    "ObjectAccessControlList",
    "ObjectOwner",
    "LifecycleExpirationDate",
)
FORMATS = ("CSV", "ORC", "Parquet")
DATE = "2026-01-01T00:00:00.000Z"


def planned(ground: Ground, **params) -> list[str]:
    said = ground.run("backup_plan", ground.params(**params))
    assert {manifest["lane"] for manifest in said["manifests"]} <= {"copy"}
    return sorted(key for manifest in said["manifests"] for key in ground.manifest_keys(manifest))


@pytest.mark.parametrize("kind", FORMATS)
def test_of_versions_only_the_newest_are_read_and_archived_ones_are_told(ground, kind) -> None:
    s3 = boto3.client(
        "s3",
        endpoint_url=ground.client.origin,
        region_name=REGION,
        aws_access_key_id="sandbox",
        aws_secret_access_key="sandbox",
    )
    s3.put_bucket_versioning(Bucket=ground.source, VersioningConfiguration={"Status": "Enabled"})
    ground.put([*HOSTILE, *HOSTILE[:2]])
    ground.put(["t/gone", "back"])
    for key in ("t/gone", "back"):
        ground.client.delete(ground.source, key)
    ground.put(["back"])
    for number, archive in enumerate(("GLACIER", "DEEP_ARCHIVE", "GLACIER_IR")):
        s3.put_object(Bucket=ground.source, Key=f"cold/{number}", Body=b"x", StorageClass=archive)
    inventory = ground.delivered(kind, EVERY, all_versions=True, parts=2)
    said = ground.run("backup_plan", ground.params(**inventory))
    keys = sorted(key for manifest in said["manifests"] for key in ground.manifest_keys(manifest))
    assert keys == sorted([*HOSTILE, "back", "cold/2"])
    assert (said["listed"], said["archived"]) == (len(keys) + 2, 2)


def test_columns_of_csv_are_read_by_name_in_any_order_unknown_ones_too(ground) -> None:
    row = {"NewField": '""x"", y', "LastModifiedDate": DATE, "ETag": "e", "Size": "7", "Key": "a+b%2Bc", "Bucket": "b"}
    line = ",".join(f'"{text}"' for text in row.values())
    assert planned(ground, **ground.deliver([gz(line + "\n\n")], "CSV", ", ".join(row))) == ["a b+c"]


@pytest.mark.parametrize(
    ("schema", "line", "reason"),
    [
        ("Bucket, Key, Size, LastModifiedDate", f'"b","k","1","{DATE}"\n', "lacks the column ETag: add it to"),
        ("Bucket, Key, ETag", '"b","k","e"\n', "lacks the column Size and LastModifiedDate"),
        ("Bucket, Size, ETag", '"b","1","e"\n', "names no bucket or no key"),
        ("Bucket, Key, Size, LastModifiedDate, ETag", f'"b","k","many","{DATE}","e"\n', "has no readable Size"),
        ("Bucket, Key, Size, LastModifiedDate, ETag", f'"b","%zz","1","{DATE}","e"\n', "has no readable Key"),
        ("Bucket, Key, Size, LastModifiedDate, ETag, IsLatest", f'"b","k","1","{DATE}","e","?"\n', "readable IsLatest"),
    ],
)
def test_an_inventory_that_cannot_be_right_is_refused_in_one_sentence(ground, schema, line, reason) -> None:
    said = ground.refusal("backup_plan", ground.params(**ground.deliver([gz(line)], "CSV", schema)))
    assert reason in said
    assert "\n" not in said
    assert f"s3://{ground.evidence}/" in said


def test_what_names_no_inventory_is_refused(ground) -> None:
    ground.client.put(ground.evidence, "x/manifest.json", b"[]")
    where = {"inventory_bucket": ground.evidence, "inventory_manifest": "x/manifest.json"}
    assert "is no manifest of an inventory" in ground.refusal("backup_plan", ground.params(**where))
    other = ground.deliver([b"x"], "Avro", "x")
    assert "known are CSV, ORC, Parquet" in ground.refusal("backup_plan", ground.params(**other))
    nowhere = ground.params(inventory_bucket=ground.evidence, inventory_manifest="y/manifest.json")
    assert ground.refusal("backup_plan", nowhere).startswith(f"s3://{ground.evidence}/y/manifest.json is not there")


def test_a_bucket_that_does_not_exist_is_named_whoever_asks_for_it(ground) -> None:
    ground.put(["a"])
    for name in ("source", "folder", "destination"):
        params = ground.params(selection="incremental", **{name: {"bucket": f"no-such-{name}", "prefix": "r/"}})
        assert f"no-such-{name}" in ground.refusal("backup_plan", params)
