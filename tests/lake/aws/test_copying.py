"""Copies inside S3 keep what describes an object, in one request and in parts."""

from collections.abc import Callable
from typing import Any

import pytest

from lake.aws.access import Lake
from lake.aws.copying import Copy, copy_in_parts, copy_object
from lake.aws.errors import AwsError
from tests.lake.aws.stub import Reply, StubServer, quick

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


@pytest.mark.parametrize("copy", [in_one, in_parts])
def test_what_is_gone_is_said_to_be_and_leaves_no_upload(
    lake: Lake, s3: Any, bucket: str, copy: Callable[[Lake, Copy], str]
) -> None:
    with pytest.raises(AwsError) as raised:
        copy(lake, Copy(bucket, "gone", bucket, "copy", 4))
    assert raised.value.code in {"NoSuchKey", "NotFound"}
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)


@pytest.mark.parametrize("copy", [in_one, in_parts])
def test_the_source_has_to_be_as_it_was_seen_and_both_of_the_accounts_that_are_known(
    stub: StubServer, copy: Callable[[Lake, Copy], str]
) -> None:
    done = b"<R><UploadId>u</UploadId><ETag>e</ETag></R>"
    stub.play(Reply(200, done))
    with quick(stub.url, bucket_owners={"from": "111122223333", "to": "444455556666"}) as lake:
        copy(lake, Copy("from", "k", "to", "k", 4, etag="seen"))
    of_copies = [one.headers for one in stub.heard if "x-amz-copy-source" in one.headers]
    assert of_copies
    for headers in of_copies:
        assert headers["x-amz-expected-bucket-owner"] == "444455556666"
        assert headers["x-amz-source-expected-bucket-owner"] == "111122223333"
        assert headers["x-amz-copy-source-if-match"] == '"seen"'
    assert all("x-amz-expected-bucket-owner" in one.headers for one in stub.heard)
