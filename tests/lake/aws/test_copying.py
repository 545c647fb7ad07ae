"""Copies inside S3 keep what describes an object, in one request and in parts."""

from collections.abc import Callable
from typing import Any

import pytest

from lake.aws.access import Lake
from lake.aws.copying import Copy, copy_in_parts, copy_object
from lake.aws.errors import AwsError

DESCRIBED = {
    "ContentType": "application/x-parquet",
    "ContentEncoding": "gzip",
    "ContentLanguage": "de",
    "ContentDisposition": 'attachment; filename="a b.bin"',
    "CacheControl": "max-age=7",
    "Metadata": {"owner": "data platform", "x": "1"},
}
TAGS = [{"Key": "empty", "Value": ""}, {"Key": "kind + more", "Value": "a+b=c"}]


def in_parts(lake: Lake, copy: Copy) -> str:
    return copy_in_parts(lake.s3, copy, part_bytes=5 * 1024**2)


def in_one(lake: Lake, copy: Copy) -> str:
    return copy_object(lake.s3, copy)


@pytest.mark.parametrize("copy", [in_one, in_parts])
def test_metadata_and_tags_come_along(lake: Lake, s3: Any, bucket: str, copy: Callable[[Lake, Copy], str]) -> None:
    body = bytes(6 * 1024**2)
    etag = s3.put_object(Bucket=bucket, Key="a b/ü+%.bin", Body=body, **DESCRIBED)["ETag"].strip('"')
    s3.put_object_tagging(Bucket=bucket, Key="a b/ü+%.bin", Tagging={"TagSet": TAGS})
    made = copy(lake, Copy(bucket, "a b/ü+%.bin", bucket, "to/ü+%.bin", len(body), etag))
    head = s3.head_object(Bucket=bucket, Key="to/ü+%.bin")
    assert (head["ContentLength"], head["ETag"]) == (len(body), f'"{made}"')
    assert {name: head[name] for name in DESCRIBED} == DESCRIBED
    tags = s3.get_object_tagging(Bucket=bucket, Key="to/ü+%.bin")["TagSet"]
    assert sorted(tags, key=lambda tag: str(tag["Key"])) == TAGS


def test_an_object_that_describes_nothing_is_copied_in_parts_too(lake: Lake, s3: Any, bucket: str) -> None:
    s3.put_object(Bucket=bucket, Key="plain", Body=b"data")
    in_parts(lake, Copy(bucket, "plain", bucket, "copy", 4))
    assert s3.get_object(Bucket=bucket, Key="copy")["Body"].read() == b"data"


@pytest.mark.parametrize("copy", [in_one, in_parts])
def test_what_is_gone_is_said_to_be_and_leaves_no_upload(
    lake: Lake, s3: Any, bucket: str, copy: Callable[[Lake, Copy], str]
) -> None:
    with pytest.raises(AwsError) as raised:
        copy(lake, Copy(bucket, "gone", bucket, "copy", 4))
    assert raised.value.code in {"NoSuchKey", "NotFound"}
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)
