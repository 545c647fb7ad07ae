"""The pages of one table: verdict, evidence, versions, entries, jobs."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from coordinator.models import DeltaTable
from dashboard.accounts.roles import Role
from dashboard.audit.log import record
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job
from tests.builders.lake import NOW, make_commit, make_entry, make_finding, make_pending, make_store, make_table
from tests.builders.people import actor, signed_in
from tests.dashboard.web.markup import flat

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
TABS = ("", "verdict/", "commits/", "commits/42/", "entries/", "jobs/", "history/")


@pytest.fixture
def client() -> Client:
    return signed_in(Role.OPERATOR)


def page(client: Client, table: DeltaTable, tab: str = "") -> str:
    answer = client.get(f"/tables/{table.pk}/{tab}")
    assert answer.status_code == 200
    return str(flat(answer))


def pending_table() -> DeltaTable:
    table = make_table(state="pending", store=make_store(), accepted_version=42, unpublished_count=1)
    make_commit(table, 41)
    make_entry(table, 41)
    make_pending(table, 42, file_size=4212)
    make_finding(table, summary="Commit 42 is accepted but not published.", meaning="No data is lost.")
    return table


@pytest.mark.parametrize("tab", TABS)
def test_an_unknown_table_or_version_is_not_found(client: Client, tab: str) -> None:
    for pk in (987654, 10**30):
        assert client.get(f"/tables/{pk}/{tab}").status_code == 404
    if tab.startswith("commits/4"):
        for version in (7, 2**63, 10**30):
            assert client.get(f"/tables/{make_table(f's3a://lake/{version}').pk}/commits/{version}/").status_code == 404


def test_the_verdict_is_the_worst_finding_with_the_others_below(client: Client) -> None:
    table = pending_table()
    make_finding(table, "foreign-writer", 31, state="healthy", summary="Version 31 was written without an entry.")

    html = page(client, table)

    assert re.search(
        r'<h2 id="verdict-title">Commit 42 is accepted but not published.</h2>\s*<p>No data is lost.', html
    )
    assert re.search(r'class="also".*Version 31 was written without an entry.', html)


def test_the_evidence_names_what_the_verdict_speaks_of(client: Client) -> None:
    table = make_table(state="unsafe")
    for version in range(38, 42):
        make_commit(table, version)
    make_entry(table, 41)
    make_entry(table, 40, complete=False, code="C9", lock_domain="s3://lake/sales/orders")
    make_finding(table, "foreign-writer", 39, state="unsafe")

    evidence = page(client, table).partition('class="evidence"')[2].partition("</table>")[0]

    assert re.findall(r'differs"><th scope="row">(.*?)</th>', evidence) == ["Lock domains", "Commit 39", "Commit 40"]


def test_of_a_log_store_that_is_not_known_no_entry_is_said_to_have_expired(client: Client) -> None:
    table = make_table(lock_domains=[])
    make_commit(table)

    html = page(client, table)

    evidence = html.partition('class="evidence"')[2].partition("</table>")[0]
    assert "in any store that is asked" in evidence
    assert "Above 41" not in evidence
    assert "Entry expired" not in html
    assert "TTL removes finished entries" not in flat(client.get(f"/tables/{table.pk}/entries/"))


DOMAINS = [
    {"store": "delta_log", "path": "s3a://lake/sales/orders"},
    {"store": "delta_log_eu", "path": "s3a://lake/sales/orders"},
]


def test_two_stores_are_two_locks_in_evidence_entries_finding_and_protocol(client: Client) -> None:
    stores = [make_store(name) for name in ("delta_log", "delta_log_eu")]
    table = make_table(state="unsafe", store=stores[0], lock_domains=DOMAINS)
    make_commit(table, 41)
    for store in stores:
        make_entry(table, 41, store=store)
    held = [{**domain, "newest_entry": 41, "writers": ["Unknown"]} for domain in DOMAINS]
    make_finding(table, "two-log-stores", None, state="unsafe", evidence={"lock_domains": held}, summary="Two stores.")

    html = page(client, table)

    evidence = html.partition('class="evidence"')[2].partition("</table>")[0]
    assert "s3a://lake/sales/orders in delta_log_eu" in evidence
    assert "2 locks" in evidence
    for store in ("delta_log", "delta_log_eu"):
        assert f"<code>s3a://lake/sales/orders</code><small>in {store}</small></td>" in html
    finding = html.partition('aria-label="Lock domains"')[2].partition("</table>")[0]
    assert re.findall(r"<td><code>(delta_log\w*)</code>", finding) == ["delta_log", "delta_log_eu"]
    assert '<td class="num">41</td><td>Unknown</td>' in finding
    assert "<small>in delta_log_eu</small>" in html.partition('id="protocol"')[2]


def test_the_timeline_draws_both_lanes_and_where_publishing_has_come_to(client: Client) -> None:
    html = page(client, pending_table())

    assert "Version 42: pending: accepted, not published" in html
    assert "published to 41" in html
    assert 'class="water"' in html


def test_an_unread_table_is_unknown_and_never_zero(client: Client) -> None:
    table = make_table(observed_at=None, state="not_checked", published_version=None, accepted_version=None)

    html = page(client, table)
    head = html.partition('class="facts across"')[2].partition("</dl>")[0]

    assert "This table has not been read yet." in html
    assert head.count("Unknown") == 2
    assert "No evidence yet" in html


def test_a_failed_reading_is_said_beside_what_was_read_before(client: Client) -> None:
    table = make_table(
        error_at=NOW + timedelta(minutes=1), error_code="AccessDenied", error_text="s3:ListBucket denied."
    )

    html = page(client, table)

    assert "s3:ListBucket denied." in html
    assert "What is shown was read" in html


@pytest.mark.parametrize("tab", ["", "commits/"])
def test_a_gone_table_says_so_keeps_its_pages_and_is_polled_no_more(client: Client, tab: str) -> None:
    table = make_table(gone_at=NOW, state="blocked")
    make_commit(table)

    html = page(client, table, tab)

    assert "This table is gone" in html
    assert "Gone · Levee" in html
    assert "hx-trigger" not in page(client, table, "verdict/")


def test_the_polled_verdict_is_a_fragment_that_polls_on_and_says_when_the_page_is_older(client: Client) -> None:
    table = pending_table()
    shown = re.search(r'hx-get="([^"]+shown=[^"]+)"', page(client, table))
    assert shown is not None
    html = flat(client.get(shown[1]))
    assert html.lstrip().startswith('<section class="verdict section" id="verdict"')
    assert 'hx-trigger="every 15s"' in html
    assert "<html" not in html
    assert "older than this verdict" not in html

    DeltaTable.objects.update(published_version=42)

    assert "older than this verdict" in flat(client.get(shown[1]))


def test_walking_the_commits_shows_each_version_once_with_accepted_ones_first(client: Client) -> None:
    table = make_table(accepted_version=50)
    for version in range(50):
        make_commit(table, version)
    make_pending(table, 50)

    link = rf'<td class="num"><a href="/tables/{table.pk}/commits/(\d+)/"'
    seen: list[int] = []
    tab = "commits/?size=20"
    while tab:
        html = page(client, table, tab)
        seen += [int(found) for found in re.findall(link, html)]
        following = re.search(r'<a class="button" href="(\?[^"]+)">Next', html)
        tab = "commits/" + following[1].replace("&amp;", "&") if following else ""

    assert seen == list(range(50, -1, -1))


def test_one_commit_shows_its_file_its_entry_and_what_the_file_says_or_that_there_is_none(client: Client) -> None:
    table = pending_table()
    make_commit(table, 40, operation="MERGE", added_files=6, has_checkpoint=True, etag="9b2cf535")

    html, waiting = page(client, table, "commits/40/"), page(client, table, "commits/42/")

    for said in ("00000000000000000040.json", "MERGE", "At this version", "9b2cf535", "3,871 B", "After: 41"):
        assert said in html
    for said in ("<b>No</b>", "…42.json.7f3c9b52", "Commit 42 is accepted but not published."):
        assert said in waiting
    assert "After: 42" in page(client, table, "commits/41/")


def test_entries_can_be_narrowed_to_those_that_wait(client: Client) -> None:
    table = pending_table()

    assert page(client, table, "entries/").count('<code class="nowrap" title=') == 2
    assert page(client, table, "entries/?state=unpublished").count('<code class="nowrap" title=') == 1


def test_jobs_on_the_table_are_listed(client: Client) -> None:
    table = make_table()
    here = {"kind": "observe-table", "target_type": "table", "requested_by_name": "operator"}
    Job.objects.create(title="Observe this one", target_id=str(table.pk), target_key="a", **here)
    Job.objects.create(title="Observe another", target_id="0", target_key="b", **here)

    jobs = page(client, table, "jobs/")

    assert "Observe this one" in jobs
    assert "Observe another" not in jobs


def test_observing_carries_a_csrf_token_and_stays_where_it_was_asked_for(client: Client) -> None:
    table = make_table()

    form = page(client, table).partition(f'action="/tables/{table.pk}/observe/"')[2].partition("</form>")[0]
    before = f"/tables/{table.pk}/jobs/"
    answer = client.post(f"/tables/{table.pk}/observe/", headers={"Referer": f"http://testserver{before}"})
    elsewhere = client.post(f"/tables/{table.pk}/observe/", headers={"Referer": f"http://elsewhere{before}"})

    job = Job.objects.get(target_id=str(table.pk))
    seen = page(signed_in(Role.VIEWER), table)
    assert "csrfmiddlewaretoken" in form
    assert ("disabled>Observe now" in form, "disabled>Observe now" in seen) == (False, True)
    assert (answer.status_code, answer["Location"]) == (303, before)
    assert elsewhere["Location"] == f"/tables/{table.pk}/"
    assert f'Being looked at… <a href="/jobs/{job.pk}/">' in page(client, table)


@pytest.mark.parametrize("tab", ["", "commits/", "entries/", "jobs/", "history/?until=2026-11-21", "verdict/"])
def test_a_tab_takes_the_same_number_of_queries_however_much_there_is(client: Client, tab: str) -> None:
    table = make_table(store=make_store())

    def queries_after(versions: range) -> int:
        for version in versions:
            make_commit(table, version)
            make_entry(table, version)
            make_finding(table, version=version)
            record(actor(), "lake.observe", target_type="table", target_id=str(table.pk))
        with CaptureQueriesContext(connection) as captured:
            page(client, table, tab)
        return len(captured)

    assert queries_after(range(1)) == queries_after(range(1, 30)) <= 25


def test_a_version_inside_a_run_shows_the_finding_of_the_run(client: Client) -> None:
    table = make_table()
    make_finding(table, "C6", 41, summary="Their files are gone.", evidence={"first_version": 39}, state="blocked")
    make_commit(table, 38)

    shown = [
        version for version in (38, 39, 40, 41) if "Their files are gone." in page(client, table, f"commits/{version}/")
    ]

    assert shown == [39, 40, 41]


def test_the_tab_of_commits_counts_the_rows_of_its_page(client: Client) -> None:
    table = make_table(accepted_version=43, unpublished_count=2)
    make_commit(table, 41)
    make_entry(table, 41)
    make_pending(table, 42)
    make_pending(table, 43)
    make_pending(table, 43, lock_domain="s3://lake/sales/orders")

    html = page(client, table, "commits/")

    rows = set(re.findall(rf'href="/tables/{table.pk}/commits/(\d+)/"', html))
    assert rows == {"41", "42", "43"}
    assert re.search(r'aria-current="page">Commits <span class="dim">3</span>', html)


def test_an_entry_of_an_old_writer_does_not_agree_under_a_warning(client: Client) -> None:
    table = make_table(state="attention", summary="1 entry carries commitTime.")
    for version in (40, 41):
        make_commit(table, version)
        make_entry(table, version, expire_time=None, commit_time=1_700_000_000)

    html = page(client, table)

    assert html.count("Carries commitTime") == 2


def test_a_version_that_the_item_no_longer_lists_is_not_in_its_list(client: Client) -> None:
    table = make_table(state="blocked", mechanism="coordinated_commits", accepted_version=42, published_version=41)
    make_commit(table, 41)
    make_pending(table, 42, code="K6", file="", complete=None)

    html = page(client, table)

    row = html.partition(">Commit 42<")[2].partition("</tr>")[0]
    assert "not in the item's list" in unescape(row)
    assert "Last published" in html
    assert not re.search("names no file|Last commit", html)


TABS_WITH_OFFERS = ("", "compatibility/", "coordination/{act}/")
AWS_ALONE = "calls AWS only, and this connection reaches DynamoDB at http://127.0.0.1:9"
WAITING, STEPS, UNPUBLISHED = {"unpublished_count": 1}, "/tables/{pk}/#steps", "/tables/{pk}/entries/?state=unpublished"
WAITS = "A commit is accepted and not published: publish it first."
ALONE, COORDINATED = {"mechanism": "single_driver"}, {"mechanism": "coordinated_commits"}
HALF_DROPPED = ALONE | {"writer_features": ["coordinatedCommits-preview"]}
BACKFILL = {"state": "unbackfilled", "repairs": ["backfill"]}


@pytest.mark.parametrize(
    ("act", "fields", "states", "reason", "way"),
    [
        ("enable", {"lock_domains": DOMAINS[:1]}, [], AWS_ALONE, ""),
        ("enable", WAITING, ["blocked"], "The table is blocked: that comes first.", STEPS),
        ("enable", WAITING, [], WAITS, UNPUBLISHED),
        ("drop", WAITING, ["blocked"], "The table is blocked: that comes first.", STEPS),
        ("drop", {}, ["unsafe"], "The table is unsafe: that comes first.", STEPS),
        ("drop", WAITING, ["pending"], WAITS, UNPUBLISHED),
    ],
)
def test_an_act_is_off_with_its_reason_wherever_it_is_offered(
    client: Client, act: str, fields: dict[str, Any], states: list[str], reason: str, way: str
) -> None:
    table = make_table(**(ALONE if act == "enable" else COORDINATED) | fields)
    Connection.objects.update(endpoint_url="http://127.0.0.1:9" if reason == AWS_ALONE else "")
    for state in states:
        make_finding(table, state=state)

    for tab in TABS_WITH_OFFERS:
        html = page(client, table, tab.format(act=act))
        assert html.count(reason) == 1
        assert f'class="button" href="/tables/{table.pk}/coordination/{act}/"' not in html
        assert not way or f'href="{way.format(pk=table.pk)}"' in html
    assert reason in flat(client.get(f"/tables/coordination/{act}/"))
    assert f'data-can="{act}"' in (listed := flat(client.get("/tables/")))
    assert not re.search(rf'type="checkbox"[^>]+data-can="[^"]*{act}', listed)


@pytest.mark.parametrize(
    ("act", "fields", "findings"),
    [
        ("enable", ALONE, [{"code": "foreign-writer", "state": "unsafe"}]),
        ("drop", COORDINATED, []),
        ("drop", COORDINATED | WAITING, [BACKFILL | {"code": "K3", "state": "blocked"}]),
        ("drop", HALF_DROPPED | WAITING, [BACKFILL, {"code": "half-dropped", "state": "attention"}]),
    ],
)
def test_an_act_is_offered_where_nothing_is_in_the_way(
    client: Client, act: str, fields: dict[str, Any], findings: list[dict[str, Any]]
) -> None:
    table = make_table(**fields)
    for finding in findings:
        make_finding(table, **finding)

    assert f'class="button" href="/tables/{table.pk}/coordination/{act}/"' in page(client, table)
    assert re.search(r'<button class="button primary">Check<', page(client, table, f"coordination/{act}/"))
    assert re.search(rf'type="checkbox"[^>]+data-can="[^"]*{act}', flat(client.get("/tables/")))
