"""The page that examines pasted settings: by anybody who is signed in, kept nowhere, and without any secret."""

import logging

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from coordinator.models import CommitStore
from dashboard.accounts.roles import Role
from tests.builders.lake import make_store, make_table
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db

SECRET = "hunter2-hunter2"
WRONG = (
    "spark.delta.logStore.s3a.impl io.delta.storage.S3DynamoDBLogStore\n"
    f"spark.hadoop.fs.s3a.secret.key {SECRET}\n"
    "spark.hadoop.fs.s3a.performance.flags create, mkdir\n"
)


@pytest.fixture
def client() -> Client:
    return signed_in(Role.VIEWER)


def test_a_pasted_text_is_examined_with_the_lines_to_write(client: Client) -> None:
    page = flat(client.post("/doctor/", {"text": WRONG.replace("\n", "\r\n")}))

    assert "The flag create is set" in page
    assert "HADOOP-19072" in page
    assert "<code>spark.hadoop.fs.s3a.performance.flags=mkdir</code>" in page


def test_no_secret_is_shown_logged_or_stored(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), CaptureQueriesContext(connection) as queries:
        answers = [client.post("/doctor/", {"text": text}) for text in (WRONG, f"spark-submit --conf 'a={SECRET}")]

    assert [answer.status_code for answer in answers] == [200, 422]
    assert all(SECRET not in answer.content.decode() for answer in answers)
    assert SECRET not in caplog.text
    assert not any(SECRET in query["sql"] for query in queries)
    assert not any(query["sql"].startswith(("INSERT", "UPDATE", "DELETE")) for query in queries)


def test_a_table_and_a_store_are_compared_on_their_own_pages(client: Client) -> None:
    store = make_store("locks", kind=CommitStore.Kind.LOG_STORE)
    table = make_table(mechanism="log_store", store=store)

    for address in (f"/tables/{table.pk}/doctor/", f"/stores/{store.pk}/doctor/"):
        page = flat(client.post(address, {"text": WRONG}))
        assert "Locks are taken in delta_log; the table&#x27;s entries are in locks." in page


def test_the_writers_pages_lead_to_it(client: Client) -> None:
    store = make_store("locks", kind=CommitStore.Kind.LOG_STORE)
    table = make_table(mechanism="log_store", store=store)

    assert f'href="/tables/{table.pk}/doctor/"' in flat(client.get(f"/tables/{table.pk}/writers/"))
    assert f'href="/stores/{store.pk}/doctor/"' in flat(client.get(f"/stores/{store.pk}/writers/"))
    assert 'href="/doctor/"' in flat(client.get("/doctor/"))
