"""Inventory configurations as boto3 keeps them, and what the sandbox delivers for them, against S3's own rules."""

import gzip
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from lake.backup.inventory_manifest import verify_part
from lake.backup.objects import FileUnreadable
from tests.sandbox.control.ground import Ground
from tests.sandbox.control.inventorying import ask, configuration, configure, delivered, manifest_of, rows
from tests.waiting import scaled

pytestmark = pytest.mark.process

FORMATS = ["CSV", "ORC", "Parquet"]
HOSTILE = ["a b", "a+b", "50%", "%2B", 'say "x"', "two\nlines", "dt=1/ä,ö;'", "日本/🜁", "comma,"]


def deny(ground: Ground, bucket: str, action: str, resource: str) -> None:
    arn = f"arn:aws:s3:::{resource}"
    statement = f'{{"Effect":"Deny","Principal":"*","Action":"{action}","Resource":"{arn}"}}'
    ground.s3.put_bucket_policy(Bucket=bucket, Policy=f'{{"Version":"2012-10-17","Statement":[{statement}]}}')


def first_delivery(ground: Ground, seconds: float = 10) -> str:
    """The key of the first manifest.checksum that appears by itself."""
    until = time.monotonic() + scaled(seconds)
    while time.monotonic() < until:
        found = [key for key, _ in ground.client.list(ground.evidence, "") if key.endswith("manifest.checksum")]
        if found:
            return found[0]
        time.sleep(0.02)
    raise AssertionError("nothing was delivered")


# -- configurations


def test_a_configuration_is_given_back_as_it_was_put(ground: Ground) -> None:
    whole = configuration(
        ground,
        "nightly",
        destination={"Format": "Parquet", "AccountId": "210987654321", "Encryption": {"SSES3": {}}},
        IncludedObjectVersions="All",
        Schedule={"Frequency": "Weekly"},
        Filter={"Prefix": "ä+b /"},
    )
    ground.s3.put_bucket_inventory_configuration(Bucket=ground.source, Id="nightly", InventoryConfiguration=whole)
    found = ground.s3.get_bucket_inventory_configuration(Bucket=ground.source, Id="nightly")
    assert found["InventoryConfiguration"] == whole


def test_a_configuration_of_the_same_id_replaces_the_first(ground: Ground) -> None:
    configure(ground)
    configure(ground, Schedule={"Frequency": "Weekly"})
    listed = ground.s3.list_bucket_inventory_configurations(Bucket=ground.source)["InventoryConfigurationList"]
    assert [one["Schedule"]["Frequency"] for one in listed] == ["Weekly"]


def test_a_deleted_configuration_is_missing_and_its_bucket_stays(ground: Ground) -> None:
    ground.fill("a")
    configure(ground)
    ground.s3.delete_bucket_inventory_configuration(Bucket=ground.source, Id="nightly")
    for call in (ground.s3.get_bucket_inventory_configuration, ground.s3.delete_bucket_inventory_configuration):
        with pytest.raises(ClientError, match="NoSuchConfiguration"):
            call(Bucket=ground.source, Id="nightly")
    assert ground.client.exists(ground.source, "a")


@pytest.mark.slow
def test_a_list_has_pages_of_a_hundred_and_a_bucket_takes_a_thousand(ground: Ground) -> None:
    for number in range(1000):
        configure(ground, f"i{number:03}")
    with pytest.raises(ClientError, match="TooManyConfigurations"):
        configure(ground, "one-more")
    configure(ground, "i000", Schedule={"Frequency": "Weekly"})
    sizes, names, token = [], [], {}
    while True:
        page = ground.s3.list_bucket_inventory_configurations(Bucket=ground.source, **token)
        sizes.append(len(page["InventoryConfigurationList"]))
        names += [one["Id"] for one in page["InventoryConfigurationList"]]
        if not page["IsTruncated"]:
            break
        token = {"ContinuationToken": page["NextContinuationToken"]}
    assert (set(sizes), len(sizes)) == ({100}, 10)
    assert names == [f"i{number:03}" for number in range(1000)]


