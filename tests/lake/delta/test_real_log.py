"""The log of a table written by delta-rs, read back with our own readers."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lake.delta.actions import read_commit
from lake.delta.checkpoint import read_checkpoint_state
from lake.delta.listing import read_listing
from lake.delta.replay import fold_protocol, plan_protocol_reads
from tests.builders.delta import ListedObject
from tests.lazily import lazily

DeltaTable = lazily("deltalake", "DeltaTable")
pa = lazily("pyarrow")
write_deltalake = lazily("deltalake", "write_deltalake")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Six versions, a checkpoint at 3, a property set at 5."""
    root = tmp_path_factory.mktemp("orders")
    for number in range(4):
        rows = pa.table({"id": [number, number + 1], "day": ["mon", "tue"]})
        write_deltalake(root, rows, mode="append", partition_by=["day"], name="orders")
    DeltaTable(root).create_checkpoint()
    write_deltalake(root, pa.table({"id": [9], "day": ["wed"]}), mode="append")
    DeltaTable(root).alter.set_table_properties({"delta.logRetentionDuration": "interval 90 days"})
    return DeltaTable(root), root / "_delta_log"


def listing_of(log: Path):
    def listed(path: Path) -> ListedObject:
        stat = path.stat()
        return ListedObject(str(path.relative_to(log)), stat.st_size, datetime.fromtimestamp(stat.st_mtime, UTC))

    return read_listing([listed(path) for path in log.rglob("*") if path.is_file()], "", folders_listed=True)


def read_range(path: Path):
    data = path.read_bytes()
    return lambda first, last: data[first : last + 1]


def fold(log: Path):
    plan = plan_protocol_reads(listing_of(log))
    assert plan.problems == ()
    parts = [read_checkpoint_state(read_range(log / part.name), part.size, part.name) for part in plan.checkpoint]
    parts += [read_commit(version, (log / found.name).read_bytes()) for version, found in plan.commits]
    assert [part.problems for part in parts] == [()] * len(parts)
    return plan, fold_protocol(parts)


def test_the_state_is_the_one_that_delta_rs_reports(table):
    delta, log = table
    _, state = fold(log)
    theirs, metadata = delta.protocol(), delta.metadata()
    assert state.version == delta.version()
    assert (state.reader_version, state.writer_version) == (theirs.min_reader_version, theirs.min_writer_version)
    assert (state.table_id, state.name) == (str(metadata.id), metadata.name)
    assert state.partition_columns == tuple(metadata.partition_columns)
    assert state.properties == metadata.configuration == {"delta.logRetentionDuration": "interval 90 days"}


def test_commits_tell_their_operations_and_files(table):
    delta, log = table
    infos = [read_commit(version, (log / f"{version:020d}.json").read_bytes()).info for version in range(6)]
    history = {entry["version"]: entry for entry in delta.history()}
    assert [info.operation for info in infos] == [history[version]["operation"] for version in range(6)]
    assert [info.timestamp for info in infos] == [history[version]["timestamp"] for version in range(6)]
    assert [info.added_files for info in infos] == [2, 2, 2, 2, 1, 0]
    assert all("delta-rs" in info.engine for info in infos)
