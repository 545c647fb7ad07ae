import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.backup.inventory_manifest import InventoryManifest, read_manifest, read_schema, verify_part
from lake.backup.objects import FileUnreadable

PART = b"rows of the inventory"


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def manifest_json(**changed: Any) -> bytes:
    said = {
        "sourceBucket": "lake",
        "destinationBucket": "arn:aws:s3:::inventories",
        "version": "2016-11-30",
        "creationTimestamp": "1514944800000",
        "fileFormat": "CSV",
        "fileSchema": "Bucket, Key, Size, LastModifiedDate, ETag",
        "files": [{"key": "lake/daily/data/1.csv.gz", "size": len(PART), "MD5checksum": md5(PART)}],
    }
    return json.dumps(said | changed).encode()


def read(body: bytes) -> InventoryManifest:
    # Blanks around the checksum do not matter, nor does its case.
    return read_manifest(body, f" {md5(body).upper()}\n".encode(), source_bucket="lake")


def test_a_manifest_says_when_what_and_where() -> None:
    manifest = read(manifest_json())
    assert manifest.created_at == datetime(2018, 1, 3, 2, 0, tzinfo=UTC)
    assert manifest.destination_bucket == "inventories"
    assert manifest.columns == ("bucket", "key", "size", "last_modified_date", "e_tag")
    assert [part.key for part in manifest.parts] == ["lake/daily/data/1.csv.gz"]


SPELLINGS = {
    "CSV": "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, ETag, ObjectLockRetainUntilDate",
    "ORC": "struct<bucket:string,key:string,version_id:string,is_latest:boolean,is_delete_marker:boolean,size:bigint,"
    "e_tag:string,object_lock_retain_until_date:timestamp>",
    "Parquet": "message s3.inventory {  required binary bucket (STRING);  required binary key (UTF8);"
    "  optional binary version_id (STRING);  optional boolean is_latest;  optional boolean is_delete_marker;"
    "  optional int64 size;  optional binary e_tag (STRING);"
    "  optional int64 object_lock_retain_until_date (TIMESTAMP(MILLIS,true));}",
}


@pytest.mark.parametrize("file_format", SPELLINGS)
def test_each_format_names_the_same_columns(file_format: str) -> None:
    assert read_schema(file_format, SPELLINGS[file_format]) == (
        "bucket",
        "key",
        "version_id",
        "is_latest",
        "is_delete_marker",
        "size",
        "e_tag",
        "object_lock_retain_until_date",
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (manifest_json(sourceBucket="other"), "'other'"),
        (manifest_json(fileFormat="Avro"), "'Avro'"),
        (manifest_json(creationTimestamp="yesterday"), "cannot be read: ValueError"),
        (manifest_json(fileSchema="Key, Size"), "fileSchema"),
        (manifest_json(fileSchema="Bucket, Key, Key"), "twice"),
        (manifest_json(files=None), "cannot be read: TypeError"),
        (manifest_json(files=[{"key": "a", "size": 1}]), "cannot be read: KeyError"),
        (b"{", "cannot be read: JSONDecodeError"),
    ],
)
def test_an_unsound_manifest_is_refused_in_one_sentence(body: bytes, words: str) -> None:
    with pytest.raises(FileUnreadable, match=words) as refused:
        read(body)
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)


def test_a_wrong_checksum_is_refused() -> None:
    with pytest.raises(FileUnreadable, match=r"manifest\.checksum"):
        read_manifest(manifest_json(), b"0" * 32, source_bucket="lake")


@given(st.binary(), st.binary())
def test_a_manifest_of_any_bytes_is_read_or_refused(body: bytes, checksum: bytes) -> None:
    for said in (checksum, md5(body).encode()):
        with pytest.raises(FileUnreadable):
            read_manifest(body, said, source_bucket="lake")


def test_whole_parts_are_verified_piece_by_piece() -> None:
    [part] = read(manifest_json()).parts
    assert verify_part(part, iter([PART[:5], PART[5:]])) == len(PART)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [([], "0 bytes"), ([PART[:-1]], "20 bytes"), ([PART[:-1] + b"!"], "MD5")],
)
def test_a_part_that_is_not_the_manifests_is_refused(pieces: list[bytes], words: str) -> None:
    [part] = read(manifest_json()).parts
    with pytest.raises(FileUnreadable, match=words):
        verify_part(part, pieces)
