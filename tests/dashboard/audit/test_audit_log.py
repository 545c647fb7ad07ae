"""Reading the audit log, on its page and on the command line."""

import csv
import io
import json
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection

from dashboard.accounts.actor import Actor
from dashboard.accounts.door import PASSWORD_ACTS
from dashboard.accounts.roles import PERMISSIONS, Role
from dashboard.audit.chain import seal_all
from dashboard.audit.log import record
from dashboard.audit.models import AuditEntry
from dashboard.audit.queries import AuditFilter, audit_entries
from dashboard.audit.sentences import ACTS, says
from dashboard.web import paging
from tests.builders.people import signed_in
from tests.dashboard.jobs.builders import job
from tests.dashboard.web.markup import flat
from tests.json_types import printed

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("triggers", "JSON")]


@pytest.fixture
def history() -> None:
    maya = Actor(name="maya", source="page")
    record(maya, "lake.observe", target_label="s3a://lake/orders", outcome="requested")
    record(maya, "lake.declare", target_label="lake.toml", outcome="refused", detail="needs the role admin")
    record(Actor.command(), "people.manage", target_label="sam")


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (AuditFilter(actor="maya"), 2),
        (AuditFilter(action="lake.observe"), 1),
        (AuditFilter(action="lake."), 2),
        (AuditFilter(target="ORDERS"), 1),
        (AuditFilter(outcome="refused"), 1),
        (AuditFilter(text="role admin"), 1),
    ],
)
def test_each_filter_narrows(wanted: AuditFilter, found: int) -> None:
    assert audit_entries(wanted).count() == found


@pytest.mark.usefixtures("history")
def test_a_page_that_looked_through_some_rows_leads_to_the_older_ones_and_a_command_reads_all(monkeypatch: Any) -> None:
    monkeypatch.setattr(paging, "MOST_LOOKED_THROUGH", 2)
    client = signed_in(Role.VIEWER)

    first = client.get("/audit/?text=orders")
    assert "No entry matches so far" in flat(first)
    assert "Look further back" in flat(first)
    older = client.get("/audit/", {"text": "orders", "after": first.context["page"].next_after})
    assert [row.action for row in older.context["page"].rows] == ["lake.observe"]
    out = io.StringIO()
    call_command("audit", "--actor", "maya", "--outcome", "requested", stdout=out)
    assert "s3a://lake/orders" in out.getvalue()


@pytest.mark.usefixtures("history")
def test_the_page_exports_all_that_matches_as_json_lines_oldest_first() -> None:
    response = signed_in(Role.VIEWER).get("/audit/?action=lake.&format=jsonl")
    rows = [json.loads(line) for line in response.getvalue().decode().splitlines()]
    assert [row["action"] for row in rows] == ["lake.observe", "lake.declare"]
    assert response["Content-Disposition"] == 'attachment; filename="audit.jsonl"'


@pytest.mark.usefixtures("history")
def test_the_command_prints_one_document_newest_first() -> None:
    entries = printed("audit", "--limit", "2")
    assert [entry["action"] for entry in entries] == ["people.manage", "lake.declare"]
    assert entries[1]["outcome"] == "refused"
    assert entries[0]["target"] == {"type": "", "id": "", "label": "sam"}


def test_a_limit_of_nothing_is_a_mistake_of_usage() -> None:
    with pytest.raises(CommandError) as caught:
        printed("audit", "--limit", "0")
    assert caught.value.returncode == 2


@pytest.mark.usefixtures("history")
def test_the_command_exports_as_csv() -> None:
    out = io.StringIO()
    call_command("audit", "export", "--form", "csv", "--actor", "maya", stdout=out)
    assert [row["outcome"] for row in csv.DictReader(io.StringIO(out.getvalue()))] == ["requested", "refused"]


@pytest.mark.usefixtures("history")
def test_the_command_verifies_the_chain() -> None:
    seal_all()
    document = printed("audit", "verify")
    assert (document["holds"], document["sealed"], document["breaks"]) == (True, 3, [])
    assert printed("audit", "verify", "--head", document["head"])["holds"]


