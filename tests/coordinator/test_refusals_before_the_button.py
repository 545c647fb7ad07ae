"""What cannot be done now is off before anybody asks for it: the same reason, and the way to it, on every page."""

from typing import Any

import pytest
from django.test import Client

from coordinator.models import CommitStore
from coordinator.settings.views_of import tables_before_ttl
from dashboard.accounts.roles import Role
from dashboard.connections.models import Connection
from tests.builders.lake import make_entry, make_store, make_table, store_facts
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db

DOMAINS = [{"store": "delta_log", "path": "s3a://lake/sales/orders"}]
PAGES = ("/tables/{pk}/", "/tables/{pk}/compatibility/", "/tables/{pk}/coordination/enable/")
AWS_ALONE = "speaks to AWS alone, and this connection reaches DynamoDB at http://127.0.0.1:9"
BLOCKED = "The table is blocked: that comes first."
WAITS = "A commit is accepted and not published: publish it first."


@pytest.fixture
def client() -> Client:
    return signed_in(Role.OPERATOR)


@pytest.mark.parametrize(
    ("fields", "endpoint", "reason", "way"),
    [
        ({"mechanism": "log_store", "lock_domains": DOMAINS}, "http://127.0.0.1:9", AWS_ALONE, ""),
        ({"state": "blocked", "unpublished_count": 1}, "", BLOCKED, "/tables/{pk}/#steps"),
        ({"unpublished_count": 1}, "", WAITS, "/tables/{pk}/entries/?state=unpublished"),
    ],
)
def test_enabling_is_off_with_its_reason_on_every_page_of_the_table(
    client: Client, fields: dict[str, Any], endpoint: str, reason: str, way: str
) -> None:
    table = make_table(**{"mechanism": "single_driver"} | fields)
    Connection.objects.update(endpoint_url=endpoint)

    for page in PAGES:
        html = flat(client.get(page.format(pk=table.pk)))
        assert reason in html
        assert f'class="button" href="/tables/{table.pk}/coordination/enable/"' not in html
        assert not way or f'href="{way.format(pk=table.pk)}"' in html


@pytest.mark.parametrize("page", PAGES[:2])
def test_enabling_is_offered_where_nothing_is_in_the_way(client: Client, page: str) -> None:
    table = make_table(mechanism="single_driver")

    assert f'class="button" href="/tables/{table.pk}/coordination/enable/"' in flat(
        client.get(page.format(pk=table.pk))
    )


def without_ttl(**entry: Any) -> CommitStore:
    facts = store_facts(ttl_status="DISABLED", ttl_attribute=None)
    store = make_store(facts=facts)
    make_entry(make_table(store=store), store=store, **entry)
    return store


def test_ttl_is_off_while_it_would_take_the_entry_of_a_lost_file(client: Client) -> None:
    store = without_ttl(code="C7", published=False)
    [table] = tables_before_ttl(store)

    for page in (f"/stores/{store.pk}/", f"/stores/{store.pk}/ttl/"):
        html = flat(client.get(page))
        assert "TTL would let another commit take its version" in html
        assert f'href="/tables/{table.pk}/"><bdi>{table.name}</bdi>' in html
    assert 'value="enable-ttl" disabled' in html


@pytest.mark.parametrize("entry", [{}, {"code": "C2", "published": False, "expire_time": None}])
def test_ttl_is_offered_where_every_entry_that_carries_a_time_has_its_file(
    client: Client, entry: dict[str, Any]
) -> None:
    html = flat(client.get(f"/stores/{without_ttl(**entry).pk}/ttl/"))

    assert 'value="enable-ttl">' in html
    assert "TTL would let another commit" not in html
