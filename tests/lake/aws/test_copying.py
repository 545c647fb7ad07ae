"""Copies inside S3 keep what describes an object, in one request and in parts."""

from collections.abc import Callable
from itertools import count
from typing import Any

import boto3
import pytest

from lake.aws.access import Access, Lake, open_lake
from lake.aws.copying import Copy, copy_in_parts, copy_object
from lake.aws.errors import AwsError
from sandbox.client import REGION
from tests.sandboxlake import sandbox_lake

DESCRIBED = {
    "ContentType": "application/x-parquet",
    "ContentEncoding": "gzip",
    "ContentLanguage": "de",
    "ContentDisposition": 'attachment; filename="a b.bin"',
    "CacheControl": "max-age=7",
    "Metadata": {"owner": "data platform", "x": "1"},
}
TAGS = [{"Key": "kind + more", "Value": "a+b=c"}, {"Key": "empty", "Value": ""}]
numbers = count()


def in_parts(lake: Lake, copy: Copy) -> str:
    return copy_in_parts(lake.s3, copy, part_bytes=5 * 1024**2)


def in_one(lake: Lake, copy: Copy) -> str:
    return copy_object(lake.s3, copy)


@pytest.fixture
def lake() -> Lake:
    access = Access(REGION, endpoint_url=sandbox_lake().origin, static_credentials=("sandbox", "sandbox"))
    return open_lake(access)


def boto() -> Any:
    return boto3.client(
        "s3",
        endpoint_url=sandbox_lake().origin,
        region_name=REGION,
        aws_access_key_id="sandbox",
        aws_secret_access_key="sandbox",
    )


@pytest.mark.parametrize("copy", [in_one, in_parts])
def test_metadata_and_tags_come_along(lake: Lake, copy: Callable[[Lake, Copy], str]) -> None:
    s3, bucket, body = boto(), f"copying-{next(numbers)}", bytes(6 * 1024**2)
    sandbox_lake().create_bucket(bucket)
    etag = s3.put_object(Bucket=bucket, Key="a b/ü+%.bin", Body=body, **DESCRIBED)["ETag"].strip('"')
    s3.put_object_tagging(Bucket=bucket, Key="a b/ü+%.bin", Tagging={"TagSet": TAGS})
    made = copy(lake, Copy(bucket, "a b/ü+%.bin", bucket, "to/ü+%.bin", len(body), etag))
    head = s3.head_object(Bucket=bucket, Key="to/ü+%.bin")
    assert (head["ContentLength"], head["ETag"]) == (len(body), f'"{made}"')
    assert {name: head[name] for name in DESCRIBED} == DESCRIBED
    tags = s3.get_object_tagging(Bucket=bucket, Key="to/ü+%.bin")["TagSet"]
    assert sorted(tags, key=lambda tag: tag["Key"]) == sorted(TAGS, key=lambda tag: tag["Key"])


def test_an_object_that_describes_nothing_is_copied_in_parts_too(lake: Lake) -> None:
    s3, bucket = boto(), f"copying-{next(numbers)}"
    sandbox_lake().create_bucket(bucket)
    s3.put_object(Bucket=bucket, Key="plain", Body=b"data")
    in_parts(lake, Copy(bucket, "plain", bucket, "copy", 4))
    assert s3.get_object(Bucket=bucket, Key="copy")["Body"].read() == b"data"


@pytest.mark.parametrize("copy", [in_one, in_parts])
def test_what_is_gone_is_said_to_be_and_leaves_no_upload(lake: Lake, copy: Callable[[Lake, Copy], str]) -> None:
    s3, bucket = boto(), f"copying-{next(numbers)}"
    sandbox_lake().create_bucket(bucket)
    with pytest.raises(AwsError) as raised:
        copy(lake, Copy(bucket, "gone", bucket, "copy", 4))
    assert raised.value.code in {"NoSuchKey", "NotFound"}
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)
