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


@pytest.fixture(autouse=True)
def young_count_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    saved.let_young_count_as_old(monkeypatch)


def page(table: Any) -> str:
    return f"/tables/{table.pk}/rescue/"


def run_newest(console: Console, kind: str) -> Job:
    return console.run(Job.objects.filter(kind=kind).latest("created_at"))


def plan_page(client: Client, console: Console, table: Any, copy: str) -> str:
    answer = client.post(f"{page(table)}plan/", {"copy": copy})
    assert answer.status_code == 303
    run_newest(console, "plan-rescue")
    return str(answer["Location"])


def test_a_table_that_was_never_listed_says_so(console: Console) -> None:
    table = console.lost(saved.ORDERS)
    html = body(signed_in(Role.VIEWER).get(page(table)))

    assert "Not listed yet" in html
    assert '<button class="button" disabled>' in html
    assert html.count("Needs the operator role.") == 1


@pytest.mark.slow
def test_listing_is_asked_for_and_shown_by_the_page_alone(console: Console) -> None:
    table, _ = saved.abandoned(console)
    client = signed_in(Role.OPERATOR)

    assert client.post(page(table)).status_code == 303
    assert "The folder is being listed" in body(client.get(page(table)))
    run_newest(console, "list-rescue")
    html = body(client.get(page(table)))

    assert "Log store entry" in html
    assert f"entry {3:020d}.json of {console.lake.uri(saved.ORDERS)}, in {console.lake.log_store}" in html
    assert "abandon-commit" in html


@pytest.mark.slow
def test_what_is_no_copy_has_its_reason_and_no_button(console: Console) -> None:
    table, _ = saved.abandoned(console)
    console.lake.put(f"{saved.ORDERS}/_levee_rescue/<b>notes</b>.txt", b"x")
    saved.copies(console, table)

    answer = signed_in(Role.ADMIN).get(page(table))
    beside = body(answer).partition('id="unreadable"')[2]

    assert "Its folder is not named as Levee names one" in beside
    assert "<button" not in beside.partition("</section>")[0]
    assert b"<b>notes" not in answer.content


def test_an_admin_who_types_the_name_puts_a_named_file_back(console: Console) -> None:
    table, key, data = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    client = signed_in(Role.ADMIN)
    address = plan_page(client, console, table, copy)

    html = body(client.get(address))
    assert "This can change what readers see of version 3" in html
    assert f"Type <code>{table.name}</code> to confirm" in html
    assert confirm(client, address, confirm="another").status_code == 422
    answer = confirm(client, address, confirm=table.name)
    assert answer.status_code == 303
    run_newest(console, "restore-rescue")

    assert console.bytes_of(key) == data
    assert "Confirmed before" in body(client.get(address))


def test_the_button_is_off_with_its_reason_beside_it(console: Console, settings: Any) -> None:
    table, _, _ = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    address = plan_page(signed_in(Role.OPERATOR), console, table, copy)

    form = body(signed_in(Role.OPERATOR).get(address)).partition("panel form")[2].partition("</form>")[0]
    assert "needs the admin role" in form.partition('<button class="button danger" disabled')[2]
    settings.READ_ONLY = True
    form = body(signed_in(Role.ADMIN).get(address)).partition("panel form")[2].partition("</form>")[0]
    assert "read-only" in form.partition('<button class="button danger" disabled')[2]


def test_an_item_has_its_command_on_the_page_and_no_button(console: Console) -> None:
    table, _ = saved.abandoned(console)
    client = signed_in(Role.ADMIN)

    html = body(client.get(plan_page(client, console, table, saved.only_copy(console, table, "entry")["id"])))

    assert "An item is put back by hand." in html
    assert "aws dynamodb put-item" in html
    assert "panel form" not in html


def test_a_refusal_is_the_sentence_of_the_page(console: Console) -> None:
    table, _, _ = saved.removed_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")["id"]
    saved.restored(console, table, copy)
    client = signed_in(Role.ADMIN)

    html = body(client.get(plan_page(client, console, table, copy)))

    assert "Nothing is to be put back." in html
    assert html.count("is there already, and its bytes equal those of the copy.") == 1


def test_a_plan_of_another_table_is_not_shown_under_this_one(console: Console) -> None:
    table, _ = saved.abandoned(console)
    other = console.lost("sales/other")
    address = plan_page(signed_in(Role.ADMIN), console, table, saved.only_copy(console, table, "entry")["id"])

    assert signed_in(Role.ADMIN).get(address.replace(f"/{table.pk}/", f"/{other.pk}/")).status_code == 404


@pytest.mark.slow
def test_a_second_copy_waits_while_another_is_being_planned(console: Console) -> None:
    table, _ = saved.abandoned(console)
    client = signed_in(Role.ADMIN)
    client.post(f"{page(table)}plan/", {"copy": "s3a://lake/_levee_rescue/x"})

    answer = client.post(f"{page(table)}plan/", {"copy": saved.only_copy(console, table, "entry")["id"]})

    assert (answer.status_code, "Nothing was planned." in body(answer)) == (409, True)


@pytest.mark.slow
def test_no_sentence_is_said_twice(console: Console) -> None:
    table, _, _ = saved.named_temp_file(console)
    client = signed_in(Role.ADMIN)
    html = body(client.get(plan_page(client, console, table, saved.only_copy(console, table, "temp-file")["id"])))
    made = Job.objects.filter(kind="plan-rescue").latest("created_at").result["plan"]

    for sentence in (*made["consequences"], made["danger"], *(call["says"] for call in made["calls"])):
        assert html.count(sentence) == 1, sentence


@pytest.mark.slow
def test_the_jobs_own_page_tells_each_call_and_what_became_of_it(console: Console) -> None:
    table, _, _ = saved.named_temp_file(console)
    job = saved.restored(console, table, saved.only_copy(console, table, "temp-file")["id"])

    html = body(signed_in(Role.VIEWER).get(f"/jobs/{job.pk}/"))

    assert "Copies the saved copy of" in html
    assert "read back, the bytes equal those of its copy." in html
