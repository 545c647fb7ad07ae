"""Commit stores and buckets: facts as they were read, and Unknown for those that were not."""

import re
import shlex
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from coordinator.models import Bucket, CommitStore
from coordinator.observation.settings_of_aws import judge_bucket_again
from coordinator.queries import stores as store_queries
from coordinator.settings.views_of import tables_before_ttl
from dashboard.accounts.roles import Role
from tests.builders.lake import (
    NOW,
    bucket_facts,
    make_bucket,
    make_commit,
    make_entry,
    make_finding,
    make_pending,
    make_store,
    make_table,
    store_facts,
)
from tests.builders.people import signed_in
from tests.coordinator.repairs.pages import body
from tests.dashboard.web.markup import flat
from tests.json_types import printed

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
DAY = timedelta(days=1)


@pytest.fixture
def client() -> Client:
    return signed_in(Role.VIEWER)


@pytest.fixture
def operator() -> Client:
    return signed_in(Role.OPERATOR)


def test_a_store_that_could_not_be_read_is_unknown_with_its_refusal(client: Client) -> None:
    store = make_store(
        facts={}, observed_at=None, state="not_checked", error_at=NOW, error_text="DescribeTable denied."
    )

    for address in ("/stores/", f"/stores/{store.pk}/"):
        html = flat(client.get(address))
        assert html.count("Unknown") >= 5
        assert "DescribeTable denied." in html


def test_the_worst_store_heads_the_page(client: Client) -> None:
    make_store("a_healthy")
    make_store("z_unsafe", state="unsafe", summary="TTL is on commitTime.")

    html = flat(client.get("/stores/"))

    assert '<h2 id="verdict-title">z_unsafe: TTL is on commitTime.</h2>' in html
    assert re.findall(r'class="name mono" href="/stores/\d+/">(\w+)<', html) == ["z_unsafe", "a_healthy"]


def test_a_long_sentence_stands_whole_and_once_below_its_title(client: Client) -> None:
    said = "TTL is on commitTime, which old writers set to the moment of the commit: entries may go before it is over."
    findings = [{"code": "ttl-on-commit-time", "state": "unsafe", "summary": said, "meaning": ""}]
    store = make_store(state="unsafe", summary=said, facts=store_facts(findings=findings))
    table = make_table(state="blocked")
    make_finding(table, code="K7", state="blocked", summary=said)

    for path, title in (
        ("/stores/", "TTL may delete an entry during its commit"),
        (f"/stores/{store.pk}/", "TTL may delete an entry during its commit"),
        (f"/tables/{table.pk}/", "A staged file is gone"),
    ):
        html = flat(client.get(path))
        assert f'id="verdict-title">{title}</h2>' in html
        assert html.count(f"{said}</p>") == 1


def test_the_number_of_tables_opens_their_list_and_leaves_out_the_gone(client: Client) -> None:
    store = make_store()
    make_table("s3a://lake/x/here", store=store)
    make_table("s3a://lake/x/gone", store=store, gone_at=NOW)

    assert f'<a href="/tables/?store={store.pk}">1</a>' in flat(client.get("/stores/"))


def test_rules_that_could_not_be_read_are_unknown_and_not_none(client: Client) -> None:
    unknown = [["lifecycle_rules", "AccessDenied: s3:GetLifecycleConfiguration is missing."]]
    bucket = make_bucket(facts=bucket_facts(lifecycle_rules=None, versioning=None, unknown=unknown))

    html = flat(client.get(f"/buckets/{bucket.pk}/"))

    assert "the rules could not be read" in html
    assert "s3:GetLifecycleConfiguration is missing." in html
    assert "Unknown" in flat(client.get("/buckets/"))
    assert client.get(f"/buckets/{make_bucket('unread', facts={}).pk}/").status_code == 200


def test_every_finding_of_a_store_stands_on_its_page(client: Client) -> None:
    findings = [
        {"code": "a", "state": "unsafe", "summary": "TTL is on commitTime.", "meaning": "Entries may go too early."},
        {"code": "b", "state": "attention", "summary": "Recovery is off.", "meaning": ""},
    ]
    facts = store_facts(findings=findings)
    store = make_store(state="unsafe", summary="TTL is on commitTime.", facts=facts)

    html = flat(client.get(f"/stores/{store.pk}/"))

    assert html.count("TTL is on commitTime.") == 1
    assert "<p>Entries may go too early.</p>" in html
    assert "Also</span> Recovery is off." in html