@pytest.mark.parametrize(
    "changed",
    [
        {"Id": "another"},
        {"IncludedObjectVersions": "Some"},
        {"Schedule": {"Frequency": "Hourly"}},
        {"OptionalFields": ["Colour"]},
        {"destination": {"Format": "JSON"}},
        {"destination": {"Bucket": "no-arn"}},
    ],
)
def test_a_configuration_that_s3_would_refuse_is_refused(ground: Ground, changed: dict[str, Any]) -> None:
    with pytest.raises(ClientError, match="InvalidArgument"):
        configure(ground, **changed)


def test_a_bucket_that_is_not_there_has_no_configurations(ground: Ground) -> None:
    with pytest.raises(ClientError, match="NoSuchBucket"):
        ground.s3.list_bucket_inventory_configurations(Bucket="no-such-bucket-here")


# -- what is delivered


@pytest.mark.parametrize("file_format", FORMATS)
def test_hostile_keys_and_an_empty_object_are_listed_in_every_format(ground: Ground, file_format: str) -> None:
    ground.fill(*HOSTILE)
    ground.client.put(ground.source, "empty", b"")
    configure(ground, destination={"Format": file_format})
    found = {row["key"]: row for row in rows(ground, delivered(ground, parts=3))}
    assert set(found) == {*HOSTILE, "empty"}
    assert {row["bucket"] for row in found.values()} == {ground.source}
    for key, row in found.items():
        head = ground.s3.head_object(Bucket=ground.source, Key=key)
        assert (int(row["size"]), f'"{row["e_tag"]}"') == (head["ContentLength"], head["ETag"])
        assert (row["storage_class"], moment(row["last_modified_date"])) == ("STANDARD", head["LastModified"])


def moment(value: object) -> datetime:
    """Whole seconds, as the headers of S3 have them; times of ORC and Parquet carry no zone and are UTC."""
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    assert isinstance(found, datetime)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).replace(microsecond=0)


def test_keys_are_encoded_in_csv_alone(ground: Ground) -> None:
    ground.fill("a b+c")
    configure(ground, "csv")
    configure(ground, "parquet", destination={"Format": "Parquet"})
    in_csv, in_parquet = (
        ground.client.get(ground.evidence, manifest_of(ground, delivered(ground, name)).parts[0].key)
        for name in ("csv", "parquet")
    )
    assert b'"a%20b%2Bc"' in gzip.decompress(in_csv)
    assert b"a b+c" in in_parquet


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_list_of_the_current_has_neither_old_versions_nor_delete_markers(ground: Ground, file_format: str) -> None:
    versions(ground)
    configure(ground, destination={"Format": file_format})
    found = rows(ground, delivered(ground))
    assert [(row["key"], int(row["size"])) for row in found] == [("a", 6)]
    assert "version_id" not in found[0]


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_list_of_all_versions_names_each_with_the_latest_and_delete_markers(ground: Ground, file_format: str) -> None:
    ids = versions(ground)
    configure(ground, destination={"Format": file_format}, IncludedObjectVersions="All")
    found = {row["version_id"] or "": row for row in rows(ground, delivered(ground))}
    said = {
        name: (row["key"], str(row["is_latest"]).lower(), str(row["is_delete_marker"]).lower())
        for name, row in found.items()
    }
    assert said == {
        "": ("a", "false", "false"),
        ids["a"]: ("a", "true", "false"),
        ids["b"]: ("b", "false", "false"),
        ids["b deleted"]: ("b", "true", "true"),
    }
    assert not found[ids["b deleted"]]["size"]


def versions(ground: Ground) -> dict[str, str]:
    """a: a null version and a newer one; b: one version and a delete marker."""
    ground.client.put(ground.source, "a", b"old")
    ground.s3.put_bucket_versioning(Bucket=ground.source, VersioningConfiguration={"Status": "Enabled"})
    newer = ground.s3.put_object(Bucket=ground.source, Key="a", Body=b"second")["VersionId"]
    first = ground.s3.put_object(Bucket=ground.source, Key="b", Body=b"b")["VersionId"]
    marker = ground.s3.delete_object(Bucket=ground.source, Key="b")["VersionId"]
    return {"a": newer, "b": first, "b deleted": marker}


