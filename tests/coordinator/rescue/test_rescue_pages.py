"""The pages and the command of saved copies: a list, a plan, a confirmation; no page reads the lake."""

import io
import json
from typing import Any

import pytest
from django.core.management import call_command

from dashboard.accounts.roles import Role
from dashboard.commands import Failed, UsageError
from dashboard.jobs.models import Job
from tests.builders.people import signed_in
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.pages import body, confirm, plan_page
from tests.coordinator.rescue import saved
from tests.json_types import printed, said

pytestmark = pytest.mark.django_db


def page(table: Any) -> str:
    return f"/tables/{table.pk}/rescue/"


def run_newest(console: Console, kind: str) -> Job:
    return console.run(Job.objects.filter(kind=kind).latest("created_at"))


def test_the_folder_is_listed_when_an_operator_asks_for_it(console: Console) -> None:
    table, _ = saved.abandoned(console)
    console.lake.put(f"{saved.ORDERS}/_levee_rescue/<b>notes</b>.txt", b"x")
    client = signed_in(Role.OPERATOR)

    viewed = body(signed_in(Role.VIEWER).get(page(table)))
    assert "Not listed yet" in viewed
    assert '<button class="button" disabled>' in viewed
    assert client.post(page(table)).status_code == 303
    assert "The folder is being listed" in body(client.get(page(table)))
    run_newest(console, "list-rescue")
    answer = client.get(page(table))
    html, _, beside = body(answer).partition('id="unreadable"')

    assert f"entry {3:020d}.json of {console.lake.uri(saved.ORDERS)}, in {console.lake.log_store}" in html
    assert "Its folder is not named as Levee names one" in beside
    assert "<button" not in beside.partition("</section>")[0]
    assert b"<b>notes" not in answer.content


def test_an_admin_who_types_the_name_puts_a_named_file_back(console: Console) -> None:
    table, key, data = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    client = signed_in(Role.ADMIN)
    address = plan_page(client, console, f"{page(table)}plan/", {"copy": copy})

    html = body(client.get(address))
    assert "It can change what readers see of version 3" in html
    assert f"Type <code>{table.name}</code> to confirm" in html
    form = body(signed_in(Role.OPERATOR).get(address)).partition("panel form")[2].partition("</form>")[0]
    assert "needs the admin role" in form.partition('<button class="button danger" disabled')[2]
    assert confirm(client, address, confirm=table.name).status_code == 303
    run_newest(console, "restore-rescue")

    assert console.bytes_of(key) == data
    html = body(client.get(plan_page(client, console, f"{page(table)}plan/", {"copy": copy})))
    assert "Nothing is to be put back." in html
    assert "is there already, and its bytes equal those of the copy." in html


def test_an_item_has_its_command_on_the_page_and_no_button(console: Console) -> None:
    table, _ = saved.abandoned(console)
    client, other = signed_in(Role.ADMIN), console.lost("sales/other")
    copy = saved.only_copy(console, table, "entry")["id"]
    address = plan_page(client, console, f"{page(table)}plan/", {"copy": copy})

    html = body(client.get(address))

    assert "An item is put back by hand." in html
    assert "aws dynamodb put-item" in html
    assert "panel form" not in html
    assert client.get(address.replace(f"/{table.pk}/", f"/{other.pk}/")).status_code == 404
    client.post(f"{page(table)}plan/", {"copy": "s3a://lake/_levee_rescue/x"})
    answer = client.post(f"{page(table)}plan/", {"copy": copy})
    assert (answer.status_code, "Nothing was planned." in body(answer)) == (409, True)


# The command


def rescue(*args: str, **options: Any) -> dict[str, Any]:
    """The document that the command prints."""
    return dict(printed("rescue", *args, **options))


def test_the_list_names_the_copies_of_each_table_and_what_is_none(console: Console) -> None:
    table, _ = saved.abandoned(console)
    other = console.lost("sales/other")
    saved.repaired(console, other, "abandon-commit")
    console.lake.put(f"{saved.ORDERS}/_levee_rescue/notes.txt", b"x")

    found = rescue("list", connection=console.connection.name)["copies"]
    told = said("rescue", "list", table=table.uri)

    assert rescue("list")["copies"] == found
    assert {(one["table"], one["connection"]) for one in found} == {
        (table.uri, console.connection.name),
        (other.uri, console.connection.name),
    }
    assert told.startswith(table.uri)
    assert "unreadable: Its folder is not named" in told
    assert other.uri not in told


def test_a_file_is_put_back_with_apply_and_the_name(console: Console) -> None:
    table, key, data = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    before = console.state()

    document = rescue("restore", copy)
    assert (document["id"], document["uri"], document["refusal"], document["job"]) == (copy, table.uri, None, None)
    assert "Nothing was changed. --apply carries it out." in said("rescue", "restore", copy)
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
    table, _ = saved.abandoned(console)
    out = io.StringIO()

    with pytest.raises(Failed, match="Nothing was put back"):
        call_command("rescue", "restore", saved.only_copy(console, table, "entry")["id"], json=True, stdout=out)

    document = json.loads(out.getvalue())
    assert (document["plan"], document["refusal"]["why"], document["job"]) == (None, "by-hand", None)
    assert document["command"].startswith("aws dynamodb put-item")


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