@pytest.mark.parametrize(("address", "said"), [("/stores/", "No commit store yet"), ("/buckets/", "No bucket yet")])
def test_nothing_yet_says_what_to_do(client: Client, address: str, said: str) -> None:
    html = flat(client.get(address))

    assert said in html
    assert "levee apply" in html


def test_the_lists_take_the_same_number_of_queries_however_many_there_are(client: Client) -> None:
    def queries(names: range) -> list[int]:
        for name in names:
            make_table(f"s3a://bucket-{name}/x/t", store=make_store(f"store-{name}"))
            make_bucket(f"bucket-{name}")
        counts = []
        for address in ("/stores/", "/buckets/"):
            with CaptureQueriesContext(connection) as captured:
                client.get(address)
            counts.append(len(captured))
        return counts

    assert queries(range(1)) == queries(range(1, 20))


def test_a_rule_with_every_act_is_put_into_words() -> None:
    rule = {
        "ID": "r",
        "Status": "Enabled",
        "Filter": {"And": {"Prefix": "old/", "Tags": [{"Key": "k", "Value": "v"}], "ObjectSizeGreaterThan": 5}},
        "Expiration": {"ExpiredObjectDeleteMarker": True},
        "NoncurrentVersionExpiration": {"NoncurrentDays": 90, "NewerNoncurrentVersions": 2},
        "NoncurrentVersionTransitions": [{"NoncurrentDays": 30, "StorageClass": "GLACIER"}],
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
    }

    applies, does = (
        " ".join(render_to_string(f"coordinator/parts/rule_{part}.html", {"rule": rule}).split())
        for part in ("applies", "does")
    )

    for told in ("old/", "tag k = v", "larger than 5 B"):
        assert f"<code>{told}</code>" in applies
    assert "whole bucket" not in applies
    for told in (
        "Removes lone delete markers",
        "Deletes old versions after 90 days, keeps 2",
        "Moves old versions to GLACIER",
        "Aborts unfinished uploads after 7 days",
    ):
        assert told in does


def test_a_store_shows_what_its_commits_need_beside_what_it_has(operator: Client) -> None:
    load = {"read_throttles": 3, "write_throttles": 7, "peak_reads": 4.0, "peak_writes": 5.0}
    facts = store_facts(billing="provisioned", read_capacity=5, write_capacity=5, load=load)
    store = make_store(facts=facts)
    make_commit(make_table(store=store), modified_at=timezone.now() - timedelta(hours=1))

    html = body(operator.get(f"/stores/{store.pk}/"))

    assert "too few reads and writes. Provision more, or change to on demand." in html
    assert 'data-label="Throttled">7<' in html
    assert "2 puts" in html
    assert "peak 5 writes/s, 10 throttled, 24 h" in body(operator.get("/stores/"))


def test_a_coordinator_with_ttl_is_told_as_a_danger(operator: Client) -> None:
    store = make_store("commits", kind=CommitStore.Kind.COMMIT_COORDINATOR)

    html = body(operator.get(f"/stores/{store.pk}/ttl/"))

    assert "TTL is on in a coordinator: DynamoDB may delete registrations." in html
    assert 'value="disable-ttl"' in html
    assert "migrate-ttl" not in html


def test_ttl_on_the_old_attribute_says_why_it_matters_and_offers_the_move(operator: Client) -> None:
    store = make_store(facts=store_facts(ttl_attribute="commitTime"))

    html = body(operator.get(f"/stores/{store.pk}/ttl/"))

    assert "TTL is on commitTime: this store can lose commits." in html
    assert 'value="migrate-ttl"' in html
    assert f'href="/stores/{store.pk}/ttl/">Move TTL to expireTime…' in body(operator.get(f"/stores/{store.pk}/"))


def without_ttl(**entry: Any) -> CommitStore:
    facts = store_facts(ttl_status="DISABLED", ttl_attribute=None)
    store = make_store(facts=facts)
    make_entry(make_table(store=store), store=store, **entry)
    return store


def test_ttl_is_off_while_it_would_take_the_entry_of_a_lost_file(operator: Client) -> None:
    store = without_ttl(code="C7", published=False)
    [table] = tables_before_ttl(store)

    for page in (f"/stores/{store.pk}/", f"/stores/{store.pk}/ttl/"):
        html = flat(operator.get(page))
        assert "TTL would let another commit take its version" in html
        assert f'href="/tables/{table.pk}/"><bdi>{table.name}</bdi>' in html
    assert 'value="enable-ttl" disabled' in html


