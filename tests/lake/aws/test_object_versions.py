"""Older versions of one object."""

import pytest

from lake.aws.errors import AwsError
from lake.aws.object_versions import older_versions
from tests.lake.aws.stub import Reply

KEY = "orders/_delta_log/.tmp/a b+c%41é.json"


@pytest.fixture
def versioned(s3, bucket):
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    return bucket


def test_a_deleted_object_leaves_its_versions_newest_first_and_the_time_of_its_deletion(lake, s3, versioned):
    for data in (b"one", b"three"):
        s3.put_object(Bucket=versioned, Key=KEY, Body=data)
    s3.put_object(Bucket=versioned, Key=f"{KEY}.crc", Body=b"a neighbour")
    s3.delete_object(Bucket=versioned, Key=KEY)

    found = older_versions(lake.s3, versioned, KEY)

    assert [one.size for one in found.versions] == [5, 3]
    bodies = [s3.get_object(Bucket=versioned, Key=KEY, VersionId=one.version_id) for one in found.versions]
    assert [body["Body"].read() for body in bodies] == [b"three", b"one"]
    assert [one.etag for one in found.versions] == [body["ETag"].strip('"') for body in bodies]
    assert found.deleted_at is not None
    assert found.is_complete


def test_the_object_that_is_there_is_no_older_version(lake, s3, versioned):
    s3.put_object(Bucket=versioned, Key=KEY, Body=b"first")
    s3.put_object(Bucket=versioned, Key=KEY, Body=b"second!")

    assert [one.size for one in older_versions(lake.s3, versioned, KEY).versions] == [5]


def _listing(*keys: str, truncated: str = "false") -> Reply:
    rows = "".join(
        f"<Version><Key>{key}</Key><VersionId>v</VersionId><IsLatest>false</IsLatest><Size>1</Size>"
        "<LastModified>2026-11-22T06:39:02.000Z</LastModified><ETag>&quot;e&quot;</ETag></Version>"
        for key in keys
    )
    head = "<?xml version='1.0'?><ListVersionsResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>"
    return Reply(body=f"{head}<IsTruncated>{truncated}</IsTruncated>{rows}</ListVersionsResult>".encode())


@pytest.mark.parametrize(("keys", "is_complete"), [(("k",), False), (("k", "k.crc"), True)])
def test_a_page_that_ends_within_the_versions_of_the_key_is_not_all_of_them(stub_lake, stub, keys, is_complete):
    stub.play(_listing(*keys, truncated="true"))

    assert older_versions(stub_lake.s3, "lake", "k").is_complete is is_complete


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>k</Key></Contents></ListBucketResult>",
        b"<ListVersionsResult></ListVersionsResult>",
        b"<ListVersionsResult><IsTruncated>false</IsTruncated><Version><Key>k</Key></Version></ListVersionsResult>",
        b"<ListVersionsResult><IsTruncated>",
    ],
)
def test_an_answer_that_is_no_list_of_versions_never_says_that_there_are_none(stub_lake, stub, body):
    stub.play(Reply(body=body))

    with pytest.raises(AwsError) as caught:
        older_versions(stub_lake.s3, "lake", "k")

    assert caught.value.code == "MalformedAnswer"
