"""Pages of repairs: what is offered, what a plan shows, what confirming does, and what they refuse."""

import re

import pytest
from django.test import Client

from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job
from tests.builders.lake import make_finding, make_store, make_table
from tests.builders.people import signed_in
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.pages import ABANDON, PUBLISH, body, confirm, confirm_page, fields

pytestmark = pytest.mark.django_db
ROOT = "sales/orders"


@pytest.fixture
def client() -> Client:
    return signed_in(Role.OPERATOR)


# The table's page


def test_the_table_offers_the_repair_of_its_finding_and_the_verdict_leads_to_it(
    client: Client, console: Console
) -> None:
    table = console.pending()

    html = body(client.get(f"/tables/{table.pk}/"))

    assert '<li id="repair-publish-commit-C2-3">' in html
    assert f'href="/tables/{table.pk}/#repair-publish-commit-C2-3">Publish commit 3…</a>' in html
    assert "Deletes nothing." in html
    assert fields(html, f"/tables/{table.pk}/repairs/").items() >= PUBLISH.items()


def test_a_viewer_sees_the_repair_and_why_there_is_no_button(console: Console) -> None:
    table = console.pending()

    html = body(signed_in(Role.VIEWER).get(f"/tables/{table.pk}/"))

    assert re.search(r'<button class="button primary" disabled>Publish commit 3…</button>', html)
    assert "Needs the operator role." in html


def test_what_must_not_be_repaired_has_a_reason_and_no_form(client: Client) -> None:
    table = make_table(state="blocked", store=make_store())
    make_finding(table, "K7", 42, state="blocked", meaning="Bring it back.")

    html = body(client.get(f"/tables/{table.pk}/"))

    assert "The staged file is gone. Bring it back from versioning or a backup" in html
    assert f'action="/tables/{table.pk}/repairs/"' not in html


@pytest.mark.slow
def test_findings_are_kept_with_when_they_were_resolved(client: Client, console: Console) -> None:
    table = console.pending()
    console.run(console.repair(table, console.plan(table)))

    html = body(client.get(f"/tables/{table.pk}/"))

    assert 'id="resolved">Resolved in the last 7 days: 1<' in html
    assert "Commit 3 is accepted but not published" in html.partition('id="resolved"')[2]


def test_a_findings_evidence_puts_item_and_objects_side_by_side(client: Client, console: Console) -> None:
    table = console.pending()
    size = len(console.bytes_of(console.temp_key(ROOT, 3)))

    html = body(client.get(f"/tables/{table.pk}/")).partition("<summary>Evidence</summary>")[2]

    assert "<code>complete</code> = <code>false</code>" in html
    assert f"<code>{3:020d}.json</code> <b>absent</b>" in html
    assert f"{size:,} B<small>written 20" in html


def test_a_long_list_of_findings_offers_the_worst_and_counts_the_rest(client: Client) -> None:
    table = make_table(state="pending", store=make_store())
    for version in range(42, 54):
        make_finding(table, "C2", version, repairs=["publish-commit"])

    html = body(client.get(f"/tables/{table.pk}/"))

    assert html.count('<li id="repair-') == 8
    assert "4 more repairs" in html


# The plan's page


def test_asking_for_a_plan_leads_to_a_page_that_waits_for_it_without_script(client: Client, console: Console) -> None:
    table = console.pending()

    answer = client.post(f"/tables/{table.pk}/repairs/", PUBLISH)
    html = body(client.get(answer["Location"]))

    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in html
    assert 'hx-trigger="every 2s"' in html
    assert "its repairs are planned" in html
    assert Job.objects.get(kind="plan-repair").state == "queued"


def test_the_plan_shows_each_call_its_condition_the_command_and_the_permissions(
    client: Client, console: Console
) -> None:
    table = console.pending()
    html = body(client.get(confirm_page(client, console, table)))

    plan = Job.objects.get(kind="plan-repair").result["plans"][0]
    for call in plan["calls"]:
        assert call["says"] in html
        assert call["condition"] in html
    assert all(sentence in html for sentence in plan["consequences"])
    assert f"levee repair {table.uri} --finding C2 --version 3 --apply" in html
    assert "dynamodb:UpdateItem on arn:aws:dynamodb:*:*:table/" in html
    assert 'http-equiv="refresh"' not in html
    assert "What must not be done instead" in html


@pytest.mark.slow
def test_a_plan_of_very_many_calls_shows_each_of_them(client: Client, console: Console) -> None:
    console.lake.table(ROOT, 25, log_store=True)
    for version in range(1, 23):
        console.lake.pending(ROOT, version)
    plan = max(console.planned(console.observed(ROOT)).result["plans"], key=lambda one: len(one["calls"]))
    asked = {"repair": plan["kind"], "code": plan["code"], "version": str(plan["version"])}

    html = body(client.get(confirm_page(client, console, console.table(ROOT), asked)))

    calls = plan["calls"]
    assert len(calls) > 40
    assert all(call["says"] in html for call in calls)
    assert " more</h3>" not in html


