"""The writer stops after each step in the state the protocol names; the next one takes over as upstream does."""

import itertools

import pytest

from sandbox import ground
from sandbox.log_store_writer import LogStoreTable, Step, file_name
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
        (Step.PREVIOUS_SETTLED, [], None),
        (Step.TEMP_FILE_WRITTEN, ["temp"], None),
        (Step.ENTRY_PREPARED, ["temp"], False),
        (Step.PUBLISHED, ["temp", "file"], False),
        (Step.COMPLETED, ["temp", "file"], True),
    ],
)
def test_a_writer_that_dies_leaves_the_named_state_and_the_next_one_goes_on(
    table: LogStoreTable, step: Step, on_s3: list[str], entry: bool | None
) -> None:
    table.commit(1, SECOND, stop_after=step)
    assert sorted(names(table, 1)) == sorted(on_s3)
    assert complete(table, 1) is entry
    if entry is not None:
        table.commit(2, b"third\n")
        assert (table.read(file_name(1)), complete(table, 1)) == (SECOND, True)
