"""The writer stops after each step in the state the protocol names; the next one takes over as upstream does."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from sandbox import ground
from sandbox.log_store_writer import BrokenLogError, CommitExistsError, LogStoreTable, Step, file_name
from tests.sandboxlake import sandbox_lake

pytestmark = pytest.mark.process

FIRST, SECOND = b'{"commitInfo":{}}\n', b'{"commitInfo":{"n":1}}\n'
numbers = itertools.count()


@pytest.fixture
def table() -> LogStoreTable:
    """A new table with version 0."""
    table = LogStoreTable(sandbox_lake(), ground.DELTA_LOG, ground.PROD, f"tests/writer/t{next(numbers)}")
    table.commit(0, FIRST)
    return table


def names(table: LogStoreTable, version: int) -> list[str]:
    """What lies on S3 of a version: "file", "temp"."""
    keys = [key for key, _ in table.client.list(table.bucket, f"{table.key}/_delta_log/")]
    kinds = {f"/_delta_log/{file_name(version)}": "file", f"/.tmp/{file_name(version)}.": "temp"}
    return [kind for key in keys for part, kind in kinds.items() if part in key]


def complete(table: LogStoreTable, version: int) -> bool | None:
    entry = table.entry(version)
    return None if entry is None else entry.complete


@pytest.mark.parametrize(
    ("step", "on_s3", "entry"),
    [
        pytest.param(Step.ABSENCE_CHECKED, [], None, id="C0 after the absence check"),
        pytest.param(Step.PREVIOUS_SETTLED, [], None, id="C0 after settling the previous"),
        pytest.param(Step.TEMP_FILE_WRITTEN, ["temp"], None, id="C1"),
        pytest.param(Step.ENTRY_PREPARED, ["temp"], False, id="C2"),
        pytest.param(Step.PUBLISHED, ["temp", "file"], False, id="C4"),
        pytest.param(Step.COMPLETED, ["temp", "file"], True, id="C5"),
    ],
)
def test_a_writer_that_dies_leaves_the_named_state(
    table: LogStoreTable, step: Step, on_s3: list[str], entry: bool | None
) -> None:
    table.commit(1, SECOND, stop_after=step)
    assert sorted(names(table, 1)) == sorted(on_s3)
    assert complete(table, 1) is entry


def test_the_temp_file_lies_where_the_entry_says(table: LogStoreTable) -> None:
    table.commit(1, SECOND, stop_after=Step.ENTRY_PREPARED)
    entry = table.entry(1)
    assert entry is not None
    assert entry.temp_path.startswith(f".tmp/{file_name(1)}.")
    assert table.read(entry.temp_path) == SECOND


def test_an_incomplete_entry_has_no_expiry(table: LogStoreTable) -> None:
    table.commit(1, SECOND, stop_after=Step.PUBLISHED)
    entry = table.entry(1)
    assert entry is not None
    assert entry.expire_time is None


def test_a_complete_entry_expires_a_day_after_completion(table: LogStoreTable) -> None:
    replace(table, now=1_700_000_000).commit(1, SECOND)
    entry = table.entry(1)
    assert entry is not None
    assert entry.expire_time == 1_700_000_000 + 86_400


def test_complete_is_stored_as_text(table: LogStoreTable) -> None:
    key = {"tablePath": {"S": table.table_path}, "fileName": {"S": file_name(0)}}
    stored = table.client.dynamodb("GetItem", TableName=table.store, Key=key)["Item"]
    assert stored["complete"] == {"S": "true"}


@pytest.mark.parametrize("step", [Step.ENTRY_PREPARED, Step.PUBLISHED])
def test_the_next_writer_finishes_what_a_dead_one_began(table: LogStoreTable, step: Step) -> None:
    table.commit(1, SECOND, stop_after=step)
    table.commit(2, b"third\n")
    assert table.read(file_name(1)) == SECOND
    assert complete(table, 1)


@pytest.mark.parametrize("step", [Step.ENTRY_PREPARED, Step.PUBLISHED])
def test_the_next_reader_finishes_what_a_dead_writer_began(table: LogStoreTable, step: Step) -> None:
    table.commit(1, SECOND, stop_after=step)
    table.refresh()
    assert table.read(file_name(1)) == SECOND
    assert complete(table, 1)


def test_a_reader_of_a_settled_table_changes_nothing(table: LogStoreTable) -> None:
    before = table.entry(0)
    table.refresh()
    assert table.entry(0) == before


def test_a_reader_of_a_table_without_entries_changes_nothing(table: LogStoreTable) -> None:
    elsewhere = replace(table, key="warehouse/nothing")
    elsewhere.refresh()
    assert elsewhere.newest_entry() is None


def test_recovery_without_the_temp_file_fails(table: LogStoreTable) -> None:
    table.commit(1, SECOND, stop_after=Step.ENTRY_PREPARED)
    entry = table.entry(1)
    assert entry is not None
    table.client.delete(table.bucket, f"{table.key}/_delta_log/{entry.temp_path}")
    with pytest.raises(BrokenLogError, match="cannot be repaired"):
        table.refresh()


def test_two_writers_of_one_version_have_one_winner(table: LogStoreTable) -> None:
    first, second = table.write(1, SECOND), table.write(1, b"other\n")
    while next(second) is not Step.TEMP_FILE_WRITTEN:
        continue
    assert list(first)[-1] is Step.COMPLETED
    with pytest.raises(CommitExistsError):
        next(second)
    assert table.read(file_name(1)) == SECOND
    assert names(table, 1).count("temp") == 2


def test_eight_writers_at_once_have_one_winner(table: LogStoreTable) -> None:
    def commit(number: int) -> bool:
        try:
            table.commit(1, b"%d\n" % number)
        except CommitExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(commit, range(8)))
    assert won.count(True) == 1
    assert table.read(file_name(1)) == b"%d\n" % won.index(True)


def test_a_taken_version_is_a_conflict(table: LogStoreTable) -> None:
    with pytest.raises(CommitExistsError):
        table.commit(0, SECOND)


def test_a_gap_cannot_be_committed_over(table: LogStoreTable) -> None:
    with pytest.raises(BrokenLogError, match="does in the external log store"):
        table.commit(2, SECOND)


def test_a_lost_file_stops_the_next_writer(table: LogStoreTable) -> None:
    table.commit(1, SECOND)
    table.client.delete(table.bucket, f"{table.key}/_delta_log/{file_name(1)}")
    with pytest.raises(BrokenLogError, match="does in the external log store"):
        table.commit(2, b"third\n")


def test_old_entries_stop_a_new_table_at_the_path(table: LogStoreTable) -> None:
    table.client.delete(table.bucket, f"{table.key}/_delta_log/{file_name(0)}")
    with pytest.raises(BrokenLogError, match="Old entries for table"):
        table.commit(0, SECOND)


def test_another_scheme_is_another_lock_domain(table: LogStoreTable) -> None:
    table.commit(1, SECOND, stop_after=Step.ENTRY_PREPARED)
    other = replace(table, scheme="s3")
    other.commit(1, b"other\n")
    assert other.read(file_name(1)) == b"other\n"
