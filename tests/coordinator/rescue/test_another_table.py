"""A table dropped and another one made in its place: what was saved of the first is not put into the second."""

import json

import pytest

from coordinator.models import DeltaTable
from coordinator.repairs.rescue import table_note
from coordinator.rescue.copies import is_note
from tests.builders.delta import UUID, add, commit_bytes, commit_info, first_commit_bytes
from tests.choosing import slowly
from tests.coordinator.repairs.console import Console
from tests.coordinator.rescue import saved

pytestmark = pytest.mark.django_db
LOG = f"{saved.ORDERS}/_delta_log"


@pytest.fixture(autouse=True)
def young_count_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    saved.let_young_count_as_old(monkeypatch)


def key_of(console: Console, copy: str) -> str:
    return copy.removeprefix(f"s3a://{console.lake.bucket}/")


def remade(console: Console, *, says_times: bool) -> None:
    """Drop what lies in the log and all its entries, and make another table with as many commits."""
    for version in range(3):
        key = {"tablePath": {"S": console.lake.uri(saved.ORDERS)}, "fileName": {"S": f"{version:020d}.json"}}
        console.lake.dynamodb.delete_item(TableName=console.lake.log_store, Key=key)
    for name, _ in console.state()[0]:
        if name.startswith(LOG):
            console.lake.delete(name)
    console.lake.commit(saved.ORDERS, 0, first_commit_bytes(table_id="another"))
    for version in (1, 2):
        info = [commit_info(f"NEW {version}")] if says_times else []
        console.lake.commit(saved.ORDERS, version, commit_bytes(*info, add(f"new-{version}")))
    console.observe()
    console.observe()


def file_of_before(console: Console) -> tuple[DeltaTable, str]:
    table, _, _ = saved.removed_temp_file(console)
    return table, saved.only_copy(console, table, "temp-file")["id"]


def without_its_table(console: Console, copy: str) -> None:
    """The copy as an earlier release left it."""
    console.lake.delete(table_note(key_of(console, copy)))


@pytest.mark.parametrize("says_times", [True, False])
def test_a_copy_of_a_table_with_another_id_is_refused(console: Console, says_times: bool) -> None:
    table, copy = file_of_before(console)
    remade(console, says_times=says_times)

    assert saved.refusal(console, table, copy)["reason"] == (
        f"The copy is of the table with metaData.id '{UUID}'; the one that is here now has 'another'."
    )


def test_a_copy_without_an_id_needs_an_admin_and_says_why(console: Console) -> None:
    table, copy = file_of_before(console)
    without_its_table(console, copy)

    plan = saved.plan(console, table, copy)

    assert plan["can_lose"]
    doubt = "the copy may be of a table that was here before, since it holds no metaData.id"
    assert plan["danger"].endswith(doubt)


def test_a_copy_without_an_id_is_refused_where_the_first_commit_is_younger(console: Console) -> None:
    table, copy = file_of_before(console)
    without_its_table(console, copy)
    key = key_of(console, copy)
    folder = key.split("_levee_rescue/")[1].partition("-")[0]
    older = key.replace(folder, "20200101T000000Z")
    console.lake.put(older, console.bytes_of(key))

    refused = saved.refusal(console, table, f"s3a://{console.lake.bucket}/{older}")

    assert refused["reason"].startswith("0.json was written after the copy was saved")


def test_the_note_beside_a_file_names_its_table_and_is_no_copy(console: Console) -> None:
    table, copy = file_of_before(console)
    note = table_note(key_of(console, copy))

    assert json.loads(console.bytes_of(note)) == {"levee_rescue": 1, "metadata_id": UUID}
    assert is_note(note)
    assert not is_note(note.replace("table.json", "other.json"))
    assert [one["kind"] for one in saved.copies(console, table)] == ["temp-file"]


@pytest.mark.parametrize("note", [slowly(b""), slowly(b"[]"), b"{}", slowly(b'{"levee_rescue": 1, "metadata_id": 7}')])
def test_a_note_that_somebody_else_wrote_makes_the_copy_unusable(console: Console, note: bytes) -> None:
    table, copy = file_of_before(console)
    console.lake.put(table_note(key_of(console, copy)), note)

    assert "table.json cannot be used: " in saved.refusal(console, table, copy)["reason"]