@pytest.mark.parametrize("entry", [{}, {"code": "C2", "published": False, "expire_time": None}])
def test_ttl_is_offered_where_every_entry_that_carries_a_time_has_its_file(
    operator: Client, entry: dict[str, Any]
) -> None:
    html = flat(operator.get(f"/stores/{without_ttl(**entry).pk}/ttl/"))

    assert 'value="enable-ttl">' in html
    assert "TTL would let another commit" not in html


def test_a_bucket_shows_every_rule_as_read_with_what_it_touches_and_when_it_first_bites(operator: Client) -> None:
    temp = {"Prefix": "sales/orders/_delta_log/.tmp/"}
    rules = [
        {"ID": "tmp", "Status": "Enabled", "Filter": temp, "Expiration": {"Days": 3}},
        {"ID": "all", "Status": "Disabled", "Filter": {}, "Transitions": [{"Days": 30, "StorageClass": "GLACIER"}]},
        {"ID": "wide", "Status": "Enabled", "Filter": {"Prefix": "sales/"}, "Expiration": {"Days": 90}},
    ]
    bucket = make_bucket(facts=bucket_facts(lifecycle_rules=rules))
    make_commit(make_table(store=make_store()), 0, modified_at=timezone.now())

    html = body(operator.get(f"/buckets/{bucket.pk}/"))

    for said in ("Expires objects after 3 days", "The whole bucket", "Moves objects to GLACIER after 30 days"):
        assert said in html
    assert '"Prefix": "sales/orders/_delta_log/.tmp/"' in html
    assert "sales.orders" in html
    assert html.index("<code>wide</code>") < html.index("<code>tmp</code>")
    assert "<b>Log</b>" in html
    bites = timezone.now() + timedelta(days=90 + 1)  # S3 rounds up to midnight
    assert re.search(rf"{bites:%b} {bites:%Y} 00:00 UTC</span>", html)
    assert html.count('value="remove-temp-rule"') == 1


def bucket_at_risk(rule: dict[str, Any], files: int) -> Bucket:
    """A bucket whose rule takes that many files of commit 7 in five days."""
    at = (timezone.now() + DAY * 5).isoformat()
    deadlines = [
        {
            "at": at, "state": "attention", "what": "last copy of a commit", "rule": rule["ID"], "does": "deletes",
            "table": "sales/orders", "tables": 1, "version": 7, "file": f".tmp/{number}", "condition": "",
        } for number in range(files)
    ]  # fmt: skip
    evidence = {"rule": rule["ID"], "table": "sales/orders"}
    finding = {"code": "x", "state": "attention", "summary": "Soon.", "meaning": "", "evidence": evidence}
    found = {"lifecycle_rules": [{"Status": "Enabled", **rule}], "deadlines": deadlines, "deadlines_in_all": files}
    make_commit(make_table(store=make_store()), 0, modified_at=timezone.now())
    return make_bucket(state="attention", facts=bucket_facts(**found, findings=[finding]))


def test_a_bucket_has_its_decision_on_top_and_deadlines_of_one_commit_in_one_row(operator: Client) -> None:
    rule = {"ID": "tmp", "Filter": {"Prefix": "sales/orders/_delta_log/.tmp/"}, "Expiration": {"Days": 3}}
    bucket = bucket_at_risk(rule, files=20)

    html = flat(operator.get(f"/buckets/{bucket.pk}/?prefix=sales/orders"))

    parts = ('href="?prefix=sales/orders#change">Change rule tmp…', 'id="deadlines"', 'id="change"', 'id="rules"')
    places = [html.index(part) for part in parts]
    assert places == sorted(places)
    assert html.count("What may be the last copy of commit 7 of sales/orders") == 1
    assert "And 19 more files: 20 in all" in html
    assert html.count("<bdi>.tmp/") == 20
    assert '<option value="sales/orders" selected>sales.orders</option>' in html


def test_a_dangerous_rule_that_levee_does_not_keep_has_what_to_paste(operator: Client) -> None:
    name = "all'; rm -r ~"
    bucket = bucket_at_risk({"ID": name, "Filter": {}, "Expiration": {"Days": 5}}, files=1)

    html = unescape(flat(operator.get(f"/buckets/{bucket.pk}/")))

    assert f"Switch rule {name} off…" in html
    assert f"jq --arg id {shlex.quote(name)} " in html