def test_the_fragment_holds_no_frame_and_stops_asking_when_the_plan_is_there(client: Client, console: Console) -> None:
    table = console.pending()
    address = client.post(f"/tables/{table.pk}/repairs/", PUBLISH)["Location"]
    waiting = body(client.get(address, headers={"HX-Request": "true"}))
    console.run(Job.objects.get(kind="plan-repair"))
    ready = body(client.get(address, headers={"HX-Request": "true"}))

    assert waiting.lstrip().startswith('<div id="plan"')
    assert "hx-trigger" in waiting
    assert "hx-trigger" not in ready
    assert "csrfmiddlewaretoken" in ready


def test_confirming_repairs_the_table_and_leads_to_the_job(client: Client, console: Console) -> None:
    table = console.pending()
    answer = confirm(client, confirm_page(client, console, table), reason="CHG-4471")

    job = Job.objects.get(kind="repair")
    assert (answer.status_code, answer["Location"]) == (303, f"/jobs/{job.pk}/")
    assert (job.reason, job.requested_by_name) == ("CHG-4471", "operator")
    assert console.run(job).state == "succeeded"
    page = body(client.get(answer["Location"]))
    assert "finding C2 of version 3 is resolved" in page
    assert "<summary>Before</summary>" in page
    assert body(client.get(f"/tables/{table.pk}/")).count("Publish commit 3…") == 0


@pytest.mark.slow
def test_a_plan_that_was_carried_out_shows_its_job_and_no_form(client: Client, console: Console) -> None:
    table = console.pending()
    address = confirm_page(client, console, table)
    job = console.run(Job.objects.get(pk=confirm(client, address)["Location"].split("/")[2]))

    html = body(client.get(address))

    assert f'href="/jobs/{job.pk}/"' in html
    assert f'action="{address}"' not in html


def test_a_finding_that_no_longer_holds_has_no_plan(client: Client, console: Console) -> None:
    table = console.pending()
    html = body(client.get(confirm_page(client, console, table, {**PUBLISH, "version": "7"})))

    assert "Nothing of this kind is to be repaired." in html


def test_a_refused_repair_says_why(client: Client, console: Console) -> None:
    table = console.pending()
    asked = {"repair": "abandon-commit", "code": "C2", "version": "3"}
    html = body(client.get(confirm_page(client, console, table, asked)))

    assert "This repair must not be made now." in html
    assert "deleting the entry or the temp file would lose it" in html


def test_a_table_that_could_not_be_read_says_so(client: Client, console: Console) -> None:
    table = console.pending()
    console.lake.dynamodb.delete_table(TableName=console.lake.log_store)
    html = body(client.get(confirm_page(client, console, table)))

    assert "No plan was made" in html
    assert "ResourceNotFoundException" in html


# What can lose a commit


def test_a_losing_repair_names_the_loss_and_asks_for_the_tables_name(console: Console) -> None:
    table = console.lost()
    admin = signed_in(Role.ADMIN)
    address = confirm_page(admin, console, table, ABANDON)
    html = body(admin.get(address))

    assert "This can lose commit 3" in html
    assert "Type <code>sales.lost</code> to confirm" in html
    assert 'class="button danger"' in html
    assert "--confirm sales.lost" in html
    wrong = confirm(admin, address, confirm="sales.orders")
    assert wrong.status_code == 422
    assert "type the name, sales.lost" in body(wrong)
    assert confirm(admin, address, confirm="sales.lost").status_code == 303
    assert console.run(Job.objects.get(kind="repair")).state == "succeeded"


# Who, and how


def test_reading_changes_nothing(client: Client, console: Console) -> None:
    table = console.pending()
    address = confirm_page(client, console, table)
    jobs, lake = Job.objects.count(), console.state()

    for path in (address, f"/tables/{table.pk}/", "/tables/repairs/publish-commit/", "/tables/repairs/backfill/"):
        assert client.get(path).status_code == 200
    assert client.get(f"/tables/{table.pk}/repairs/").status_code == 405
    assert (Job.objects.count(), console.state()) == (jobs, lake)


@pytest.mark.parametrize("address", ["repairs/5f1e08c2-77a4-4c40-b2f9-1a6b0e9d33c8/", "repairs/none/"])
def test_a_plan_nobody_made_is_not_found(client: Client, address: str) -> None:
    assert client.get(f"/tables/{make_table().pk}/{address}").status_code == 404


def test_the_plan_of_another_table_is_not_found(client: Client, console: Console) -> None:
    job = console.planned(console.pending())
    assert client.get(f"/tables/{make_table().pk}/repairs/{job.pk}/").status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("version", ["-1", "x", "9" * 40, "1.5", "٣"])
def test_a_version_that_is_none_finds_no_plan(client: Client, console: Console, version: str) -> None:
    table = console.pending()
    assert "Nothing of this kind" in body(
        client.get(confirm_page(client, console, table, {**PUBLISH, "version": version}))
    )
