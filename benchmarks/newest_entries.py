"""What the newest-entry pass costs: read units a table, as DynamoDB Local counts them in ConsumedCapacity.

Every table has entries up to a version that Levee knows; each second one has had one more commit since.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor

from coordinator.observation.newest import read_newest
from lake.aws.access import Access, Lake, open_lake
from sandbox.client import REGION, Client
from sandbox.ground import DELTA_LOG, Store, create_store
from sandbox.log_store_writer import Entry, file_name, item

TABLES = 500
KNOWN = 4
THREADS = 16
MOST_UNITS = 1.0
BATCH = 25
"""Items of one BatchWriteItem."""


def main() -> None:
    """LEVEE_BENCH_TABLES sets another number of tables."""
    # It needs the jars that only tests fetch, so that nothing but this benchmark asks for them.
    from tests.dynamodb_local import _started as start_dynamodb_local

    count = int(os.environ.get("LEVEE_BENCH_TABLES", TABLES))
    origin = start_dynamodb_local()
    create_store(Client(origin), Store(DELTA_LOG, "log_store"))
    paths = [f"s3a://acme-lake-prod/warehouse/sales/orders_{number:05}" for number in range(count)]
    _write(Client(origin), paths)
    with open_lake(Access(REGION, endpoint_url=origin, static_credentials=("key", "secret"))) as lake:
        started = time.perf_counter()
        moved_on = _look(lake, paths)
        seconds = time.perf_counter() - started
        units, requests = lake.requests.read_units / count, lake.requests.total / count
    assert moved_on == count // 2, f"{moved_on} tables had moved on, and {count // 2} were written so"
    verdict = "reached" if units <= MOST_UNITS else "MISSED"
    print(f"\nThe newest entries of {count:,} tables, in {seconds:.2f} s")
    print(f"{requests:.2f} requests a table")
    print(f"{units:.2f} read units a table, target at most {MOST_UNITS:g} {verdict}")


def _look(lake: Lake, paths: list[str]) -> int:
    """Read the newest entries of every table, and count those that have moved on."""

    def moved_on(path: str) -> bool:
        found = read_newest(lake.dynamodb, DELTA_LOG, [path], KNOWN)
        return max(entry.version or 0 for entry in found[path]) > KNOWN

    with ThreadPoolExecutor(THREADS) as pool:
        return sum(pool.map(moved_on, paths))


def _write(client: Client, paths: list[str]) -> None:
    items = [
        item(path, _entry(version)) for number, path in enumerate(paths) for version in range(KNOWN + 1 + number % 2)
    ]
    for start in range(0, len(items), BATCH):
        requests = [{"PutRequest": {"Item": one}} for one in items[start : start + BATCH]]
        answer = client.dynamodb("BatchWriteItem", RequestItems={DELTA_LOG: requests})
        assert not answer.get("UnprocessedItems"), "DynamoDB Local left items unwritten"


def _entry(version: int) -> Entry:
    name = file_name(version)
    temp_path = f".tmp/{name}.6a3b6a0e-7d6f-4c7b-9f43-0a4f2c8f2f11"
    return Entry(name, temp_path, complete=True, expire_time=int(time.time()) + 86_400)


if __name__ == "__main__":
    main()
