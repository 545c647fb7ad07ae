"""Names under the rescue folder: what Levee saved is told from what anybody put there."""

from datetime import UTC, datetime

import pytest

from coordinator.rescue.copies import CopyKind, place_of_copy, read_name
from lake.delta.uri import TableUri
from tests.builders.delta import UUID

PLACE = TableUri("s3a", "lake", "sales/orders")
FOLDER = "sales/orders/_levee_rescue/20261120T094207Z-remove-orphans-7"
TEMP = f".tmp/{7:020d}.json.{UUID}"
STAGED = f"_staged_commits/{7:020d}.{UUID}.json"


@pytest.mark.parametrize(
    ("name", "kind", "goal"),
    [
        (f"_delta_log/{TEMP}", CopyKind.TEMP_FILE, f"sales/orders/_delta_log/{TEMP}"),
        (f"_delta_log/{STAGED}", CopyKind.STAGED_FILE, f"sales/orders/_delta_log/{STAGED}"),
        (f"_delta_log/_commits/{7:020d}.{UUID}.json", CopyKind.STAGED_FILE, None),
        (f"{7:020d}.json.{UUID}.item.json", CopyKind.ENTRY, None),
        (f"registration-{UUID}.item.json", CopyKind.REGISTRATION, None),
    ],
)
def test_what_levee_saved_is_told_by_its_name(name: str, kind: CopyKind, goal: str | None) -> None:
    copy = read_name(PLACE, f"{FOLDER}/{name}")
    assert (copy.kind, copy.repair, copy.version) == (kind, "remove-orphans", 7)
    assert copy.saved_at == datetime(2026, 11, 20, 9, 42, 7, tzinfo=UTC)
    assert goal is None or copy.goal == goal
    if goal:  # a file tells its version where the repair had none
        assert read_name(PLACE, f"{FOLDER.removesuffix('-7')}/{name}").version == 7


@pytest.mark.parametrize(
    "name",
    [
        f"_delta_log/{7:020d}.json",
        f"_delta_log/{7:020d}.checkpoint.parquet",
        f"_delta_log/../../payroll/_delta_log/{TEMP}",
        f"_delta_log/.tmp/../{7:020d}.json",
        "_delta_log/.tmp/x",
        f"_delta_log/.tmp/{2**64:020d}.json.{UUID}",
        "notes.txt",
        "a/b.item.json",
        ".item.json",
        "x\n.item.json",
    ],
)
def test_what_no_repair_saves_is_no_copy(name: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        read_name(PLACE, f"{FOLDER}/{name}")


@pytest.mark.parametrize(
    "folder",
    ["20261320T094207Z-abandon-commit-7", "2026-abandon-commit", "20261120T094207Z", "20261120T094207Z-A-7", "..", ""],
)
def test_a_folder_of_another_name_holds_no_copies(folder: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        read_name(PLACE, f"sales/orders/_levee_rescue/{folder}/x.item.json")
    with pytest.raises(ValueError, match="rescue folder of this table"):
        read_name(PLACE, f"{FOLDER.replace('orders', 'other')}/{UUID}.item.json")


@pytest.mark.parametrize("key", ["sales/orders", "a b/ü%20", "a//b", ""])
def test_an_id_names_its_table_and_its_key(key: str) -> None:
    place = TableUri("s3a", "lake", key)
    folder = f"{key}/_levee_rescue" if key else "_levee_rescue"
    copy = read_name(place, f"{folder}/20261120T094207Z-abandon-commit-7/{UUID}.item.json")
    found, its_key = place_of_copy(copy.id)
    assert (found.bucket, found.key, its_key) == ("lake", key, copy.key)


@pytest.mark.parametrize(
    "text", ["", "x", "s3a://lake/sales/orders", "s3a://lake/_levee_rescue/", "https://a/_levee_rescue/x"]
)
def test_a_text_that_names_no_copy_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="names no saved copy"):
        place_of_copy(text)
