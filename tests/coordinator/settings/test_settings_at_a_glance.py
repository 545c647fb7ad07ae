"""What the pages of stores and buckets show before anything is changed."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from coordinator.models import CommitStore
from dashboard.accounts.roles import Role
from tests.builders.lake import (
    bucket_facts,
    make_bucket,
    make_commit,
    make_entry,
    make_finding,
    make_store,
    make_table,
    store_facts,
)
from tests.builders.people import signed_in
from tests.coordinator.repairs.pages import body

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in(Role.OPERATOR)


def test_a_store_shows_what_its_commits_need_beside_what_it_has(client: Client) -> None:
    load = {"read_throttles": 3, "write_throttles": 7, "peak_reads": 4.0, "peak_writes": 5.0}
    facts = store_facts(billing="provisioned", read_capacity=5, write_capacity=5, load=load)
    store = make_store(facts=facts)
    make_commit(make_table(store=store), modified_at=timezone.now() - timedelta(hours=1))

    html = body(client.get(f"/stores/{store.pk}/"))

    assert "too few reads and writes. Provision more, or change to on demand." in html
    assert 'data-label="Throttled">7<' in html
    assert "2 puts" in html
    assert "peak 5 writes/s, 10 throttled, 24 h" in body(client.get("/stores/"))


def test_a_store_counts_entries_that_ttl_leaves_behind(client: Client) -> None:
    store = make_store(facts=store_facts(ttl_since="2026-11-01T00:00:00+00:00"))
    table = make_table(store=store)
    make_entry(table, 40, expire_time=1)
    make_entry(table, 41, complete=False, expire_time=None)

    html = body(client.get(f"/stores/{store.pk}/"))

    assert re.search(r"Past their time, still there</dt><dd>1<", html)
    assert re.search(r"Incomplete, never expire</dt><dd>1<", html)
    assert "since before Levee first looked" in html


def test_a_coordinator_with_ttl_is_told_as_a_danger(client: Client) -> None:
    store = make_store("commits", kind=CommitStore.Kind.COMMIT_COORDINATOR)

    html = body(client.get(f"/stores/{store.pk}/ttl/"))

    assert "TTL is on in a coordinator: DynamoDB may delete registrations." in html
    assert 'value="disable-ttl"' in html
    assert "migrate-ttl" not in html


def test_ttl_on_the_old_attribute_says_why_it_matters_and_offers_the_move(client: Client) -> None:
    store = make_store(facts=store_facts(ttl_attribute="commitTime"))

    html = body(client.get(f"/stores/{store.pk}/ttl/"))

    assert "TTL is on commitTime: this store can lose commits." in html
    assert 'value="migrate-ttl"' in html
    assert f'href="/stores/{store.pk}/ttl/">Move TTL to expireTime…' in body(client.get(f"/stores/{store.pk}/"))


def test_a_bucket_shows_what_each_rule_touches_and_when_it_first_bites(client: Client) -> None:
    rules = [
        {"ID": "tmp", "Status": "Enabled", "Filter": {"Prefix": "a/t/_delta_log/.tmp/"}, "Expiration": {"Days": 3}},
        {"ID": "wide", "Status": "Enabled", "Filter": {"Prefix": "a/"}, "Expiration": {"Days": 90}},
    ]
    bucket = make_bucket(facts=bucket_facts(lifecycle_rules=rules))
    make_commit(make_table("s3a://lake/a/t", store=make_store()), 0, modified_at=timezone.now())

    html = body(client.get(f"/buckets/{bucket.pk}/"))

    assert html.index("<code>wide</code>") < html.index("<code>tmp</code>")
    assert "<b>Log</b>" in html
    bites = timezone.now() + timedelta(days=90)
    assert re.search(rf"{bites:%b} {bites:%Y}</span>", html)
    assert "2 of 1,000, 998 left" in re.sub(r"<[^>]+>", "", html)
    assert html.count('value="remove-temp-rule"') == 1


def test_tables_with_several_writers_stand_among_the_stores_with_the_way_out(client: Client) -> None:
    table = make_table(mechanism="single_driver", state="attention")
    make_finding(table, "several-writers", None, state="attention", summary="2 writers.", meaning="Stop all but one.")

    html = body(client.get("/stores/"))

    assert "2 writers. Stop all but one." in html
    assert f"/tables/{table.pk}/coordination/enable/" in html
