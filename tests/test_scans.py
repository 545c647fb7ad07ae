"""No list page reads a whole table that grows with the lake: what the databases say of each of its queries."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.accounts.roles import Role
from tests.builders.lake import make_commit, make_entry, make_finding, make_store, make_table
from tests.builders.people import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]

LARGE = (
    "coordinator_deltatable", "coordinator_commit", "coordinator_entry", "coordinator_tablefinding",
    "coordinator_provenancerow", "jobs_job", "jobs_jobevent", "audit_auditentry", "backups_run", "alerts_alert",
    "alerts_message",
)  # fmt: skip
LISTS = (
    "/tables/", "/tables/?sort=-last&size=200", "/tables/?state=pending", "/tables/?state=unpublished",
    "/tables/?state=gone", "/tables/?connection=prod", "/tables/?mechanism=log_store", "/tables/?bucket=lake",
    "/tables/?q=orders", "/tables/?q=no-such-table", "/tables/?q=zq", "/stores/", "/buckets/", "/connections/",
    "/backups/", "/jobs/", "/jobs/?state=failed", "/audit/", "/audit/?show=all", "/alerts/", "/alerts/?state=resolved",
    "/alerts/messages/", "/deadlines/",
)  # fmt: skip


@pytest.mark.parametrize("address", LISTS)
def test_a_list_reads_no_whole_table(address: str) -> None:
    client = signed_in(Role.ADMIN)
    table = make_table(store=make_store(), state="pending", unpublished_count=1)
    for made in (make_commit, make_entry, make_finding):
        made(table)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200

    assert [said for one in captured.captured_queries if (said := whole_tables_read(one["sql"]))] == []


def whole_tables_read(sql: str) -> str:
    """The query with its plan, where that reads a large table from one end to the other; else "".

    PostgreSQL says only that there is an index to read: that it reads all of that, SQLite has to say.
    """
    if not sql.startswith("SELECT"):
        return ""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Of a test's few rows it would rather read all: it is to say whether it has another way.
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute(f"EXPLAIN {sql}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
            read = re.findall(r"Seq Scan on (\w+)", plan)
        else:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            plan = "\n".join(row[3] for row in cursor.fetchall())
            aliases = {alias: table for table, alias in re.findall(r'"(\w+)" ([UVWT]\d+)', sql)}
            read = [aliases.get(name, name) for name in re.findall(r"^SCAN (\w+)", plan, re.MULTILINE)]
            if re.search(r"LIMIT \d+$", sql) and "TEMP B-TREE" not in plan:
                read = []  # in the order of an index, until the page is full
    return f"{sql}\n{plan}" if set(read) & set(LARGE) else ""