@pytest.mark.parametrize("file_format", FORMATS)
def test_every_optional_column_can_be_asked_for(ground: Ground, file_format: str) -> None:

    from sandbox.control.inventories import UNPLAYED
    from sandbox.control.inventory_rows import OPTIONAL

    ground.fill("a")
    ground.s3.put_object(Bucket=ground.source, Key="cold", Body=b"", StorageClass="GLACIER", ChecksumAlgorithm="SHA256")
    configure(ground, destination={"Format": file_format}, OptionalFields=[*reversed(OPTIONAL), *UNPLAYED])
    key = delivered(ground)
    assert manifest_of(ground, key).columns == ("bucket", "key", *(column.name for column in OPTIONAL.values()))
    plain, cold = rows(ground, key)
    assert (plain["storage_class"], cold["storage_class"]) == ("STANDARD", "GLACIER")
    assert (plain["encryption_status"], cold["checksum_algorithm"]) == ("SSE-S3", "SHA256")
    assert plain["is_multipart_uploaded"] in {"false", False}
    assert plain["object_lock_mode"] in {"", None}


def test_an_object_uploaded_in_parts_is_told_from_others(ground: Ground) -> None:
    ground.fill("whole")
    place = {"Bucket": ground.source, "Key": "parts"}
    upload = {"UploadId": ground.s3.create_multipart_upload(**place)["UploadId"]}
    etag = ground.s3.upload_part(**place, **upload, PartNumber=1, Body=b"x")["ETag"]
    ground.s3.complete_multipart_upload(**place, **upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": etag}]})
    configure(ground, OptionalFields=["IsMultipartUploaded", "ETag"])
    found = {row["key"]: row for row in rows(ground, delivered(ground))}
    assert [found[key]["is_multipart_uploaded"] for key in ("parts", "whole")] == ["true", "false"]
    assert found["parts"]["e_tag"].endswith("-1")


def test_a_list_without_optional_columns_has_bucket_and_key(ground: Ground) -> None:
    ground.fill("a")
    configure(ground, OptionalFields=[])
    assert rows(ground, delivered(ground)) == [{"bucket": ground.source, "key": "a"}]


def test_a_prefix_keeps_everything_else_out(ground: Ground) -> None:
    ground.fill("warehouse/a", "warehouse2/b", "other")
    configure(ground, Filter={"Prefix": "warehouse/"})
    assert [row["key"] for row in rows(ground, delivered(ground))] == ["warehouse/a"]


def test_an_empty_bucket_has_an_empty_list(ground: Ground) -> None:
    for file_format in FORMATS:
        configure(ground, file_format, destination={"Format": file_format})
        assert rows(ground, delivered(ground, file_format)) == []


def test_a_delivery_lies_where_s3_puts_it_and_names_its_files_for_hive(ground: Ground) -> None:
    ground.fill("a")
    configure(ground)
    key = delivered(ground, began_at="2026-11-01T02:03:04+00:00")
    home = f"inventory/{ground.source}/nightly"
    assert key == f"{home}/2026-11-01T02-03Z/manifest.json"
    found = manifest_of(ground, key)
    assert found.created_at == datetime(2026, 11, 1, 2, 3, 4, tzinfo=UTC)
    assert found.destination_bucket == ground.evidence
    symlink = ground.client.get(ground.evidence, f"{home}/hive/dt=2026-11-01-02-03/symlink.txt").decode()
    assert symlink == "".join(f"s3://{ground.evidence}/{part.key}\n" for part in found.parts)


# -- late, stale, broken, denied


def test_an_inventory_lacks_what_was_written_after_its_moment(ground: Ground) -> None:
    ground.client.put(ground.source, "old", b"", modified_at=time.time() - 7200)
    ground.fill("new")
    configure(ground)
    hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    assert [row["key"] for row in rows(ground, delivered(ground, not_after=hour_ago))] == ["old"]


@pytest.mark.parametrize("file_format", FORMATS)
def test_an_inventory_may_still_hold_what_is_deleted(ground: Ground, file_format: str) -> None:
    ground.fill("here")
    configure(ground, destination={"Format": file_format})
    gone = {"key": "gone +1", "size": 7, "last_modified_date": "2026-11-01T00:00:00+00:00", "e_tag": "0" * 32}
    found = rows(ground, delivered(ground, deleted=[gone]))
    assert [(row["key"], row["storage_class"] or None) for row in found] == [("gone +1", None), ("here", "STANDARD")]
    assert int(found[0]["size"]) == 7


def verifies(ground: Ground, key: str) -> None:
    for part in manifest_of(ground, key).parts:
        if not ground.client.exists(ground.evidence, part.key):
            raise FileUnreadable(f"{part.key} is not there")
        verify_part(part, [ground.client.get(ground.evidence, part.key)])


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("bad_checksum", "manifest.checksum says"),
        ("missing_part", "is not there"),
        ("other_bucket", "'another-bucket'"),
        ("truncated_part", "bytes, and the inventory's manifest says"),
    ],
)
def test_a_broken_delivery_is_told_by_what_is_broken(ground: Ground, fault: str, said: str) -> None:
    ground.fill("a", "b", "c")
    configure(ground)
    key = delivered(ground, fault=fault, parts=2)
    with pytest.raises(FileUnreadable, match=said):
        verifies(ground, key)


