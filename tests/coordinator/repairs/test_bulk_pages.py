"""Repairs of many tables: which a page says it will touch, which not and why, and what its one job does."""

import pytest
from django.test import Client

from dashboard.accounts.roles import Role
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job
from tests.builders.lake import make_finding, make_pending, make_store, make_table
from tests.builders.people import signed_in
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.pages import body, bulk_fields

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]


@pytest.fixture
def client() -> Client:
    return signed_in(Role.OPERATOR)


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
        make_finding(
            table,
            "C2" if repair else "C7",
            42,
            repairs=[repair] if repair else [],
            state="blocked",
            summary=f"Of {name}.",
        )
    make_table("s3a://lake/x/healthy", store=store)

    html = body(client.get("/tables/repairs/publish-commit/"))
    touched, _, skipped = html.partition('id="skipped"')

    assert "2 tables will be touched; 1 waits or is in trouble and will not." in html
    assert all(f"Of {name}." in touched for name in "ab")
    assert "C7: Of c." in skipped
    assert "1 with nothing that waits" in skipped


def test_one_post_repairs_every_table_shown_and_its_job_has_one_outcome_each(client: Client, console: Console) -> None:
    for root in ("a/one", "a/two"):
        console.pending(root)
    console.pending("a/damaged")
    console.lake.put(console.temp_key("a/damaged", 3), b"not a commit\n")
    posted = bulk_fields(client)

    answers = [client.post("/tables/repairs/publish-commit/", posted) for _ in range(2)]

    assert {answer.status_code for answer in answers} == {303}
    job = console.run(Job.objects.get(kind="repair-many"))
    page = body(client.get(answers[0]["Location"]))
    assert {answer["Location"] for answer in answers} == {f"/jobs/{job.pk}/"}
    assert page.count('data-label="What became of it"') == 3
    assert job.message == "3 tables: 2 done, 1 refused."
    assert f'href="/tables/{console.table("a/one").pk}/"' in page
    assert console.table("a/two").state == "healthy"


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
