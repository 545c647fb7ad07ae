"""The sample tables are valid Delta, and each is in the state it stands for."""

import json
import time
import tomllib
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from coordinator.protocols.bucket_tables import TableInBucket, WaitingFile
from coordinator.protocols.buckets import judge_bucket
from coordinator.protocols.verdict import State
from lake.aws.access import Access, open_lake
from lake.aws.buckets import describe_bucket
from sandbox import ground
from sandbox.client import REGION
from sandbox.log_store_tables import SAMPLES, Sample, temp_prefixes
from sandbox.log_store_writer import Entry, LogStoreTable, file_name
from tests.sandboxlake import sandbox_began, sandbox_lake

pytestmark = pytest.mark.process

READABLE = [sample for sample in SAMPLES if sample.commits]


def sample(name: str) -> Sample:
    return next(sample for sample in SAMPLES if sample.key.endswith(f"/{name}"))


def table(name: str, scheme: str = "s3a") -> LogStoreTable:
    found = sample(name)
    return LogStoreTable(sandbox_lake(), found.store, found.bucket, found.key, scheme)


def items(name: str, scheme: str = "s3a") -> list[dict[str, Any]]:
    found = table(name, scheme)
    condition = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": found.table_path}]}
    answer: list[dict[str, Any]] = found.client.dynamodb(
        "Query", TableName=found.store, KeyConditions={"tablePath": condition}
    )["Items"]
    return answer


def newest(name: str) -> Entry:
    entry = table(name).newest_entry()
    assert entry is not None
    return entry


def exists(name: str, file: str) -> bool:
    found = sample(name)
    return sandbox_lake().exists(found.bucket, f"{found.key}/_delta_log/{file}")


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

    keys = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox", "AWS_ALLOW_HTTP": "true"}
    options = keys | {"AWS_ENDPOINT_URL": sandbox_lake().origin, "AWS_REGION": REGION}
    delta = DeltaTable(found.uri, storage_options=options)
    assert delta.version() == max(published(found.key.rpartition("/")[2]))
    assert delta.to_pyarrow_table().num_rows >= 20 * min(delta.version(), 2)


def test_the_samples_have_names_of_their_own() -> None:
    assert len({sample.uri for sample in SAMPLES}) == len(SAMPLES)
    assert len({sample.key.rpartition("/")[2] for sample in SAMPLES}) == len(SAMPLES)


@pytest.mark.parametrize("name", ["orders", "sessions", "payments"])
def test_a_healthy_table_ends_complete_and_published(name: str) -> None:
    assert newest(name).complete
    assert newest(name).version == max(published(name))


def test_entries_past_their_life_are_gone_where_ttl_works() -> None:
    assert min(int(item["expireTime"]["N"]) for item in items("orders")) > sandbox_began()
    assert len(items("orders")) < len(published("orders")) == 60


def test_entries_past_their_life_stay_where_ttl_is_off() -> None:
    assert len(items("payments")) == len(published("payments"))


def test_a_pending_commit_waits_in_its_temp_file() -> None:
    assert not newest("order_items").complete
    assert exists("order_items", newest("order_items").temp_path)
    assert not exists("order_items", newest("order_items").file_name)


def test_a_rule_takes_a_pending_commit_within_four_days() -> None:
    found, entry = sample("order_items"), newest("order_items")
    keys = ("sandbox", "sandbox")
    with open_lake(Access(REGION, endpoint_url=sandbox_lake().origin, static_credentials=keys)) as lake:
        described = describe_bucket(lake, found.bucket)
        temp_file = lake.s3.head(found.bucket, f"{found.key}/_delta_log/{entry.temp_path}")
    assert temp_file is not None
    waiting = WaitingFile(entry.version, entry.temp_path, temp_file.modified_at, temp_file.size)

    verdict = judge_bucket(described, [TableInBucket(found.key, (waiting,))], now=datetime.now(UTC))

    assert verdict.assessment.state is State.ATTENTION
    [deadline] = verdict.deadlines
    assert deadline.at is not None
    assert timedelta(days=2) < deadline.at - datetime.now(UTC) <= timedelta(days=4)


