"""Reading a whole log store: Levee's scan against a boto3 paginator, four segments in threads each."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
from botocore.config import Config

from benchmarks.answers import StoredTable, reading
from benchmarks.harness import asked, compete, ratio_line, tell
from benchmarks.server import serve
from lake.aws.access import Access, open_lake

ITEMS = 1_000_000
TABLES = 500
SEGMENTS = 4
LATENCY_SECONDS = 0.030
LEVEE, BOTO3 = "levee", "boto3 paginator"


def entries(count: int) -> Iterator[dict[str, Any]]:
    """Items of a log store shared by 500 tables, as S3DynamoDBLogStore writes them."""
    for number in range(count):
        version, table = divmod(number, TABLES)
        yield {
            "tablePath": {"S": f"s3a://acme-lake-prod/warehouse/sales/orders_{table:05}"},
            "fileName": {"S": f"{version:020}.json"},
            "tempPath": {"S": f".tmp/{version:020}.json.{number:08x}-2b7c-4f0e-9d55-6a1f0c3e7b21"},
            "complete": {"S": "true"},
            "expireTime": {"N": str(1_790_000_000 + number)},
        }


def scan_with_levee(url: str) -> int:
    with open_lake(Access("us-east-1", endpoint_url=url, static_credentials=("key", "secret"))) as lake:
        return sum(len(page) for page in lake.dynamodb.scan("delta_log", segments=SEGMENTS))


def scan_with_boto3(url: str) -> int:
    client = boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",  # noqa: S106 - the stand-in checks no signature
        config=Config(max_pool_connections=SEGMENTS),
    )
    paginator = client.get_paginator("scan")

    def segment(number: int) -> int:
        pages = paginator.paginate(TableName="delta_log", Segment=number, TotalSegments=SEGMENTS, ConsistentRead=True)
        return sum(len(page["Items"]) for page in pages)

    with ThreadPoolExecutor(SEGMENTS) as pool:
        return sum(pool.map(segment, range(SEGMENTS)))


def main() -> None:
    """LEVEE_BENCH_ITEMS sets another number of items."""
    count = asked("ITEMS", ITEMS)
    table = StoredTable("delta_log", "tablePath", "fileName", entries(count))
    with serve(reading({}, {"delta_log": table}), latency=LATENCY_SECONDS) as standin:
        contest = compete({LEVEE: lambda: scan_with_levee(standin.url), BOTO3: lambda: scan_with_boto3(standin.url)})
        assert contest.laps[LEVEE][0].result == count, "items were lost"
        tell(f"Scan of {count:,} log store items, {SEGMENTS} segments, {LATENCY_SECONDS * 1000:.0f} ms a page", contest)
        ratio_line(contest, LEVEE, BOTO3, at_most=1 / 3)
        wall = sum(lap.wall for laps in contest.laps.values() for lap in laps)
        print(f"The stand-in used {standin.cpu_seconds():.1f} CPU seconds in {wall:.1f} s.")


if __name__ == "__main__":
    main()