def test_tables_with_several_writers_stand_among_the_stores_with_the_way_out(operator: Client) -> None:
    table = make_table(mechanism="single_driver", state="attention")
    make_finding(table, "several-writers", None, state="attention", summary="2 writers.", meaning="Stop all but one.")

    html = body(operator.get("/stores/"))

    assert "2 writers. Stop all but one." in html
    assert f"/tables/{table.pk}/coordination/enable/" in html


def test_list_and_page_of_buckets_tell_of_as_many_rules_on_temp_files(client: Client) -> None:
    said = "3 of 4 tables have a lifecycle rule on .tmp."
    evidence = {"tables": 4, "covered": 3}
    note = {"code": "temp-rules", "state": "healthy", "summary": said, "meaning": "", "evidence": evidence}
    bucket = make_bucket(facts=bucket_facts(findings=[note]))

    assert said in flat(client.get(f"/buckets/{bucket.pk}/"))
    assert "3 of 4 tables" in flat(client.get("/buckets/"))


def test_a_store_that_dynamodb_has_not_counted_is_not_said_to_hold_nothing(client: Client) -> None:
    store = make_store(facts=store_facts(item_count=0))

    assert "None counted yet" in flat(client.get(f"/stores/{store.pk}/"))


RULE = {
    "ID": "tmp-4d",
    "Status": "Enabled",
    "Filter": {"Prefix": "sales/orders/_delta_log/.tmp"},
    "Expiration": {"Days": 4},
}


def judged(*rules: dict[str, Any], at: datetime = NOW + DAY) -> Bucket:
    """A bucket with a commit that waits since NOW, judged at a moment."""
    make_pending(make_table())
    bucket = make_bucket(facts=bucket_facts(lifecycle_rules=list(rules or [RULE]), tiering=[]))
    judge_bucket_again(bucket, at)
    return bucket


def section(bucket: Bucket) -> str:
    html = flat(signed_in(Role.VIEWER).get(f"/buckets/{bucket.pk}/"))
    return str(html.partition('id="deadlines"')[2].partition('id="rules"')[0])


def test_a_deadline_stands_on_the_page_with_its_date_its_commit_and_its_rule() -> None:
    shown = section(judged())

    for said in ("25 Nov 2026 00:00 UTC", "Commit 42 of sales/orders, not published", ".tmp/0000", "tmp-4d"):
        assert said in shown
    assert "Attention" in shown


def test_one_that_is_far_away_wears_no_state() -> None:
    shown = section(judged({**RULE, "Expiration": {"Days": 40}}))

    assert "More than 14 days away" in shown
    assert "Healthy" not in shown


def test_what_comes_later_is_counted_and_logs_of_several_tables_share_a_line() -> None:
    for name in ("a", "b", "c"):
        make_commit(make_table(f"s3a://lake/x/{name}"))
    for version in range(30):
        make_pending(make_table(f"s3a://lake/y/{version}"))
    shown = section(judged({**RULE, "Filter": {"Prefix": "x/"}}, {**RULE, "ID": "y", "Filter": {"Prefix": "y/"}}))

    assert "The log of x/a and of 2 other tables" in shown
    assert "Data files of x/a and of 2 other tables" in shown
    assert "14 more come later." in shown


def test_json_holds_every_deadline_and_text_names_date_state_commit_and_rule(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bucket = judged()

    document = printed("bucket", bucket.name)

    assert document["deadlines"] == [
        {
            "at": "2026-11-25T00:00:00Z",
            "state": "attention",
            "what": "unpublished commit",
            "rule": "tmp-4d",
            "does": "deletes",
            "table": "sales/orders",
            "tables": 1,
            "version": 42,
            "file": f".tmp/{42:020d}.json.7f3c9b52",
            "condition": "",
        }
    ]
    assert document["deadlines_in_all"] == 1
    assert not document["settings"].keys() & {"deadlines", "judge_again_at"}
    assert [one["deadlines"] for one in printed("buckets")] == [document["deadlines"]]
    call_command("bucket", bucket.name)
    told = capsys.readouterr().out
    assert "2026-11-25 00:00 UTC Attention    Commit 42 of sales/orders, not published: tmp-4d deletes" in told


def test_a_check_that_failed_is_not_headed_by_what_an_older_one_found() -> None:
    older = {
        "findings": [{"code": "lifecycle-takes-unpublished", "state": "unsafe", "summary": "Rule 7 takes the copy."}]
    }

    assert store_queries.title(Bucket(summary="The last check failed: AccessDenied.", facts=older)) == ""
    assert (
        store_queries.title(Bucket(summary="Rule 7 takes the copy.", facts=older))
        == "A rule will take the copy of a commit"
    )
