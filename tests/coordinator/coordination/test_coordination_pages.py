"""Pages of coordination: choosing, checks, confirming, new tables, many tables, settings, engines and moves."""

import re
from typing import Any

import pytest
from django.test import Client

from coordinator.models import CommitStore, DeltaTable
from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job
from tests.builders.lake import make_store, make_table
from tests.builders.people import signed_in
from tests.coordinator.coordination.desk import Desk
from tests.coordinator.repairs.console import made_too_long_ago
from tests.coordinator.repairs.pages import body, confirm

pytestmark = pytest.mark.django_db


def ticked(**more: str) -> dict[str, str]:
    return {"stated": "yes", "reason": "CHG-7"} | more


# Choosing and checking


def test_the_form_offers_stores_and_says_what_the_conversion_goes_through(client: Client) -> None:
    store = make_store()
    table = make_table(
        store=store, mechanism="log_store", lock_domains=[{"store": "delta_log", "path": "s3a://lake/sales/orders"}]
    )
    make_store("commits", connection=table.connection, kind=CommitStore.Kind.COMMIT_COORDINATOR)

    html = body(client.get(f"/tables/{table.pk}/coordination/enable/"))

    assert re.search(r'value="delta_log" required disabled', html)
    assert re.search(r'value="commits" required checked', html)
    assert "The conversion commit goes through <b>log store delta_log</b>" in html
    assert "LEVEE_SPARK_EXTRA_JARS" in html
    assert "RFC was rejected on 7 April 2025" in html


def test_from_the_form_by_way_of_the_checks_to_the_job(client: Client, desk: Desk, plain: DeltaTable) -> None:
    form = f"/tables/{plain.pk}/coordination/enable/"
    assert 'id="coordination-enable"' in body(client.get(f"/tables/{plain.pk}/"))
    address = client.post(form, {"store": desk.store})["Location"]

    html = body(client.get(address))
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in html
    assert "The preconditions are being checked." in html

    desk.run(Job.objects.get(kind="check-coordination"))
    html = body(client.get(address))
    assert "Commit 3, the conversion" in html
    assert "This can be done now" in html
    assert "SET TBLPROPERTIES" in html
    assert f"levee commits enable {plain.uri} --store {desk.store} --apply" in html
    assert re.search(r'<th scope="row">Commits through</th>.*S3 alone.*Coordinator commits-', html)
    assert "Every writer of this table is paused" in html
    for page in (form, address):
        assert "Needs the operator role." in body(signed_in(Role.VIEWER).get(page))

    refused = confirm(client, address, reason="CHG-7")
    assert refused.status_code == 422
    assert "Confirm the statement" in body(refused)
    assert 'value="CHG-7"' in body(refused)
    answer = confirm(client, address, **ticked())
    job = Job.objects.get(kind="enable-coordinated-commits")
    assert (answer.status_code, answer["Location"]) == (303, f"/jobs/{job.pk}/")
    assert (job.reason, job.requested_by_name) == ("CHG-7", "operator")


def test_a_drop_shows_both_commits_and_needs_the_name_typed(
    client: Client, desk: Desk, coordinated: DeltaTable
) -> None:
    address = desk.checks_page(client, coordinated, "drop", remove=["vacuumProtocolCheck"])
    html = body(client.get(address))

    assert "Commit 4, through the coordinator" in html
    assert "Commit 5, without the coordinator" in html
    assert "<code>TRUNCATE HISTORY</code> is not offered" in html
    assert "<h3>Remove <code>vacuumProtocolCheck</code></h3>" in html
    assert 'class="button danger"' in html
    assert confirm(client, address, **ticked(confirm="sales.order")).status_code == 422
    assert confirm(client, address, **ticked(confirm="sales.orders")).status_code == 303


def test_unknown_acts_and_foreign_jobs_are_not_found(client: Client, desk: Desk, plain: DeltaTable) -> None:
    address = desk.checks_page(client, plain, "enable")
    other = desk.plain("a/other")

    assert client.get(f"/tables/{plain.pk}/coordination/explode/").status_code == 404
    assert client.get(f"/tables/{10**30}/coordination/enable/").status_code == 404
    assert client.get(address.replace(f"/{plain.pk}/", f"/{other.pk}/")).status_code == 404
    assert client.get(address.replace("/enable/", "/drop/")).status_code == 404
    assert client.get("/tables/coordination/create/").status_code == 404
    for number in ("x", "00000000-0000-0000-0000-000000000000"):
        assert client.get(f"/tables/coordination/enable/?checked={number}").status_code == 404


# A new table


def new_table(desk: Desk, **more: str) -> dict[str, str]:
    store = CommitStore.objects.get(name=desk.store)
    return {"uri": desk.console.lake.uri("new/table"), "store": str(store.pk), "rows": "6"} | more


def test_a_schema_is_given_row_by_row(client: Client, desk: Desk) -> None:
    rows = {"name-0": "id", "type-0": "BIGINT", "required-0": "yes", "comment-0": "it's"}
    rows |= {"name-2": "day", "type-2": "DATE", "partition-2": "yes"}

    answer = client.post("/tables/new/", new_table(desk, **rows))
    job = desk.run(Job.objects.get(kind="check-coordination"))
    html = body(client.get(answer["Location"]))

    assert job.result["preflight"]["may_run"], job.result
    assert "CREATE TABLE delta.`" in html
    assert "PARTITIONED BY (`day`)" in html
    assert confirm(client, answer["Location"]).status_code == 303


