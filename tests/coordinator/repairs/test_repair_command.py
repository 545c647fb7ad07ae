"""`levee repair`: the plan, carrying it out in the foreground, and handing it to the workers."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from dashboard.audit.models import AuditEntry
from dashboard.commands import Failed, UsageError
from dashboard.jobs.models import Job
from tests.coordinator.repairs.console import Console

pytestmark = pytest.mark.django_db
ROOT = "sales/orders"


def repair(table: Any, **options: Any) -> dict[str, Any]:
    """The document that the command prints."""
    out = io.StringIO()
    call_command("repair", table.uri, json=True, stdout=out, stderr=io.StringIO(), **options)
    return dict(json.loads(out.getvalue()))


def test_the_plan_is_printed_and_nothing_is_sent(console: Console) -> None:
    table = console.pending()
    before = console.state()

    document = repair(table)

    plan = document["plans"][0]
    assert (document["uri"], document["jobs"]) == (table.uri, [])
    assert all(refusal["reason"] for refusal in document["refusals"])
    assert (plan["kind"], plan["code"], plan["version"], plan["can_lose"]) == ("publish-commit", "C2", 3, False)
    assert all(call["operation"] and call["says"] and call["condition"] for call in plan["calls"])
    assert any(line.startswith("dynamodb:UpdateItem on ") for line in plan["permissions"])
    assert console.state() == before


@pytest.mark.slow
def test_the_plan_reads_as_text(console: Console) -> None:
    table = console.pending()
    out = io.StringIO()

    call_command("repair", table.uri, stdout=out)

    assert "Publish commit 3 (C2 of version 3, publish-commit)" in out.getvalue()
    assert "Nothing was changed. --apply carries it out." in out.getvalue()


def test_apply_repairs_in_the_foreground(console: Console) -> None:
    table = console.pending()

    document = repair(table, apply=True)

    assert [job["state"] for job in document["jobs"]] == ["succeeded"]
    assert document["jobs"][0]["aws_request_ids"]
    assert console.table(ROOT).state == "healthy"
    assert AuditEntry.objects.filter(action="table.repair", actor_name="command", outcome="done").exists()


@pytest.mark.slow
def test_apply_goes_on_until_no_safe_repair_is_left(console: Console) -> None:
    console.lake.table(ROOT, 3, log_store=True)
    console.lake.pending(ROOT, 3)
    console.lake.pending(ROOT, 4)
    table = console.observed(ROOT)

    repair(table, apply=True)

    assert console.table(ROOT).published_version == 4
    assert repair(table)["plans"] == []


@pytest.mark.slow
def test_one_finding_is_chosen_by_code_and_version(console: Console) -> None:
    table = console.pending()

    assert [plan["code"] for plan in repair(table, finding="C2", of_version=3)["plans"]] == ["C2"]
    assert repair(table, finding="C2", of_version=4)["plans"] == []
    assert repair(table, finding="K3")["plans"] == []


def test_version_is_a_version_of_the_table_in_the_shell_too(console: Console) -> None:
    table = console.pending()
    out = io.StringIO()

    call_command("repair", table.uri, "--version", "4", "--json", stdout=out)

    assert json.loads(out.getvalue())["plans"] == []


def test_what_can_lose_a_commit_is_left_out_unless_its_table_is_named(console: Console) -> None:
    table = console.lost()
    errors = io.StringIO()

    call_command("repair", table.uri, apply=True, stdout=io.StringIO(), stderr=errors)

    assert "can lose a commit and was left out: add --confirm sales.lost." in errors.getvalue()
    assert console.item("sales/lost", 3)


@pytest.mark.parametrize("typed", ["", "sales.orders"])
def test_a_losing_repair_that_was_asked_for_needs_the_right_name(console: Console, typed: str) -> None:
    table = console.lost()

    with pytest.raises(UsageError, match=r"--confirm sales\.lost"):
        repair(table, apply=True, finding="C11", confirm=typed)
    assert console.item("sales/lost", 3)


def test_a_named_table_is_repaired_at_the_price_of_the_commit(console: Console) -> None:
    table = console.lost()

    document = repair(table, apply=True, finding="C11", confirm="sales.lost")

    assert [job["state"] for job in document["jobs"]] == ["succeeded"]
    assert console.item("sales/lost", 3) == {}


@pytest.mark.slow
def test_enqueue_hands_one_plan_to_the_workers(console: Console) -> None:
    table = console.pending()

    document = repair(table, apply=True, enqueue=True)

    assert [job["state"] for job in document["jobs"]] == ["queued"]
    assert Job.objects.get(kind="repair").params["source"] == "command"
    assert console.run(Job.objects.get(kind="repair")).state == "succeeded"


@pytest.mark.slow
def test_enqueue_hands_several_plans_over_as_one_job(console: Console) -> None:
    console.lake.table(ROOT, 3, log_store=True)
    console.lake.pending(ROOT, 3)
    console.lake.pending(ROOT, 4)
    table = console.observed(ROOT)
    planned = repair(table)["plans"]

    document = repair(table, apply=True, enqueue=True)

    assert len(document["jobs"]) == 1
    if len(planned) > 1:
        assert console.run(Job.objects.get(kind="repair-many")).state == "succeeded"


def test_enqueue_alone_is_a_mistake(console: Console) -> None:
    with pytest.raises(UsageError, match="--apply"):
        repair(console.pending(), enqueue=True)


def test_a_table_that_cannot_be_read_fails(console: Console) -> None:
    table = console.pending()
    console.lake.dynamodb.delete_table(TableName=console.lake.log_store)

    with pytest.raises(Failed, match="could not be read"):
        repair(table)


def test_an_unknown_table_fails_and_a_wrong_uri_is_a_mistake(console: Console) -> None:
    with pytest.raises(Failed):
        call_command("repair", "s3a://nowhere/table", stdout=io.StringIO())
    with pytest.raises(CommandError) as mistake:
        call_command("repair", "no uri", stdout=io.StringIO())
    assert mistake.value.returncode == 2
