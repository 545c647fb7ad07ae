"""Tables that delta-rs writes through the same endpoint."""

import pytest

from coordinator.models import Commit
from tests.coordinator.observation.accepted_and_lost import the_table
from tests.lazily import lazily

pa = lazily("pyarrow")
RustTable = lazily("deltalake", "DeltaTable")
write_deltalake = lazily("deltalake", "write_deltalake")


@pytest.fixture
def storage(endpoint) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_SECRET_ACCESS_KEY": "sandbox",
        "aws_conditional_put": "etag",
    }


def rows(start: int = 0) -> "pa.Table":
    return pa.table({"id": list(range(start, start + 10)), "day": ["mon", "tue"] * 5})


def test_a_partitioned_table_with_deletions_and_a_checkpoint_is_read(written, observe, storage):
    uri = written.uri("rust/orders").replace("s3a:", "s3:")
    configuration = {"delta.appendOnly": "false", "delta.logRetentionDuration": "interval 7 days"}
    write_deltalake(
        uri, rows(), partition_by=["day"], name="Orders", configuration=configuration, storage_options=storage
    )
    RustTable(uri, storage_options=storage).delete("day = 'mon'")
    RustTable(uri, storage_options=storage).create_checkpoint()

    observe()

    table = the_table()
    assert (table.published_version, table.partition_columns, table.delta_name) == (1, ["day"], "Orders")
    assert (table.checkpoint_version, table.state, table.mechanism) == (1, "healthy", "single_driver")
    assert (table.properties, table.problems) == (configuration, [])
    deleted = Commit.objects.get(version=1)
    assert (deleted.operation, deleted.added_files, deleted.removed_files) == ("DELETE", 0, 1)
    assert "delta-rs" in deleted.engine


def test_a_log_of_which_only_the_checkpoint_is_left_is_read_as_delta_rs_reads_it(written, observe, storage):
    uri = written.uri("rust/orders").replace("s3a:", "s3:")
    for version in range(4):
        write_deltalake(uri, rows(version), mode="append", storage_options=storage)
    RustTable(uri, storage_options=storage).create_checkpoint()
    newest = f"rust/orders/_delta_log/{3:020d}.json"
    body = written.s3.get_object(Bucket=written.bucket, Key=newest)["Body"].read()
    for version in range(4):
        written.delete(f"rust/orders/_delta_log/{version:020d}.json")

    observe()

    table = the_table()
    assert table.published_version == RustTable(uri, storage_options=storage).version() == 3
    assert (table.mechanism, table.reader_version, table.state) == ("single_driver", 1, "blocked")
    assert table.delta_id == RustTable(uri, storage_options=storage).metadata().id
    first_seen = table.findings.get(resolved_at=None, code="checkpoint-without-commit").pk
    observe()
    assert the_table().findings.get(resolved_at=None, code="checkpoint-without-commit").pk == first_seen
    written.put(newest, body)
    observe()
    assert (the_table().published_version, the_table().state) == (3, "healthy")
