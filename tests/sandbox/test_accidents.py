"""What befalls sample tables once they are in the backup, and not before."""

import time
import uuid
from dataclasses import replace
from threading import Event, Thread

import pytest

from lake.backup.objects import POINTS, BucketPrefix
from sandbox import accidents
from sandbox.growth import Growth
from sandbox.log_store_tables import SAMPLES
from tests.lazily import lazily
from tests.sandboxlake import reader_options, sandbox_lake
from tests.waiting import wait_until

DeltaTable = lazily("deltalake", "DeltaTable")
pytestmark = pytest.mark.process


def make(name: str) -> Growth:
    """The sample table of this name, in a bucket of its own."""
    bucket = f"accidents-{uuid.uuid4().hex[:8]}"
    sandbox_lake().create_bucket(bucket)
    sample = next(one for one in SAMPLES if one.key.endswith(f"/{name}"))
    return replace(sample, bucket=bucket).make(sandbox_lake())


def delta(table: Growth, version: int | None = None) -> "DeltaTable":
    return DeltaTable(table.table.table_path, version, storage_options=reader_options(sandbox_lake()))


def test_a_table_comes_to_harm_only_when_its_restore_point_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    table, told, ending = make("rewards"), [], Event()
    client, backup = table.table.client, BucketPrefix(table.table.bucket, "vault/")
    monkeypatch.setattr(accidents, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(accidents, "DELAY_SECONDS", 0.0)
    folder = f"vault/{POINTS}{table.table.bucket}/{table.table.key}"
    waiting = Thread(target=accidents.befall, args=(backup, [(table, accidents.dropped)], ending, told.append))
    client.put(backup.bucket, f"{folder}/@log/{0:020d}.json-0f0f", b"{}")
    client.put(backup.bucket, f"{folder}/@5-0f0f.jsonl.gz", b"")
    client.put(backup.bucket, f"{folder}-old/@5-0f0f.json", b"{}")
    waiting.start()
    try:
        time.sleep(0.3)
        assert not told
        assert delta(table).to_pyarrow_table().num_rows == 100

        client.put(backup.bucket, f"{folder}/@5-0f0f.json", b"{}")

        assert wait_until(lambda: told == [table], 20)
        assert list(client.list(table.table.bucket, f"{table.table.key}/")) == []
    finally:
        ending.set()
        waiting.join()


def test_a_clean_up_takes_all_days_but_the_newest_and_vacuum_their_files() -> None:
    table = make("members")
    before = delta(table).to_pyarrow_table()

    accidents.too_much_deleted(table)

    now = delta(table)
    assert (before.num_rows, now.version(), now.to_pyarrow_table().num_rows) == (200, 12, 40)
    assert [one["operation"] for one in now.history(3)] == ["WRITE", "DELETE", "WRITE"]
    with pytest.raises(Exception, match="not found"):
        delta(table, 10).to_pyarrow_table()


def test_the_only_file_of_a_commit_that_waits_is_taken() -> None:
    table = make("redemptions")
    assert table.table.read(table.newest().temp_path)

    accidents.temp_file_taken(table)

    assert not table.newest().complete
    with pytest.raises(Exception, match="NoSuchKey"):
        table.table.read(table.newest().temp_path)
    assert (delta(table).version(), delta(table).to_pyarrow_table().num_rows) == (6, 120)
