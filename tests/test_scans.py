"""No list page reads a whole table that grows with the lake: what the databases say of each of its queries."""

import re
from collections import Counter

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks.large_lake import fill
from coordinator.kept import compact
from dashboard.accounts.roles import Role
from dashboard.web import paging
from tests.builders.lake import make_commit, make_entry, make_finding, make_store, make_table
from tests.builders.people import signed_in

pytestmark = pytest.mark.django_db

LARGE = (
    "coordinator_deltatable", "coordinator_commit", "coordinator_entry", "coordinator_tablefinding",
    "coordinator_provenancerow", "jobs_job", "jobs_jobevent", "audit_auditentry", "backups_run", "alerts_alert",
    "alerts_message",
)  # fmt: skip
TABLES = 2_000  # and as many jobs, twice as many audit rows, 11,000 commits, 8,000 entries
LISTS = (
    "/tables/", "/tables/?sort=-last&size=200", "/tables/?state=pending", "/tables/?state=unpublished",
    "/tables/?state=gone", "/tables/?connection=prod", "/tables/?mechanism=log_store", "/tables/?bucket=lake",
    "/tables/?q=orders", "/tables/?q=zzz", "/stores/", "/buckets/", "/connections/",
    "/tables/?q=zz", "/backups/", "/jobs/", "/jobs/?state=failed", "/jobs/?q=zzz", "/jobs/?by=zzz", "/audit/",
    "/audit/?show=all", "/audit/?text=zzz", "/audit/?actor=zzz", "/audit/?outcome=refused&action=zzz",
    "/audit/?show=all&target=zzz", "/audit/?until=2020-01-01", "/alerts/", "/alerts/?state=resolved",
    "/alerts/messages/", "/deadlines/",
)  # fmt: skip


@pytest.mark.parametrize("address", LISTS)
def test_a_list_reads_no_whole_table(address: str) -> None:
    client = signed_in(Role.ADMIN)
    table = make_table(store=make_store(), state="pending", unpublished_count=1)
    for made in (make_commit, make_entry, make_finding):
        made(table)

    assert [said for sql in queries_of(client, address) if (said := whole_tables_read(sql))] == []


@pytest.mark.postgres("queries")
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite does not count the rows that it reads")
def test_a_list_of_thousands_of_rows_reads_few_of_any_large_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "MOST_LOOKED_THROUGH", TABLES // 10)
    client = signed_in(Role.ADMIN)
    fill(TABLES, timezone.now())
    compact()
    with connection.cursor() as cursor:
        cursor.execute("SELECT gin_clean_pending_list('coordinator_tablesearch'); ANALYZE")

    read = {address: sum(map(rows_read, queries_of(client, address)), Counter[str]()) for address in LISTS}

    whole = {(address, table): of[table] for address, of in read.items() for table in LARGE if of[table] >= TABLES}
    assert whole == {}


def queries_of(client: Client, address: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return [sql for one in captured.captured_queries if (sql := one["sql"]).startswith(("SELECT", "(SELECT"))]


def rows_read(sql: str) -> Counter[str]:
    """How many rows of each table PostgreSQL read to answer, those that it then left out included."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
        nodes, read = [cursor.fetchone()[0][0]["Plan"]], Counter[str]()
    for node in nodes:
        nodes += node.get("Plans", [])
        if table := node.get("Relation Name"):
            rows = node["Actual Rows"] + sum(number for name, number in node.items() if name.startswith("Rows Removed"))
            read[table] += round(rows * node["Actual Loops"])
    return read


def whole_tables_read(sql: str) -> str:
    """The query with SQLite's plan, where that reads a large table from one end to the other; else ""."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        plan = "\n".join(row[3] for row in cursor.fetchall())
    aliases = {alias: table for table, alias in re.findall(r'"(\w+)" ([UVWT]\d+)', sql)}
    read = {aliases.get(name, name) for name in re.findall(r"^SCAN (\w+)", plan, re.MULTILINE)}
    if re.search(r"LIMIT \d+( OFFSET \d+)?$", sql) and "TEMP B-TREE" not in plan:
        read = set()  # in the order of an index, until the page is full
    return f"{sql}\n{plan}" if read & set(LARGE) else ""