def test_a_schema_is_given_as_sql(client: Client, desk: Desk) -> None:
    answer = client.post("/tables/new/", new_table(desk, columns="id BIGINT,\n day DATE", partition_by="day"))

    job = Job.objects.get(kind="check-coordination")
    assert answer.status_code == 303
    assert (job.params["columns"], job.params["partition_by"]) == ("id BIGINT, day DATE", ["day"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "Name at least one column"),
        ({"columns": "id INT", "name-0": "id", "type-0": "INT"}, "given twice"),
        ({"name-0": "id"}, "no type"),
        ({"type-0": "INT"}, "has no name"),
        ({"name-0": "id", "type-0": "INT, evil STRING"}, "no type"),
        ({"name-0": "id", "type-0": "INT) USING csv --"}, "no type"),
        ({"name-0": "id", "type-0": "INT", "uri": "nonsense"}, "nonsense"),
        ({"name-0": "id", "type-0": "INT", "store": "x"}, "Choose the commit store"),
    ],
)
def test_a_form_that_is_no_table_is_refused_and_kept(client: Client, desk: Desk, fields: Any, words: str) -> None:
    answer = client.post("/tables/new/", new_table(desk, **fields))

    assert answer.status_code == 422
    assert words in body(answer)
    assert not Job.objects.exists()


def test_more_rows_keep_what_was_typed(client: Client, desk: Desk) -> None:
    html = body(client.post("/tables/new/", new_table(desk, more="1", **{"name-0": "id"})))

    assert 'name="name-11"' in html
    assert 'name="name-0" value="id"' in html


# Many


def checked_many(client: Client, desk: Desk, *tables: DeltaTable, operation: str = "enable") -> str:
    """Pick tables, let the worker check them, and return the address of the page that offers the act."""
    given = {"table": [table.pk for table in tables], "coordinator": desk.store}
    answer = client.post(f"/tables/coordination/{operation}/", given)
    assert answer.status_code == 303, body(answer)
    job = desk.run(Job.objects.get(kind="check-many-coordination"))
    [address] = re.findall(r'href="([^"]*checked=[^"]*)"', body(client.get(f"/jobs/{job.pk}/"))) or [""]
    return address


def test_nothing_is_picked_at_first_and_what_does_not_fit_says_why(
    client: Client, desk: Desk, coordinated: DeltaTable
) -> None:
    plain = desk.plain("a/plain")

    html = body(client.get("/tables/coordination/enable/"))

    fit, _, others = html.partition('id="skipped"')
    assert "a.plain" in fit
    assert not re.search(r'name="table"[^>]* checked', fit)
    assert "Coordinated already." in others
    assert re.search(r'name="table"[^>]* checked', body(client.get(f"/tables/coordination/enable/?table={plain.pk}")))


@pytest.mark.parametrize("given", [{}, {"table": ["999999"]}, {"table": ["x"]}, {"table": [""]}])
def test_nothing_is_checked_where_nothing_that_fits_was_picked(client: Client, desk: Desk, given: Any) -> None:
    desk.plain("a/one")
    assert client.post("/tables/coordination/enable/", given | {"coordinator": desk.store}).status_code == 422
    assert not Job.objects.exists()


def test_only_the_picked_tables_that_passed_their_checks_are_offered(client: Client, desk: Desk) -> None:
    passing, failing, other = desk.plain("a/passing"), desk.plain("a/failing"), desk.plain("a/other")
    desk.console.lake.delete("a/failing/_delta_log/00000000000000000001.json")

    html = body(client.get(checked_many(client, desk, passing, failing)))

    touched, _, skipped = html.partition('id="skipped"')
    assert passing.name in touched
    assert failing.name not in touched
    assert failing.name in skipped
    assert other.name not in html
    assert not Job.objects.filter(kind="enable-many").exists()
    Job.objects.all().delete()
    assert checked_many(client, desk, failing) == ""


def test_many_need_their_number_a_reason_and_the_statement_and_are_one_job(client: Client, desk: Desk) -> None:
    address = checked_many(client, desk, desk.plain("a/one"), desk.plain("a/two"))
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', body(client.get(address))))
    given = fields | ticked(on_failure="stop", confirm="2 tables")

    assert client.post("/tables/coordination/enable/", given | {"seen": "other"}).status_code == 409
    for missing in ({"stated": ""}, {"confirm": "all"}, {"reason": " "}):
        assert client.post("/tables/coordination/enable/", given | missing).status_code == 422
    answer = client.post("/tables/coordination/enable/", given)

    job = Job.objects.get(kind="enable-many")
    assert answer["Location"] == f"/jobs/{job.pk}/"
    assert (job.params["stop_at_first_failure"], job.params["store"]) == (True, desk.store)
    assert client.post("/tables/coordination/enable/", given)["Location"] == f"/jobs/{job.pk}/"


def test_checks_of_a_quarter_of_an_hour_ago_are_made_anew(client: Client, desk: Desk) -> None:
    address = checked_many(client, desk, desk.plain("a/one"))
    made_too_long_ago(Job.objects.get(kind="check-many-coordination"))
    html = body(client.get(address))
    assert re.search(r'<button class="button danger" disabled>Enable', html)
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', html))

    answer = client.post("/tables/coordination/enable/", fields | ticked(confirm="1 table"))

    assert (answer.status_code, Job.objects.filter(kind="enable-many").count()) == (409, 0)
    assert "older than 15 minutes" in body(answer)
