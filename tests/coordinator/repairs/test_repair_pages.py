"""Pages of repairs: what is offered, what a plan shows, what confirming does, and what they refuse."""

import pytest
from django.test import Client

from dashboard.accounts.roles import Role
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job
from tests.builders.lake import make_finding, make_pending, make_store, make_table
from tests.builders.people import signed_in
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.pages import ABANDON, PUBLISH, body, bulk_fields, confirm, confirm_page, fields

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]


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

    assert "It can lose commit 3" in html
    assert "Type <code>sales.lost</code> to confirm" in html
    assert "--confirm sales.lost" in html
    wrong = confirm(admin, address, confirm="sales.orders")
    assert wrong.status_code == 422
    assert "type the name, sales.lost" in body(wrong)
    assert confirm(admin, address, confirm="sales.lost").status_code == 303


def test_a_plan_that_nobody_made_for_the_table_is_not_found(client: Client, console: Console) -> None:
    job, other = console.planned(console.pending()), make_table()
    for plan in (job.pk, "5f1e08c2-77a4-4c40-b2f9-1a6b0e9d33c8", "none"):
        assert client.get(f"/tables/{other.pk}/repairs/{plan}/").status_code == 404


# The page of many tables


def test_the_list_of_tables_offers_what_its_filter_holds(client: Client, console: Console) -> None:
    console.pending()

    assert 'href="/tables/repairs/publish-commit/">Publish all pending…</a>' in body(client.get("/tables/"))
    assert 'href="/tables/repairs/publish-commit/?q=orders"' in body(client.get("/tables/?q=orders"))
    assert "Publish all pending…" not in body(client.get("/tables/?q=other"))
    assert "Backfill all…" not in body(client.get("/tables/"))


def test_the_page_says_which_tables_will_be_touched_and_which_not_and_why(client: Client) -> None:
    store = make_store()
    names = {"a": "publish-commit", "b": "publish-commit", "c": ""}
    for name, repair in names.items():
        table = make_table(f"s3a://lake/x/{name}", state="pending", store=store, unpublished_count=1)
        make_pending(table, 42)
        code, repairs = ("C2", [repair]) if repair else ("C7", [])
        make_finding(table, code, 42, repairs=repairs, state="blocked", summary=f"Of {name}.")
    make_table("s3a://lake/x/healthy", store=store)

    html = body(client.get("/tables/repairs/publish-commit/"))
    touched, _, skipped = html.partition('id="skipped"')

    assert "2 tables will be touched; 1 waits or is in trouble and will not." in html
    assert all(f"Of {name}." in touched for name in "ab")
    assert "C7: Of c." in skipped
    assert "1 with nothing that waits" in skipped


def test_what_is_shown_is_one_job_with_an_outcome_for_each_table_however_often_it_is_sent(
    client: Client, console: Console
) -> None:
    for root in ("a/one", "a/two"):
        console.pending(root)
    posted = bulk_fields(client)

    answers = [client.post("/tables/repairs/publish-commit/", posted) for _ in range(2)]

    assert {answer.status_code for answer in answers} == {303}
    job = console.run(Job.objects.get(kind="repair-many"))
    page = body(client.get(answers[0]["Location"]))
    assert {answer["Location"] for answer in answers} == {f"/jobs/{job.pk}/"}
    assert page.count('data-label="What became of it"') == 2
    assert f'href="/tables/{console.table("a/one").pk}/"' in page


def test_tables_other_than_those_shown_are_not_touched(client: Client, console: Console) -> None:
    console.pending("a/one")
    posted = bulk_fields(client)
    console.pending("a/two")

    answer = client.post("/tables/repairs/publish-commit/", posted)

    assert answer.status_code == 409
    assert "Other tables than those shown" in body(answer)
    assert not Job.objects.filter(kind="repair-many").exists()


def test_tables_of_two_connections_need_a_choice(client: Client) -> None:
    for name in ("prod", "test"):
        there, _ = Connection.objects.get_or_create(name=name, region="eu-west-1")
        table = make_table(f"s3a://lake-{name}/x", connection=there, state="pending")
        make_finding(table, repairs=["publish-commit"])

    html = body(client.get("/tables/repairs/publish-commit/"))

    assert "Choose a connection" in html
    assert 'href="?connection=test"' in html
    assert "seen" not in bulk_fields(client)
    assert "seen" in bulk_fields(client, "?connection=test")


def test_an_unknown_bulk_repair_is_not_found_and_a_bad_filter_is_refused(client: Client) -> None:
    assert client.get("/tables/repairs/abandon-commit/").status_code == 404
    assert client.get("/tables/repairs/backfill/?state=nonsense").status_code == 422
    assert client.post("/tables/repairs/backfill/", {"state": "nonsense"}).status_code == 422
