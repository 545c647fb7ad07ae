"""The sample tables are valid Delta, and each is in the state it stands for."""

import tomllib
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from coordinator.protocols.bucket_tables import TableInBucket, WaitingFile
from coordinator.protocols.buckets import judge_bucket
from coordinator.protocols.verdict import State
from lake.aws.access import Access, open_lake
from lake.aws.buckets import describe_bucket
from sandbox import ground
from sandbox.client import REGION
from sandbox.log_store_tables import SAMPLES, Sample
from sandbox.log_store_writer import Entry, LogStoreTable
from tests.sandboxlake import reader_options, sandbox_lake

pytestmark = pytest.mark.process

UNREADABLE = {"landing/crm_contacts", "legacy/readings_2021", "warehouse/sales/price_list"}
READABLE = [sample for sample in SAMPLES if sample.key not in UNREADABLE]


def sample(name: str) -> Sample:
    return next(sample for sample in SAMPLES if sample.key.endswith(f"/{name}"))


def items(name: str, scheme: str = "s3a") -> list[dict[str, Any]]:
    found = sample(name)
    condition = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": f"{scheme}://{found.bucket}/{found.key}"}]}
    answer: list[dict[str, Any]] = sandbox_lake().dynamodb(
        "Query", TableName=found.store, KeyConditions={"tablePath": condition}
    )["Items"]
    return answer


def newest(name: str) -> Entry:
    found = sample(name)
    entry = LogStoreTable(sandbox_lake(), found.store, found.bucket, found.key).newest_entry()
    assert entry is not None
    return entry


def published(name: str) -> list[int]:
    found = sample(name)
    keys = [key for key, _ in sandbox_lake().list(found.bucket, f"{found.key}/_delta_log/0")]
    return [int(key.rpartition("/")[2].removesuffix(".json")) for key in keys]


def temp_files(name: str) -> int:
    found = sample(name)
    return len(list(sandbox_lake().list(found.bucket, f"{found.key}/_delta_log/.tmp/")))


@pytest.mark.parametrize("found", READABLE, ids=lambda found: found.key)
def test_an_independent_reader_reads_every_row(found: Sample) -> None:
    from deltalake import DeltaTable

    delta = DeltaTable(found.uri, storage_options=reader_options(sandbox_lake()))
    assert delta.version() == max(published(found.key.rpartition("/")[2]))
    assert delta.to_pyarrow_table().num_rows >= 20 * min(delta.version(), 2)


def test_what_befell_older_commits_is_there() -> None:
    incomplete = [item["fileName"]["S"] for item in items("campaigns") if item["complete"]["S"] == "false"]
    assert len(incomplete) == 1
    assert incomplete[0] < newest("campaigns").file_name
    assert temp_files("reservations") >= 30
    assert temp_files("email_sends") == len(published("email_sends")) + 3
    missing = set(published("clicks")[-3:]) - {int(item["fileName"]["S"][:20]) for item in items("clicks")}
    assert missing == {max(published("clicks")) - 1}
    assert [int(item["fileName"]["S"][:20]) for item in items("page_views", "s3")] == published("page_views")[-2:]
    marked = [item for item in items("customers_2022") if "commitTime" in item]
    assert len(marked) == 3
    assert not any("expireTime" in item for item in marked)


def test_entries_past_their_life_are_gone_where_ttl_works_alone() -> None:
    assert len(items("orders")) < len(published("orders")) == 60
    assert len(items("payments")) == len(published("payments"))


def test_a_rule_takes_a_pending_commit_within_four_days() -> None:
    found, entry = sample("order_items"), newest("order_items")
    keys = ("sandbox", "sandbox")
    with open_lake(Access(REGION, endpoint_url=sandbox_lake().origin, static_credentials=keys)) as lake:
        described = describe_bucket(lake, found.bucket)
        temp_file = lake.s3.head(found.bucket, f"{found.key}/_delta_log/{entry.temp_path}")
    assert temp_file is not None
    waiting = WaitingFile(entry.version, entry.temp_path, temp_file.modified_at, temp_file.size)

    verdict = judge_bucket(asdict(described), [TableInBucket(found.key, (waiting,))], now=datetime.now(UTC))

    assert verdict.assessment.state is State.ATTENTION
    [deadline] = verdict.deadlines
    assert deadline.at is not None
    assert timedelta(days=2) < deadline.at - datetime.now(UTC) <= timedelta(days=4)


def test_the_declaration_names_the_connection_the_prefixes_and_the_stores() -> None:
    declared = tomllib.loads(ground.declaration("http://127.0.0.1:5000", REGION))
    assert declared["connections"] == {"sandbox": {"region": REGION, "endpoint_url": "http://127.0.0.1:5000"}}
    assert {store["kind"] for store in declared["stores"]} == {"log_store", "commit_coordinator"}
    assert len(declared["watch"]) == len({sample.bucket for sample in SAMPLES})
