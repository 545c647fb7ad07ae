"""The pages of saved copies: a list, a plan, a confirmation; no page reads the lake."""

from typing import Any

import pytest
from django.test import Client

from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job
from tests.builders.people import signed_in
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.pages import body, confirm
from tests.coordinator.rescue import saved

pytestmark = pytest.mark.django_db


def page(table: Any) -> str:
    return f"/tables/{table.pk}/rescue/"


def run_newest(console: Console, kind: str) -> Job:
    return console.run(Job.objects.filter(kind=kind).latest("created_at"))


def plan_page(client: Client, console: Console, table: Any, copy: str) -> str:
    answer = client.post(f"{page(table)}plan/", {"copy": copy})
    assert answer.status_code == 303
    run_newest(console, "plan-rescue")
    return str(answer["Location"])


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


def test_an_admin_who_types_the_name_puts_a_named_file_back(console: Console, settings: Any) -> None:
    table, key, data = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    client = signed_in(Role.ADMIN)
    address = plan_page(client, console, table, copy)

    html = body(client.get(address))
    assert "This can change what readers see of version 3" in html
    assert f"Type <code>{table.name}</code> to confirm" in html
    form = body(signed_in(Role.OPERATOR).get(address)).partition("panel form")[2].partition("</form>")[0]
    assert "needs the admin role" in form.partition('<button class="button danger" disabled')[2]
    settings.READ_ONLY = True
    form = body(client.get(address)).partition("panel form")[2].partition("</form>")[0]
    assert "read-only" in form.partition('<button class="button danger" disabled')[2]
    settings.READ_ONLY = False
    assert confirm(client, address, confirm="another").status_code == 422
    assert confirm(client, address, confirm=table.name).status_code == 303
    run_newest(console, "restore-rescue")

    assert console.bytes_of(key) == data
    assert "Confirmed before" in body(client.get(address))
    html = body(client.get(plan_page(client, console, table, copy)))
    assert "Nothing is to be put back." in html
    assert "is there already, and its bytes equal those of the copy." in html


def test_an_item_has_its_command_on_the_page_and_no_button(console: Console) -> None:
    table, _ = saved.abandoned(console)
    client, other = signed_in(Role.ADMIN), console.lost("sales/other")
    copy = saved.only_copy(console, table, "entry")["id"]
    address = plan_page(client, console, table, copy)

    html = body(client.get(address))

    assert "An item is put back by hand." in html
    assert "aws dynamodb put-item" in html
    assert "panel form" not in html
    assert client.get(address.replace(f"/{table.pk}/", f"/{other.pk}/")).status_code == 404
    client.post(f"{page(table)}plan/", {"copy": "s3a://lake/_levee_rescue/x"})
    answer = client.post(f"{page(table)}plan/", {"copy": copy})
    assert (answer.status_code, "Nothing was planned." in body(answer)) == (409, True)
