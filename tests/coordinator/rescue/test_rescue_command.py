"""`levee rescue`: the list, the plan, putting back here or by a worker, and its documents."""

import io
import json
from typing import Any

import pytest
from django.core.management import call_command

from dashboard.commands import Failed, UsageError
from dashboard.jobs.models import Job
from tests.coordinator.repairs.console import Console
from tests.coordinator.rescue import saved

pytestmark = pytest.mark.django_db


def rescue(*args: str, **options: Any) -> dict[str, Any]:
    """The document that the command prints."""
    return dict(json.loads(text(*args, json=True, **options)))


def text(*args: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("rescue", *args, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


def test_the_list_names_the_copies_of_each_table_and_what_is_none(console: Console) -> None:
    table, _ = saved.abandoned(console)
    other = console.lost("sales/other")
    saved.repaired(console, other, "abandon-commit")
    console.lake.put(f"{saved.ORDERS}/_levee_rescue/notes.txt", b"x")

    found = rescue("list", connection=console.connection.name)["copies"]
    printed = text("list", table=table.uri)

    assert rescue("list")["copies"] == found
    assert {(one["table"], one["connection"]) for one in found} == {
        (table.uri, console.connection.name),
        (other.uri, console.connection.name),
    }
    assert printed.startswith(table.uri)
    assert "unreadable: Its folder is not named" in printed
    assert other.uri not in printed


def test_a_file_is_put_back_with_apply_and_the_name(console: Console) -> None:
    table, key, data = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    before = console.state()

    document = rescue("restore", copy)
    assert (document["id"], document["uri"], document["refusal"], document["job"]) == (copy, table.uri, None, None)
    assert "Nothing was changed. --apply carries it out." in text("restore", copy)
    for typed in ("", "sales"):
        with pytest.raises(UsageError, match=r"add --confirm sales\.orders"):
            rescue("restore", copy, apply=True, confirm=typed)
    assert console.state() == before
    queued = rescue("restore", copy, apply=True, confirm=table.name, enqueue=True)
    assert queued["job"]["state"] == "queued"
    Job.objects.filter(kind="restore-rescue").delete()
    document = rescue("restore", copy, apply=True, confirm=table.name)

    assert (document["job"]["state"], document["job"]["calls"][-1]["outcome"]) == ("succeeded", "done")
    assert console.bytes_of(key) == data
    assert rescue("restore", copy, apply=True)["refusal"]["why"] == "nothing-to-do"


def test_an_item_is_answered_with_the_command_that_puts_it_back(console: Console) -> None:
    table, entry = saved.abandoned(console)
    out = io.StringIO()

    with pytest.raises(Failed, match="Nothing was put back"):
        call_command("rescue", "restore", saved.only_copy(console, table, "entry")["id"], json=True, stdout=out)

    document = json.loads(out.getvalue())
    assert (document["plan"], document["refusal"]["why"], document["job"]) == (None, "by-hand", None)
    saved.run_by_hand(console, document["command"])
    assert console.item(saved.ORDERS, 3) == entry


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
