"""The tables list: what it shows, how it narrows and sorts, what it hands out, and what it refuses."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from coordinator.models import DeltaTable
from coordinator.protocols.verdict import State
from coordinator.queries.next_step import NextStep
from coordinator.queries.table_list import SORTS, TableFilter, filtered
from dashboard.accounts.roles import Role
from dashboard.web import paging
from tests.builders.lake import (
    NOW,
    make_commit,
    make_connection,
    make_finding,
    make_pass,
    make_store,
    make_table,
)
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("search", "paging")]


@pytest.fixture
def client() -> Client:
    return signed_in(Role.OPERATOR)


def names(html: str) -> list[str]:
    return re.findall(r'<a class="name" href="/tables/\d+/"><bdi[^>]*>(.*?)</bdi>', html)


def shown(client: Client, address: str = "/tables/") -> list[str]:
    return names(flat(client.get(address)))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("state=pending", ["sales.orders"]),
        ("state=all", ["sales.orders", "web.clicks"]),
        ("q=CLICK", ["web.clicks"]),
        ("q=s3n://other//web/clicks", ["web.clicks"]),
        ("q=s3://other/web/cl%2569cks", ["web.clicks"]),
        ("q=s3://", ["sales.orders", "web.clicks"]),
        ("q=4f1c", ["sales.orders"]),
        ("mechanism=single_driver", ["web.clicks"]),
        ("bucket=lake", ["sales.orders"]),
        ("connection=staging", ["web.clicks"]),
        ("store={store}", ["sales.orders"]),
        ("table={table}", ["sales.orders"]),
        ("state=unpublished", ["sales.orders"]),
        ("state=pending&bucket=other", []),
    ],
)
def test_each_filter_narrows(client: Client, query: str, found: list[str]) -> None:
    store = make_store()
    table = make_table(state="pending", delta_id="4f1c0b7e", unpublished_count=1, store=store)
    make_table("s3a://other/web/clicks", connection=make_connection("staging"), mechanism="single_driver")

    assert shown(client, f"/tables/?{query.format(store=store.pk, table=table.pk)}") == found


def test_one_or_two_characters_are_not_looked_for_among_very_many_tables(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_table()
    make_table("s3a://other/web/clicks")
    monkeypatch.setattr(paging, "MOST_LOOKED_THROUGH", 1)

    page = flat(client.get("/tables/?q=cl"))

    assert "“cl” is too short to be looked for among so many tables" in page
    assert names(page) == ["sales.orders", "web.clicks"]
    assert shown(client, "/tables/?q=cli") == ["web.clicks"]
    assert "web.clicks" not in flat(client.get("/find/?q=cl"))


@pytest.mark.parametrize(
    "query",
    ["state=stuck", "mechanism=zookeeper", "store=x", "store=99999999999999999999", "q=%00", "bucket=" + "b" * 64],
)
def test_a_filter_that_cannot_be_read_is_said_and_shows_no_rows(client: Client, query: str) -> None:
    make_table()

    answer = client.get(f"/tables/?{query}")

    assert answer.status_code == 422
    assert names(flat(answer)) == []
    assert "cannot be read" in flat(answer)


def test_counts_by_state_keep_the_other_filters_and_open_their_lists(client: Client) -> None:
    make_table("s3a://lake/a/one", state="blocked")
    make_table("s3a://other/a/two", state="blocked")

    html = flat(client.get("/tables/?bucket=lake&sort=name"))

    link = re.search(r'href="(\?[^"]*state=blocked[^"]*)".*?<b>(\d+)</b>', html)
    assert link is not None
    assert link[2] == "1"
    assert shown(client, "/tables/" + link[1].replace("&amp;", "&")) == ["a.one"]


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ("state", ["c.unread", "a.newest", "b.oldest"]),
        ("name", ["a.newest", "b.oldest", "c.unread"]),
        ("-version", ["a.newest", "b.oldest", "c.unread"]),
        ("version", ["b.oldest", "a.newest", "c.unread"]),
    ],
)
def test_the_worst_comes_first_and_unknown_values_last_in_either_direction(
    client: Client, sort: str, found: list[str]
) -> None:
    make_table("s3a://lake/a/newest", published_version=9)
    make_table("s3a://lake/b/oldest", published_version=2)
    make_table("s3a://lake/c/unread", published_version=None, state="not_checked")

    assert shown(client, f"/tables/?sort={sort}") == found


@pytest.mark.parametrize("sort", ["state", "-version", "-last"])
def test_walking_the_pages_shows_each_table_once(client: Client, sort: str) -> None:
    for place in range(47):
        state = ["healthy", "pending", "blocked"][place % 3]
        version = None if place % 5 == 0 else place % 4
        make_table(f"s3a://lake/x/t{place % 10}", prefix=f"x/{place}", state=state, published_version=version)

    seen, address = [], f"/tables/?sort={sort}&size=20"
    while address:
        html = flat(client.get(address))
        seen += re.findall(r'<a class="name" href="/tables/(\d+)/"', html)
        assert not re.search(r"Next \d", html), "a number of rows that may not be left"
        following = re.search(r'<a class="button" href="(\?[^"]+)">Next', html)
        address = "/tables/" + following[1].replace("&amp;", "&") if following else ""

    assert (len(seen), len(set(seen))) == (47, 47)


def test_an_unread_table_is_unknown_and_never_zero(client: Client) -> None:
    make_table(
        observed_at=None, state="not_checked", published_version=None, last_commit_at=None, error_text="AccessDenied."
    )

    row = flat(client.get("/tables/")).partition('<tbody class="item">')[2].partition("</tbody>")[0]

    assert row.count("Unknown") == 4
    assert "AccessDenied." in row
    assert ">0<" not in row


def pending_table() -> DeltaTable:
    table = make_table(state="pending", summary="Commit 1,042 is accepted but not published.")
    make_finding(table, code="C2", version=1042, state=State.PENDING, repairs=["publish-commit"])
    return table


def test_a_troubled_row_says_why_and_begins_its_first_step_or_leads_to_it(client: Client) -> None:
    table = pending_table()
    html, seen = flat(client.get("/tables/")), flat(signed_in(Role.VIEWER).get("/tables/"))

    assert "Commit 1,042 is accepted but not published." in html
    form = html.partition(f'action="/tables/{table.pk}/repairs/"')[2].partition("</form>")[0]
    assert 'name="repair" value="publish-commit"' in form
    assert 'name="version" value="1042"' in form
    assert "Publish 1,042…" in form
    assert f'action="/tables/{table.pk}/repairs/"' not in seen
    assert f'href="/tables/{table.pk}/#repair-publish-commit-C2-1042"' in seen


def test_a_row_names_its_act_by_verb_and_version() -> None:
    label = "Publish the accepted staged file of commit 2…"
    assert NextStep("", label, "").short == "Publish 2…"


@pytest.mark.parametrize(
    ("code", "state", "button", "place"),
    [("C7", State.BLOCKED, "See the steps", "#steps"), ("foreign-writer", State.UNSAFE, "See the writers", "writers/")],
)
def test_a_step_that_is_no_repair_is_led_to(client: Client, code: str, state: State, button: str, place: str) -> None:
    table = make_table(state=state)
    make_finding(table, code=code, version=7, state=state, repairs=[])
    make_finding(table, code="C9", version=5, state=State.ATTENTION, repairs=["complete-entry"])

    assert re.search(rf'href="/tables/{table.pk}/{place}"[^>]*>{button}</a>', flat(client.get("/tables/")))


def test_a_row_that_is_picked_says_which_acts_on_many_would_touch_it(client: Client) -> None:
    pending = rf'name="table" value="{pending_table().pk}" form="selection" data-can="publish-commit[^"]*"'
    assert re.search(pending, flat(client.get("/tables/")))


def test_a_gone_table_is_listed_only_where_it_is_asked_for(client: Client) -> None:
    make_table("s3a://lake/a/here")
    make_table("s3a://lake/a/gone", gone_at=NOW, state="blocked")

    found = [shown(client, f"/tables/{query}") for query in ("", "?state=blocked", "?state=gone")]
    assert found == [["a.here"], [], ["a.gone"]]


def test_commits_of_the_last_day_are_drawn_with_their_number(client: Client) -> None:
    table = make_table()
    for version in range(3):
        make_commit(table, version, modified_at=timezone.now())

    assert 'aria-label="3 commits in 24 hours"' in flat(client.get("/tables/"))


def test_a_sandbox_that_is_being_made_says_how_far_it_is(client: Client, settings: Settings, tmp_path: Path) -> None:
    settings.SANDBOX_ENDPOINT_FILE = tmp_path / "endpoint"
    settings.SANDBOX_MAKING_FILE = tmp_path / "making"
    settings.SANDBOX_ENDPOINT_FILE.write_text("http://127.0.0.1:5005")
    settings.SANDBOX_MAKING_FILE.write_text(f"26 {timezone.now().timestamp() + 91:.0f}")
    make_table(connection=make_connection("sandbox"))
    make_table("s3a://elsewhere/t", connection=make_connection("prod"))

    assert "1 of 26 tables, about 90 s more" in flat(client.get("/tables/"))
    settings.SANDBOX_MAKING_FILE.unlink()
    assert "The sandbox is being made" not in flat(client.get("/tables/"))


def test_a_pass_that_failed_is_said_above_what_was_read_before(client: Client) -> None:
    make_table()
    make_pass(error_code="AccessDenied", error_text="AccessDenied: s3:ListBucket is denied.")

    html = flat(client.get("/tables/"))

    assert "s3:ListBucket is denied." in html
    assert names(html) == ["sales.orders"]


def test_the_list_takes_the_same_number_of_queries_for_one_row_and_for_fifty(client: Client) -> None:
    def queries_after_adding(count: int) -> int:
        for _ in range(count):
            place = DeltaTable.objects.count()
            table = make_table(f"s3a://lake/x/t{place:03}", store=make_store(f"store-{place}"), state="pending")
            make_finding(table)
            make_commit(table)
        with CaptureQueriesContext(connection) as captured:
            client.get("/tables/?size=50")
        return len(captured)

    assert queries_after_adding(1) == queries_after_adding(49) <= 26


def test_exports_hold_the_whole_query_and_csv_no_formulas(client: Client) -> None:
    for place in range(60):
        make_table(f"s3a://lake/x/t{place:02}", state="pending")
    make_table("s3a://lake/y/t", name="=HYPERLINK(1)", summary="+1", state="pending", published_version=None)
    make_table("s3a://lake/healthy/t")

    answers = {form: client.get(f"/tables/?state=pending&format={form}&size=20&sort=name") for form in ("csv", "json")}
    sent = {form: one.content.decode() for form, one in answers.items()}

    rows, tables = list(csv.DictReader(io.StringIO(sent["csv"]))), json.loads(sent["json"])["tables"]
    assert (len(rows), len(tables)) == (61, 61)
    assert (rows[0]["name"], rows[0]["summary"]) == ("'=HYPERLINK(1)", "'+1")
    assert (tables[0]["name"], tables[0]["published_version"]) == ("=HYPERLINK(1)", None)
    assert {row["state"] for row in rows} == {"pending"}
    assert "attachment" in answers["csv"]["Content-Disposition"]


def test_htmx_gets_the_rows_and_the_counts_without_the_page(client: Client) -> None:
    make_table()

    answer = client.get("/tables/?q=orders&mechanism=", headers={"HX-Request": "true", "HX-Target": "results"})
    html = flat(answer)

    assert html.lstrip().startswith('<section id="results"')
    assert 'id="tally" hx-swap-oob="true"' in html
    assert "<html" not in html
    assert answer["HX-Push-Url"] == "/tables/?q=orders"


def test_the_filters_work_without_script(client: Client) -> None:
    make_table(state="pending")

    html = flat(client.get("/tables/?state=pending&sort=-version"))
    form = html.partition('id="filters"')[2].partition("</form>")[0]

    assert 'method="get" action="/tables/"' in form
    assert '<input type="hidden" name="state" value="pending">' in form
    assert '<input type="hidden" name="sort" value="-version">' in form
    assert "<noscript><button" in form


def test_one_page_is_read_through_an_index_and_never_sorted() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL chooses by statistics, which a test's few rows do not give it")
    for sort in SORTS:
        columns = [("-" if column.descending else "") + column.field for column in sort.columns]
        plan = filtered(TableFilter()).order_by(*columns)[:50].explain()
        assert "USING INDEX table_" in plan or "USING COVERING INDEX table_" in plan, plan
        assert "TEMP B-TREE" not in plan, plan
