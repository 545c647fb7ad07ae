"""When a file is not put back, or only on an admin's word: what could let anybody see another state of the table."""

import pytest

from coordinator.models import CommitStore, DeltaTable
from coordinator.repairs.table_under_repair import TableUnderRepair
from tests.builders.delta import EPOCH_MS, registration_item
from tests.coordinator.repairs.console import Console
from tests.coordinator.rescue import saved

pytestmark = pytest.mark.django_db
LOG = f"{saved.ORDERS}/_delta_log"
OTHERS = f"{saved.ORDERS}/_levee_rescue/20261120T094207Z-abandon-commit-3"
LATER = OTHERS.replace("2026", "2099")


@pytest.fixture(autouse=True)
def young_count_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    saved.let_young_count_as_old(monkeypatch)


def reason(console: Console, table: DeltaTable, kind: str = "entry") -> str:
    copy = saved.only_copy(console, table, kind)
    return str(saved.refusal(console, table, copy["id"])["reason"])


def test_a_file_that_no_item_names_is_put_back_by_an_operator(console: Console) -> None:
    table, _, _ = saved.removed_temp_file(console)

    assert not saved.plan(console, table, saved.only_copy(console, table, "temp-file")["id"])["can_lose"]


def test_a_file_that_an_entry_names_by_now_needs_an_admin(console: Console) -> None:
    table, _, _ = saved.named_temp_file(console)

    plan = saved.plan(console, table, saved.only_copy(console, table, "temp-file")["id"])

    assert plan["can_lose"]
    assert plan["danger"].startswith("what readers see of version 3: the entry ")


def test_a_named_file_that_is_no_whole_commit_is_refused(console: Console) -> None:
    table, key, _ = saved.removed_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    console.lake.entry(saved.ORDERS, 3, complete={"S": "false"}, tempPath={"S": key.removeprefix(f"{LOG}/")})
    console.lake.put(copy.removeprefix(f"s3a://{console.lake.bucket}/"), b"other bytes")
    console.observed(saved.ORDERS)
    console.observed(saved.ORDERS)

    assert "is no whole commit" in saved.refusal(console, table, copy)["reason"]


def test_a_file_that_a_registration_lists_needs_an_admin_and_the_size_that_was_accepted(console: Console) -> None:
    table, key, data = saved.contended(console)
    copy = saved.only_copy(console, table, "staged-file")["id"]

    _list(console, key, len(data))
    assert saved.plan(console, table, copy)["can_lose"]
    _list(console, key, len(data) + 1)
    assert "The coordinator accepted" in saved.refusal(console, table, copy)["reason"]


def _list(console: Console, key: str, size: int) -> None:
    [item] = saved.registrations(console)
    element = registration_item(2, (2,))["commits"]["L"][0]["M"]
    element |= {"fsName": {"S": key.rpartition("/")[2]}, "fsLength": {"N": str(size)}}
    listed = {**item, "commits": {"L": [{"M": element}]}}
    console.lake.dynamodb.put_item(TableName=f"commits-{console.lake.bucket}", Item=listed)
    console.observed(saved.TELEMETRY)
    console.observed(saved.TELEMETRY)


def test_other_bytes_under_the_key_of_a_file_are_never_overwritten(console: Console) -> None:
    table, key, _ = saved.removed_temp_file(console)
    console.lake.put(key, b"a writer's")

    assert "nothing is ever overwritten" in reason(console, table, "temp-file")
    assert console.bytes_of(key) == b"a writer's"


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("temp-file", "why_nothing"),
        ("temp-file", "why_not_alone"),
    ],
)
def test_what_forbids_every_repair_of_the_table_forbids_this_too(
    console: Console, monkeypatch: pytest.MonkeyPatch, kind: str, why: str
) -> None:
    table = saved.removed_temp_file(console)[0]
    monkeypatch.setattr(TableUnderRepair, why, lambda self: "It was not read whole.")

    assert reason(console, table, kind) == "It was not read whole."


def test_a_file_that_an_entry_of_an_unknown_store_may_name_needs_an_admin(console: Console) -> None:
    table, _, _ = saved.removed_temp_file(console)
    console.lake.dynamodb.delete_item(
        TableName=console.lake.log_store,
        Key={"tablePath": {"S": console.lake.uri(saved.ORDERS)}, "fileName": {"S": f"{2:020d}.json"}},
    )
    DeltaTable.objects.filter(pk=table.pk).update(lock_domains=[])

    plan = saved.plan(console, table, saved.only_copy(console, table, "temp-file")["id"])

    assert "an entry of a log store that is not known here" in plan["danger"]


def test_a_staged_file_that_a_registration_out_of_reach_may_list_is_refused(console: Console) -> None:
    table, _, _ = saved.contended(console)
    CommitStore.objects.filter(name=f"commits-{console.lake.bucket}").delete()

    assert "registrations could not be read" in reason(console, table, "staged-file")


def test_a_named_file_whose_time_contradicts_its_neighbours_is_refused(console: Console) -> None:
    table, key, data = saved.contended(console)
    copy = saved.only_copy(console, table, "staged-file")["id"]
    later = data.replace(str(EPOCH_MS + 2).encode(), str(EPOCH_MS + 9).encode())
    console.lake.put(copy.removeprefix(f"s3a://{console.lake.bucket}/"), later)
    _list(console, key, len(later))

    assert "in-commit timestamp" in saved.refusal(console, table, copy)["reason"]
