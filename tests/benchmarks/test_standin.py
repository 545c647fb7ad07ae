"""The stand-in answers as S3 and DynamoDB do, or the benchmarks would measure something else."""

import pytest

from benchmarks.dynamodb_scan import entries, scan_with_boto3, scan_with_levee
from benchmarks.standin import serve
from lake.aws.access import Access, open_lake
from lake.aws.buckets import describe_bucket

pytestmark = pytest.mark.process

OBJECTS = {("lake", key): key.encode() for key in ("a b/1", "a b/2", "c/1+", "c/2", "d", "é/😀")}
ITEMS = list(entries(1_200))


@pytest.fixture(scope="module")
def standin():
    with serve(OBJECTS, {"delta_log": ITEMS}, processes=2) as running:
        yield running


@pytest.fixture
def lake(standin):
    with open_lake(Access("us-east-1", endpoint_url=standin.url, static_credentials=("key", "secret"))) as opened:
        yield opened


def keys_of(pages):
    return [summary.key for page in pages for summary in page.objects]


@pytest.mark.parametrize("max_keys", [1, 2, 1000])
def test_a_listing_is_in_order_whatever_the_page(lake, max_keys):
    assert keys_of(lake.s3.list("lake", "", max_keys=max_keys)) == sorted(key for _, key in OBJECTS)


@pytest.mark.parametrize("max_keys", [1, 1000])
def test_a_folder_is_named_once(lake, max_keys):
    pages = list(lake.s3.list("lake", "", delimiter="/", max_keys=max_keys))
    assert [prefix for page in pages for prefix in page.prefixes] == ["a b/", "c/", "é/"]
    assert keys_of(pages) == ["d"]


def test_a_listing_begins_behind_start_after(lake):
    assert keys_of(lake.s3.list("lake", "c/", start_after="c/1+")) == ["c/2"]


def test_ranges_and_heads_are_served(lake):
    assert lake.s3.get("lake", "c/1+", first=2, last=2).data == b"1"
    assert lake.s3.get("lake", "c/1+", first=-2).data == b"1+"
    assert lake.s3.head("lake", "d").size == 1
    assert lake.s3.head("lake", "absent") is None


def test_a_query_runs_both_ways(lake):
    path = ITEMS[0]["tablePath"]["S"]
    [forward] = lake.dynamodb.query("delta_log", "tablePath", path)
    [newest] = lake.dynamodb.query("delta_log", "tablePath", path, newest_first=True, limit=1)
    [later] = lake.dynamodb.query(
        "delta_log", "tablePath", path, range_name="fileName", at_least=forward[1]["fileName"]["S"]
    )
    assert (forward[-1:], forward[1:]) == (newest, later)
    assert [item["fileName"]["S"][18:20] for item in forward] == ["00", "01", "02"]


def test_an_item_is_found_by_its_key(lake):
    key = {name: ITEMS[7][name] for name in ("tablePath", "fileName")}
    assert lake.dynamodb.get_item("delta_log", key) == ITEMS[7]
    assert lake.dynamodb.get_item("delta_log", key | {"fileName": {"S": "x"}}) is None


def test_a_table_describes_its_keys(lake):
    store = lake.dynamodb.describe("delta_log")
    assert [name for name, *_ in store.key_schema] == ["tablePath", "fileName"]
    assert store.item_count == len(ITEMS)


def test_settings_of_a_bucket_are_unknown(lake):
    assert len(describe_bucket(lake, "lake").unknown) == 3


def test_both_scans_see_every_item(standin):
    assert scan_with_levee(standin.url) == scan_with_boto3(standin.url) == len(ITEMS)


def test_its_cpu_is_known(standin, lake):
    assert standin.cpu_seconds() >= 0.0