def test_a_delivery_that_has_not_ended_has_no_checksum(ground: Ground) -> None:
    configure(ground)
    key = delivered(ground, fault="no_checksum")
    assert ground.client.exists(ground.evidence, key)
    assert not ground.client.exists(ground.evidence, f"{key.removesuffix('json')}checksum")


@pytest.mark.parametrize(("how", "status"), [({"fault": "haunted"}, 400), ({"colour": 1}, 400), ({"parts": "x"}, 400)])
def test_a_delivery_that_cannot_be_made_is_refused(ground: Ground, how: dict[str, Any], status: int) -> None:
    configure(ground)
    assert ask(ground, **how).status == status


def test_nothing_is_delivered_for_a_configuration_that_is_not_there(ground: Ground) -> None:
    assert ask(ground, "no-such").status == 404


def test_a_destination_that_denies_the_write_gets_nothing(ground: Ground) -> None:
    deny(ground, ground.evidence, "s3:PutObject", f"{ground.evidence}/*")
    configure(ground)
    answer = ask(ground)
    assert (answer.status, b"s3:PutObject" in answer.data) == (403, True)
    assert not list(ground.client.list(ground.evidence, ""))


def test_a_destination_that_is_not_there_gets_nothing(ground: Ground) -> None:
    configure(ground, destination={"Bucket": "arn:aws:s3:::no-such-bucket-here"})
    assert ask(ground).status == 404


def test_an_enabled_configuration_is_delivered_by_itself(ground: Ground) -> None:
    ground.fill("a")
    ground.rules(delivery_seconds=0.1)
    configure(ground, IsEnabled=True)
    checksum = first_delivery(ground)
    assert [row["key"] for row in rows(ground, f"{checksum.removesuffix('checksum')}json")] == ["a"]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["deleted", "disabled"])
def test_a_configuration_that_is_deleted_or_disabled_in_time_delivers_nothing(ground: Ground, end: str) -> None:
    ground.rules(delivery_seconds=scaled(0.4))
    configure(ground, IsEnabled=True)
    ends: dict[str, Callable[[], object]] = {
        "deleted": lambda: ground.s3.delete_bucket_inventory_configuration(Bucket=ground.source, Id="nightly"),
        "disabled": lambda: configure(ground),
    }
    ends[end]()
    time.sleep(scaled(0.6))
    assert not list(ground.client.list(ground.evidence, ""))