@pytest.mark.usefixtures("history")
def test_a_broken_chain_fails_the_command() -> None:
    seal_all()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE audit_auditentry SET outcome = 'done'")
    with pytest.raises(CommandError, match=r"does not hold: Entry \d+ \(lake.observe") as caught:
        printed("audit", "verify")
    assert caught.value.returncode == 1


def entry(action: str = "table.repair", **fields: Any) -> AuditEntry:
    label = {"target_label": "s3a://lake/sales/order_items"}
    return record(Actor(name="maya", source="page"), action, **label | fields)


@pytest.mark.parametrize(
    ("outcome", "title", "said"),
    [
        ("done", "Publish commit 14", "published commit 14, sales.order_items"),
        ("failed", "Publish commit 14", "asked to publish commit 14, sales.order_items"),
        ("done", "Undo it", "asked to undo it, sales.order_items"),
        ("done", "", "repaired sales.order_items"),
        ("failed", "", "asked to repair sales.order_items"),
        ("refused", "Publish commit 14", "was refused: repair sales.order_items"),
    ],
)
def test_an_entry_says_what_was_done_and_only_asked_for_what_was_not(outcome: Any, title: str, said: str) -> None:
    assert says(entry(outcome=outcome), title) == said


def shown(**query: str) -> list[tuple[str, str]]:
    page = signed_in(Role.VIEWER).get("/audit/", {"target": "order_items", **query}).context["page"]
    return [(one.action, one.outcome) for one in page.rows]


def test_an_act_is_one_row_and_looking_at_plans_stands_apart() -> None:
    planned, repaired, waiting = job("succeeded"), job("succeeded"), job("queued")
    entry("table.plan-repair", outcome="requested", job=planned)
    entry("table.plan-repair", job=planned)
    entry(outcome="requested", job=repaired)
    entry(job=repaired)
    entry("table.create", outcome="requested", job=waiting)
    entry("table.create", outcome="failed", job=repaired)

    assert shown() == [("table.create", "failed"), ("table.create", "requested"), ("table.repair", "done")]
    assert set(shown(show="looks")) == {("table.plan-repair", "requested"), ("table.plan-repair", "done")}
    assert len(shown(show="all")) == 6


def test_a_run_of_a_backup_is_one_row_with_the_person_of_the_shell_who_asked() -> None:
    for run, outcome in (("a", "requested"), ("b", "requested"), ("a", "failed")):
        who = Actor.command() if outcome == "requested" else Actor.worker("command")
        record(who, "backup.run", target_type="run", target_id=run, target_label="order_items", outcome=outcome)

    assert shown() == [("backup.run", "failed"), ("backup.run", "requested")]
    assert flat(signed_in(Role.VIEWER).get("/audit/")).count(f"by {Actor.command().user_agent}") == 2
    out = io.StringIO()
    call_command("audit", "--limit", "1", stdout=out)
    assert f"command {Actor.command().user_agent}  asked to run the backup order_items  Failed" in out.getvalue()


def test_every_act_that_can_be_refused_is_offered_in_words() -> None:
    assert {*PERMISSIONS, *PASSWORD_ACTS} <= ACTS.keys()
    page = signed_in(Role.VIEWER).get("/audit/").content.decode()
    assert '<option value="lake.plan-upkeep">Look at settings</option>' in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"since": "2026-11-20", "until": "2026-11-20"}, 1),
        ({"since": "yesterday", "until": "2026-13-45"}, 3),
    ],
)
def test_days_narrow_and_are_counted_whole(query: dict[str, str], found: int) -> None:
    for moment in ("2026-11-19 23:59:59", "2026-11-20 23:59:59", "2026-11-21 00:00"):
        with time_machine.travel(moment, tick=False):
            entry()
    assert len(shown(action="table.repair", **query)) == found


def test_the_page_tells_sentences_with_the_person_of_a_shell() -> None:
    repaired = job("succeeded", title="Publish commit 14")
    record(Actor.command(), "table.repair", target_label="s3a://lake/sales/order_items", job=repaired)

    html = flat(signed_in(Role.VIEWER).get("/audit/"))

    assert "<b>command</b></a> <bdi>published commit 14, sales.order_items</bdi>" in html
    assert f"by {Actor.command().user_agent}" in html
