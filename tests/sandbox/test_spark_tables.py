"""Real Spark with Delta's own commit coordinator, on moto behind the layer that translates its requests."""

from typing import Any

import pytest

from sandbox.coordinated import STAGED, in_commit_timestamp, registration
from sandbox.ground import PROD
from sandbox.spark_tables import RECIPES, SparkLake
from tests.lazily import lazily
from tests.sandboxlake import reader_options
from tests.sparksession import spark_lake

DeltaTable = lazily("deltalake", "DeltaTable")

__all__ = ["spark_lake"]
pytestmark = pytest.mark.spark


def item(lake: SparkLake, uri: str) -> dict[str, Any]:
    return registration(lake.client, uri)


def log_names(lake: SparkLake, uri: str) -> list[str]:
    bucket, _, key = uri.removeprefix("s3a://").partition("/")
    prefix = f"{key}/_delta_log/"
    return [found.removeprefix(prefix) for found, _ in lake.client.list(bucket, prefix)]


def published(lake: SparkLake, uri: str) -> list[int]:
    return [int(name[:20]) for name in log_names(lake, uri) if name[20:] == ".json"]


def make(lake: SparkLake, name: str) -> str:
    """Make one of Spark's sample tables, once, and return its location."""
    if name not in made:
        uri, recipe, _ = next(entry for entry in RECIPES if entry[0].endswith(f"/{name}"))
        recipe(lake, uri)
        made[name] = uri
    return made[name]


made: dict[str, str] = {}


def test_three_commits_are_accepted_and_not_backfilled(spark_lake: SparkLake) -> None:
    uri = make(spark_lake, "opportunities")
    assert published(spark_lake, uri) == [0, 1, 2]
    entries = [listed["M"] for listed in item(spark_lake, uri)["commits"]["L"]]
    assert [entry["version"] for entry in entries] == [{"N": "3"}, {"N": "4"}, {"N": "5"}]
    for entry in entries:
        key = f"warehouse/crm/opportunities/_delta_log/{STAGED}/{entry['fsName']['S']}"
        data = spark_lake.client.get(PROD, key)
        assert len(data) == int(entry["fsLength"]["N"])
        assert in_commit_timestamp(data) == int(entry["timestamp"]["N"])


def test_an_old_log_is_read_from_its_checkpoint(spark_lake: SparkLake) -> None:
    uri = make(spark_lake, "app_logs")
    assert published(spark_lake, uri) == [20, 21, 22]
    assert f"{20:020d}.checkpoint.parquet" in log_names(spark_lake, uri)
    assert DeltaTable(uri, storage_options=reader_options(spark_lake.client)).to_pyarrow_table().num_rows == 21 * 20


@pytest.mark.parametrize(
    ("name", "accepted", "newest_file", "listed"),
    [("csat_scores", 2, 1, 0), ("daily_close", 2, 1, 1), ("accounts", 4, 4, 0), ("tickets", 4, 4, 0)],
)
def test_item_and_log_are_as_the_state_wants(
    spark_lake: SparkLake, name: str, accepted: int, newest_file: int, listed: int
) -> None:
    uri = make(spark_lake, name)
    found = item(spark_lake, uri)
    assert int(found["tableVersion"]["N"]) == accepted
    assert max(published(spark_lake, uri)) == newest_file
    assert len(found["commits"]["L"]) == listed


def test_a_lost_staged_file_is_gone(spark_lake: SparkLake) -> None:
    uri = make(spark_lake, "daily_close")
    assert not [name for name in log_names(spark_lake, uri) if name.startswith(f"{STAGED}/{2:020d}")]
