"""Reading the audit log, on its page and on the command line."""

import csv
import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.audit.chain import seal_all
from dashboard.audit.log import record
from dashboard.audit.queries import AuditFilter, audit_entries
from tests.builders.people import signed_in

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
        (AuditFilter(), 3),
        (AuditFilter(actor="maya"), 2),
        (AuditFilter(action="lake.observe"), 1),
        (AuditFilter(action="lake."), 2),
        (AuditFilter(target="ORDERS"), 1),
        (AuditFilter(outcome="refused"), 1),
        (AuditFilter(text="role admin"), 1),
        (AuditFilter(actor="maya", outcome="done"), 0),
    ],
)
def test_each_filter_narrows(wanted: AuditFilter, found: int) -> None:
    assert audit_entries(wanted).count() == found


@pytest.mark.usefixtures("bare_templates")
def test_pages_continue_where_the_last_one_ended() -> None:
    for number in range(45):
        record(Actor.command(), "lake.observe", target_label=str(number))
    client = signed_in(Role.VIEWER)
    first = client.get("/audit/?size=20").context["page"]
    second = client.get("/audit/", {"size": "20", "after": first.next_after}).context["page"]
    assert [entry.target_label for entry in first.rows] == [str(number) for number in range(44, 24, -1)]
    assert [entry.target_label for entry in second.rows] == [str(number) for number in range(24, 4, -1)]


@pytest.mark.usefixtures("history")
def test_the_page_exports_all_that_matches_as_json_lines_oldest_first() -> None:
    response = signed_in(Role.VIEWER).get("/audit/?action=lake.&format=jsonl")
    rows = [json.loads(line) for line in response.getvalue().decode().splitlines()]
    assert [row["action"] for row in rows] == ["lake.observe", "lake.declare"]
    assert response["Content-Disposition"] == 'attachment; filename="audit.jsonl"'


def test_an_exported_formula_is_defused() -> None:
    record(Actor.command(), "lake.observe", target_label='=HYPERLINK("x")', after={"n": 1})
    text = signed_in(Role.VIEWER).get("/audit/?action=lake.&format=csv").getvalue().decode()
    row = next(csv.DictReader(io.StringIO(text)))
    assert (row["target_label"], row["after"]) == ('\'=HYPERLINK("x")', '{"n": 1}')


def run(*words: str) -> Any:
    out = io.StringIO()
    call_command("audit", "--json", *words, stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.usefixtures("history")
def test_the_command_prints_one_document_newest_first() -> None:
    entries = run("--limit", "2")
    assert [entry["action"] for entry in entries] == ["people.manage", "lake.declare"]
    assert entries[1]["outcome"] == "refused"
    assert entries[0]["target"] == {"type": "", "id": "", "label": "sam"}


@pytest.mark.usefixtures("history")
def test_the_command_filters_by_action() -> None:
    assert [entry["action"] for entry in run("--action", "lake.")] == ["lake.declare", "lake.observe"]


def test_a_limit_of_nothing_is_a_mistake_of_usage() -> None:
    with pytest.raises(CommandError) as caught:
        run("--limit", "0")
    assert caught.value.returncode == 2


@pytest.mark.usefixtures("history")
def test_the_command_exports_as_csv() -> None:
    out = io.StringIO()
    call_command("audit", "export", "--form", "csv", "--actor", "maya", stdout=out)
    assert [row["outcome"] for row in csv.DictReader(io.StringIO(out.getvalue()))] == ["requested", "refused"]


@pytest.mark.usefixtures("history")
def test_the_command_verifies_the_chain() -> None:
    seal_all()
    document = run("verify")
    assert (document["holds"], document["sealed"], document["breaks"]) == (True, 3, [])
    assert run("verify", "--head", document["head"])["holds"]


@pytest.mark.usefixtures("history")
def test_a_broken_chain_fails_the_command() -> None:
    seal_all()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE audit_auditentry SET outcome = 'done'")
    with pytest.raises(CommandError, match=r"does not hold: Entry \d+ \(lake.observe") as caught:
        run("verify")
    assert caught.value.returncode == 1
