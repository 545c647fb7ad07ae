"""S3 against a whole server: what is written is read back, whatever its key."""

from datetime import UTC

import pytest

from lake.aws.errors import AwsError

HOSTILE_KEYS = [
    "with space/a b.json",
    "plus+sign",
    "percent%20literal",
    "country=DE/part=1",
    "ünïcödé/データ/😀.json",
    "a//b/",
    "a/./b/../c",
    "quote'\"<&>",
    "tilde~star*(brackets)!",
    "question?mark#hash;semi,comma:colon@at$dollar",
    "tab\tinside",
    "_delta_log/.tmp/00000000000000000007.json.0aa",
]


def keys_of(pages):
    return [summary.key for page in pages for summary in page.objects]


def test_a_summary_has_size_time_and_etag(lake, s3, bucket):
    put = s3.put_object(Bucket=bucket, Key="k", Body=b"12345")
    [page] = lake.s3.list(bucket, "")
    [summary] = page.objects
    assert (summary.size, summary.etag) == (5, put["ETag"].strip('"'))
    assert summary.modified_at.tzinfo is UTC
    assert lake.s3.head(bucket, "k").etag == summary.etag


def test_listing_goes_on_over_pages(lake, s3, bucket):
    expected = [f"log/{n:03}" for n in range(25)]
    for key in expected:
        s3.put_object(Bucket=bucket, Key=key, Body=b"")
    pages = list(lake.s3.list(bucket, "log/", max_keys=10))
    assert [len(page.objects) for page in pages] == [10, 10, 5]
    assert keys_of(pages) == expected


def test_pages_are_asked_for_only_when_wanted(lake, s3, bucket):
    for n in range(5):
        s3.put_object(Bucket=bucket, Key=f"k{n}", Body=b"")
    next(lake.s3.list(bucket, "", max_keys=1))
    assert lake.requests.by_operation == {"s3:ListObjectsV2": 1}


def test_start_after_leaves_out_its_own_key(lake, s3, bucket):
    for key in ("a", "b", "c +", "c +d"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"")
    assert keys_of(lake.s3.list(bucket, "", start_after="b")) == ["c +", "c +d"]
    assert keys_of(lake.s3.list(bucket, "", start_after="c +")) == ["c +d"]


def test_a_delimiter_gives_prefixes(lake, s3, bucket):
    for key in ("t/a b/1", "t/ü+/1", "t/2"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"")
    [page] = lake.s3.list(bucket, "t/", delimiter="/")
    assert page.prefixes == ("t/a b/", "t/ü+/")
    assert [summary.key for summary in page.objects] == ["t/2"]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(2, 4, b"234"), (7, None, b"789"), (-3, None, b"789"), (None, 1, b"01"), (-100, None, b"0123456789")],
)
def test_a_range_brings_its_bytes_and_the_whole_size(lake, s3, bucket, first, last, expected):
    s3.put_object(Bucket=bucket, Key="k", Body=b"0123456789")
    body = lake.s3.get(bucket, "k", first=first, last=last)
    assert (body.data, body.size) == (expected, 10)


def test_a_range_behind_the_end_is_an_error(lake, s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"0123456789")
    with pytest.raises(AwsError) as raised:
        lake.s3.get(bucket, "k", first=10)
    assert raised.value.code == "InvalidRange"


def test_the_tail_of_an_empty_object_is_empty(lake, s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"")
    body = lake.s3.get(bucket, "k", first=-8)
    assert (body.data, body.size) == (b"", 0)


def test_an_absent_object_is_missing(lake, bucket):
    with pytest.raises(AwsError) as raised:
        lake.s3.get(bucket, "absent")
    assert raised.value.is_missing
    assert f"s3://{bucket}/absent" in str(raised.value)
