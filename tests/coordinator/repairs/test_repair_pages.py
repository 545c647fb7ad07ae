"""Pages of repairs: what is offered, what a plan shows, what confirming does, and what they refuse."""

import pytest
from django.test import Client

from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job
from tests.builders.lake import make_finding, make_store, make_table
from tests.builders.people import signed_in
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.pages import ABANDON, PUBLISH, body, confirm, confirm_page, fields

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in(Role.OPERATOR)


# The table's page


def test_the_table_offers_the_repair_of_its_finding_to_an_operator(client: Client, console: Console) -> None:
    table = console.pending()

    html = body(client.get(f"/tables/{table.pk}/"))
    viewed = body(signed_in(Role.VIEWER).get(f"/tables/{table.pk}/"))

    assert f'href="/tables/{table.pk}/#repair-publish-commit-C2-3">Publish commit 3…</a>' in html
    assert fields(html, f"/tables/{table.pk}/repairs/").items() >= PUBLISH.items()
    assert '<button class="button primary" disabled>Publish commit 3…</button>' in viewed
    assert "Needs the operator role." in viewed


def test_what_must_not_be_repaired_has_a_reason_and_no_form(client: Client) -> None:
    table = make_table(state="blocked", store=make_store())
    make_finding(table, "K7", 42, state="blocked", meaning="Bring it back.")

    html = body(client.get(f"/tables/{table.pk}/"))

    assert "The staged file is gone. Bring it back from versioning or a backup" in html
    assert f'action="/tables/{table.pk}/repairs/"' not in html


def test_a_long_list_of_findings_offers_the_worst_and_counts_the_rest(client: Client) -> None:
    table = make_table(state="pending", store=make_store())
    for version in range(42, 54):
        make_finding(table, "C2", version, repairs=["publish-commit"])

    html = body(client.get(f"/tables/{table.pk}/"))

    assert html.count('<li id="repair-') == 8
    assert "4 more repairs" in html


# The plan's page


def test_the_page_waits_for_its_plan_with_and_without_script(client: Client, console: Console) -> None:
    address = client.post(f"/tables/{console.pending().pk}/repairs/", PUBLISH)["Location"]

    page = body(client.get(address))
    waiting = body(client.get(address, headers={"HX-Request": "true"}))
    console.run(Job.objects.get(kind="plan-repair"))
    ready = body(client.get(address, headers={"HX-Request": "true"}))

    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page
    assert waiting.lstrip().startswith('<div id="plan"')
    assert ("hx-trigger" in waiting, "hx-trigger" in ready) == (True, False)
    assert "csrfmiddlewaretoken" in ready


def test_the_plan_shows_each_call_its_condition_the_command_and_the_permissions(
    client: Client, console: Console
) -> None:
    table = console.pending()
    html = body(client.get(confirm_page(client, console, table)))

    plan = Job.objects.get(kind="plan-repair").result["plans"][0]
    assert all(call["says"] in html and call["condition"] in html for call in plan["calls"])
    assert all(sentence in html for sentence in plan["consequences"])
    assert f"levee repair {table.uri} --finding C2 --version 3 --apply" in html
    assert "dynamodb:UpdateItem on arn:aws:dynamodb:*:*:table/" in html
    assert "What must not be done instead" in html


def test_confirming_repairs_the_table_and_leads_to_the_job(client: Client, console: Console) -> None:
    address = confirm_page(client, console, console.pending())
    answer = confirm(client, address, reason="CHG-4471")

    job = Job.objects.get(kind="repair")
    assert (answer.status_code, answer["Location"]) == (303, f"/jobs/{job.pk}/")
    assert (job.reason, job.requested_by_name) == ("CHG-4471", "operator")
    assert console.run(job).state == "succeeded"
    page = body(client.get(answer["Location"]))
    assert "finding C2 of version 3 is resolved" in page
    assert "<summary>Before</summary>" in page
    html = body(client.get(address))
    assert f'href="/jobs/{job.pk}/"' in html
    assert f'action="{address}"' not in html


def test_a_repair_without_a_plan_says_why(client: Client, console: Console) -> None:
    table = console.pending()
    refused = {"repair": "abandon-commit", "code": "C2", "version": "3"}

    for version in ("7", "-1", "9" * 40):
        html = body(client.get(confirm_page(client, console, table, {**PUBLISH, "version": version})))
        assert "Nothing of this kind is to be repaired." in html
    html = body(client.get(confirm_page(client, console, table, refused)))
    assert "deleting the entry or the temp file would lose it" in html
    console.lake.dynamodb.delete_table(TableName=console.lake.log_store)
    html = body(client.get(confirm_page(client, console, table)))
    assert "No plan was made" in html
    assert "ResourceNotFoundException" in html


def test_a_losing_repair_names_the_loss_and_asks_for_the_tables_name(console: Console) -> None:
    table = console.lost()
    admin = signed_in(Role.ADMIN)
    address = confirm_page(admin, console, table, ABANDON)
    html = body(admin.get(address))

    assert "This can lose commit 3" in html
    assert "Type <code>sales.lost</code> to confirm" in html
    assert "--confirm sales.lost" in html
    wrong = confirm(admin, address, confirm="sales.orders")
    assert wrong.status_code == 422
    assert "type the name, sales.lost" in body(wrong)
    assert confirm(admin, address, confirm="sales.lost").status_code == 303


def test_reading_changes_nothing(client: Client, console: Console) -> None:
    table = console.pending()
    address = confirm_page(client, console, table)
    jobs, lake = Job.objects.count(), console.state()

    for path in (address, f"/tables/{table.pk}/", "/tables/repairs/publish-commit/", "/tables/repairs/backfill/"):
        assert client.get(path).status_code == 200
    assert client.get(f"/tables/{table.pk}/repairs/").status_code == 405
    assert (Job.objects.count(), console.state()) == (jobs, lake)


def test_a_plan_that_nobody_made_for_the_table_is_not_found(client: Client, console: Console) -> None:
    job, other = console.planned(console.pending()), make_table()
    for plan in (job.pk, "5f1e08c2-77a4-4c40-b2f9-1a6b0e9d33c8", "none"):
        assert client.get(f"/tables/{other.pk}/repairs/{plan}/").status_code == 404
