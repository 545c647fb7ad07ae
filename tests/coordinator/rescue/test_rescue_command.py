"""`levee rescue`: the list, the plan, putting back here or by a worker, and its documents."""

import io
import json
from typing import Any

import pytest
from django.core.management import call_command

from dashboard.audit.models import AuditEntry
from dashboard.commands import Failed, UsageError
from dashboard.jobs.models import Job
from tests.coordinator.repairs.console import Console
from tests.coordinator.rescue import saved

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def young_count_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    saved.let_young_count_as_old(monkeypatch)


def rescue(*args: str, **options: Any) -> dict[str, Any]:
    """The document that the command prints."""
    out = io.StringIO()
    call_command("rescue", *args, json=True, stdout=out, stderr=io.StringIO(), **options)
    return dict(json.loads(out.getvalue()))


def text(*args: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("rescue", *args, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


def test_the_list_has_the_fields_of_the_contract(console: Console) -> None:
    table, _ = saved.abandoned(console)

    document = rescue("list", table=table.uri)

    assert set(document) == {"copies", "left_out", "more", "not_listed"}
    [copy] = document["copies"]
    assert set(copy) == {
        "id", "table", "connection", "kind", "saved_at", "repair", "version", "bytes", "goes_to", "unreadable",
    }  # fmt: skip
    assert (copy["table"], copy["connection"], copy["kind"]) == (table.uri, console.connection.name, "entry")


@pytest.mark.slow
def test_the_list_of_all_tables_names_the_copies_of_each(console: Console) -> None:
    table, _ = saved.abandoned(console)
    console.lost("sales/other")
    saved.repaired(console, console.table("sales/other"), "abandon-commit")

    found = rescue("list", connection=console.connection.name)["copies"]

    assert {one["table"] for one in found} == {table.uri, console.table("sales/other").uri}
    assert rescue("list")["copies"] == found


@pytest.mark.slow
def test_the_list_reads_as_text(console: Console) -> None:
    table, _ = saved.abandoned(console)
    console.lake.put(f"{saved.ORDERS}/_levee_rescue/notes.txt", b"x")
    printed = text("list", table=table.uri)

    assert printed.startswith(table.uri)
    assert "unreadable: Its folder is not named" in printed
    assert saved.only_copy(console, table, "entry")["id"] in printed


def test_without_apply_the_plan_is_printed_and_nothing_is_sent(console: Console) -> None:
    table, _, _ = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    before = console.state()

    document = rescue("restore", copy)

    assert (document["id"], document["uri"], document["refusal"], document["job"]) == (copy, table.uri, None, None)
    assert document["plan"]["can_lose"]
    assert "Nothing was changed. --apply carries it out." in text("restore", copy)
    assert console.state() == before


def test_apply_with_the_name_puts_it_back_here(console: Console) -> None:
    table, key, data = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]

    document = rescue("restore", copy, apply=True, confirm=table.name)

    assert (document["job"]["state"], document["job"]["calls"][-1]["outcome"]) == ("succeeded", "done")
    assert console.bytes_of(key) == data
    assert AuditEntry.objects.filter(action="table.repair", actor_name="command", outcome="done").exists()


def test_an_item_is_answered_with_the_command_that_puts_it_back(console: Console) -> None:
    table, entry = saved.abandoned(console)
    out = io.StringIO()

    with pytest.raises(Failed, match="Nothing was put back"):
        call_command("rescue", "restore", saved.only_copy(console, table, "entry")["id"], json=True, stdout=out)

    document = json.loads(out.getvalue())
    assert (document["plan"], document["refusal"]["why"], document["job"]) == (None, "by-hand", None)
    saved.run_by_hand(console, document["command"])
    assert console.item(saved.ORDERS, 3) == entry


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["", "sales"])
def test_what_can_show_another_state_needs_the_name(console: Console, typed: str) -> None:
    table, _, _ = saved.named_temp_file(console)
    before = console.state()

    with pytest.raises(UsageError, match=r"add --confirm sales\.orders"):
        rescue("restore", saved.only_copy(console, table, "temp-file")["id"], apply=True, confirm=typed)
    assert console.state() == before


@pytest.mark.slow
def test_enqueue_leaves_it_to_a_worker(console: Console) -> None:
    table, _, _ = saved.removed_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]

    document = rescue("restore", copy, apply=True, enqueue=True)

    assert document["job"]["state"] == "queued"
    assert Job.objects.get(kind="restore-rescue").state == "queued"


@pytest.mark.slow
def test_nothing_to_do_is_no_failure_and_a_refusal_is_one(console: Console) -> None:
    table, key, _ = saved.removed_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    saved.restored(console, table, copy)

    assert rescue("restore", copy, apply=True)["refusal"]["why"] == "nothing-to-do"
    console.lake.put(key, b"a writer's")
    with pytest.raises(Failed, match="Nothing was put back"):
        rescue("restore", copy)


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (("restore",), {}),
        (("restore", "s3a://lake/x"), {}),
        (("restore", "s3a://lake/_levee_rescue/x"), {"table": "s3a://lake/x"}),
        (("restore", "s3a://lake/_levee_rescue/x"), {"enqueue": True}),
        (("list", "x"), {}),
        (("list",), {"apply": True}),
    ],
)
def test_arguments_that_make_no_sense_are_said(args: tuple[str, ...], options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        rescue(*args, **options)