def test_a_pending_commit_may_be_published_already() -> None:
    assert not newest("refunds").complete
    assert table("refunds").read(newest("refunds").file_name) == table("refunds").read(newest("refunds").temp_path)


def test_a_lost_file_leaves_its_temp_file() -> None:
    assert newest("stock_levels").complete
    assert not exists("stock_levels", newest("stock_levels").file_name)
    assert exists("stock_levels", newest("stock_levels").temp_path)


def test_a_lost_commit_leaves_nothing_but_its_entry() -> None:
    assert newest("journal_entries").complete
    assert not exists("journal_entries", newest("journal_entries").file_name)
    assert not exists("journal_entries", newest("journal_entries").temp_path)


def test_a_lost_temp_file_leaves_an_entry_that_nobody_can_finish() -> None:
    assert not newest("invoices").complete
    assert not exists("invoices", newest("invoices").temp_path)
    assert newest("invoices").version == max(published("invoices")) + 1


def test_a_spinning_writer_leaves_a_temp_file_for_each_try() -> None:
    assert newest("reservations").complete
    assert newest("reservations").version == max(published("reservations")) + 1
    assert temp_files("reservations") >= 30


def test_a_stale_entry_is_older_than_the_newest() -> None:
    incomplete = [item["fileName"]["S"] for item in items("campaigns") if item["complete"]["S"] == "false"]
    assert len(incomplete) == 1
    assert incomplete[0] < newest("campaigns").file_name


def test_losers_leave_temp_files_that_no_entry_names() -> None:
    assert temp_files("email_sends") == len(published("email_sends")) + 3


def test_a_foreign_writer_leaves_a_young_file_without_an_entry() -> None:
    missing = set(published("clicks")[-3:]) - {int(item["fileName"]["S"][:20]) for item in items("clicks")}
    assert missing == {max(published("clicks")) - 1}


def test_one_table_is_written_under_two_schemes() -> None:
    assert items("page_views", "s3a")
    assert [int(item["fileName"]["S"][:20]) for item in items("page_views", "s3")] == published("page_views")[-2:]


def test_an_old_writer_leaves_commit_times() -> None:
    marked = [item for item in items("customers_2022") if "commitTime" in item]
    assert len(marked) == 3
    assert not any("expireTime" in item for item in marked)


def test_a_table_that_was_never_created_has_one_incomplete_entry_and_no_log() -> None:
    assert [item["complete"]["S"] for item in items("crm_contacts")] == ["false"]
    assert published("crm_contacts") == []
    assert temp_files("crm_contacts") == 0


def test_commit_times_rise_and_lie_in_the_past() -> None:
    for found in READABLE:
        name = found.key.rpartition("/")[2]
        commits = [table(name).read(file_name(version)) for version in published(name)]
        times = [json.loads(commit.partition(b"\n")[0])["commitInfo"]["timestamp"] / 1000 for commit in commits]
        assert times == sorted(times)
        assert times[-1] < time.time()


@pytest.mark.parametrize(
    ("store", "attribute"),
    [(ground.DELTA_LOG, "expireTime"), (ground.DELTA_LOG_2022, "commitTime"), (ground.DELTA_LOG_FINANCE, None)],
)
def test_each_log_store_has_its_own_ttl(store: str, attribute: str | None) -> None:
    setting = sandbox_lake().dynamodb("DescribeTimeToLive", TableName=store)["TimeToLiveDescription"]
    assert setting.get("AttributeName") == attribute


def test_the_declaration_names_the_connection_the_prefixes_and_the_stores() -> None:
    declared = tomllib.loads(ground.declaration("http://127.0.0.1:5000", REGION))
    assert declared["connections"] == {"sandbox": {"region": REGION, "endpoint_url": "http://127.0.0.1:5000"}}
    assert {store["kind"] for store in declared["stores"]} == {"log_store", "commit_coordinator"}
    watched = {urlsplit(watch["uri"]).netloc for watch in declared["watch"]}
    assert watched == {sample.bucket for sample in SAMPLES}


def test_temp_prefixes_lie_below_the_log() -> None:
    assert all(prefix.endswith("/_delta_log/.tmp/") for prefix in temp_prefixes(ground.PROD))
