"""One fact is told as one number and in one sense, wherever it stands: a pair of places, a test."""

import re

import pytest
from django.test import Client

from coordinator.writers.doctor import examine
from dashboard.accounts.roles import Role
from tests.builders.lake import (
    bucket_facts,
    make_bucket,
    make_commit,
    make_entry,
    make_pending,
    make_store,
    make_table,
    store_facts,
)
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in(Role.VIEWER)


def test_the_tab_of_commits_counts_the_rows_of_its_page(client: Client) -> None:
    table = make_table(accepted_version=43, unpublished_count=2)
    make_commit(table, 41)
    make_entry(table, 41)
    make_pending(table, 42)
    make_pending(table, 43)
    make_pending(table, 43, lock_domain="s3://lake/sales/orders")

    html = flat(client.get(f"/tables/{table.pk}/commits/"))

    rows = set(re.findall(rf'href="/tables/{table.pk}/commits/(\d+)/"', html))
    assert rows == {"41", "42", "43"}
    assert re.search(r'aria-current="page">Commits <span class="dim">3</span>', html)


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


def test_an_entry_of_an_old_writer_does_not_agree_under_a_warning(client: Client) -> None:
    table = make_table(state="attention", summary="1 entry carries commitTime.")
    for version in (40, 41):
        make_commit(table, version)
        make_entry(table, version, expire_time=None, commit_time=1_700_000_000)

    html = flat(client.get(f"/tables/{table.pk}/"))

    assert html.count("Carries commitTime") == 2


LOCKED = "spark.io.delta.storage.S3DynamoDBLogStore.ddb.tableName locks\n"
SINGLE = "io.delta.storage.S3SingleDriverLogStore"


@pytest.mark.parametrize(
    "text",
    [
        f"spark.delta.logStore.class {SINGLE}\n{LOCKED}",
        f"spark.delta.logStore.class {SINGLE}\nspark.delta.logStore.s3.impl {SINGLE}\n{LOCKED}",
        f"delta.logStore.class {SINGLE}\n{LOCKED}",
    ],
)
def test_no_finding_of_the_doctor_sets_what_another_removes(text: str) -> None:
    lines = [line for finding in examine(text).findings for line in finding.lines]
    removed = {line.removeprefix("remove ") for line in lines if line.startswith("remove ")}

    assert not removed & {line.partition("=")[0] for line in lines}
    assert text.partition(" ")[0] in removed
    assert all("logStore.class =" not in finding.instead for finding in examine(text).findings)
