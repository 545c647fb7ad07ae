"""`levee repair`: the plan, carrying it out in the foreground, and handing it to the workers."""

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from coordinator.models import DeltaTable
from dashboard.audit.models import AuditEntry
from dashboard.commands import Failed, UsageError
from dashboard.jobs.models import Job
from tests.coordinator.repairs.console import Console
from tests.json_types import printed, said

pytestmark = pytest.mark.django_db
ROOT = "sales/orders"


def repair(table: Any, *args: str, **options: Any) -> dict[str, Any]:
    """The document that the command prints."""
    return dict(printed("repair", table.uri, *args, **options))


def two_pending(console: Console) -> DeltaTable:
    console.pending(ROOT)
    console.lake.pending(ROOT, 4)
    return console.observed(ROOT)


def test_the_plan_is_printed_and_nothing_is_sent(console: Console) -> None:
    table = console.pending()
    before = console.state()

    document, told = repair(table), said("repair", table.uri)

    plan = document["plans"][0]
    assert (document["uri"], document["jobs"]) == (table.uri, [])
    assert (plan["kind"], plan["code"], plan["version"], plan["can_lose"]) == ("publish-commit", "C2", 3, False)
    assert "Publish commit 3 (C2 of version 3, publish-commit)" in told
    assert "Nothing was changed. --apply carries it out." in told
    assert console.state() == before


def test_apply_goes_on_in_the_foreground_until_no_safe_repair_is_left(console: Console) -> None:
    table = two_pending(console)

    document = repair(table, apply=True)

    assert {job["state"] for job in document["jobs"]} == {"succeeded"}
    assert console.table(ROOT).published_version == 4
    assert AuditEntry.objects.filter(action="table.repair", actor_name="command", outcome="done").exists()
    assert repair(table)["plans"] == []


def test_one_finding_is_chosen_by_code_and_version(console: Console) -> None:
    table = console.pending()

    assert [plan["code"] for plan in repair(table, "--finding", "C2", "--version", "3")["plans"]] == ["C2"]
    assert repair(table, "--version", "4")["plans"] == []
    assert repair(table, finding="K3")["plans"] == []


def test_what_can_lose_a_commit_is_left_out_unless_its_table_is_named(console: Console) -> None:
    table = console.lost()
    errors = io.StringIO()

    call_command("repair", table.uri, apply=True, stdout=io.StringIO(), stderr=errors)
    assert "can lose a commit and was left out: add --confirm sales.lost." in errors.getvalue()
    for typed in ("", "sales.orders"):
        with pytest.raises(UsageError, match=r"--confirm sales\.lost"):
            repair(table, apply=True, finding="C11", confirm=typed)
    assert console.item("sales/lost", 3)

    document = repair(table, apply=True, finding="C11", confirm="sales.lost")
    assert [job["state"] for job in document["jobs"]] == ["succeeded"]
    assert console.item("sales/lost", 3) == {}


def test_enqueue_hands_one_plan_to_the_workers(console: Console) -> None:
    document = repair(console.pending(), apply=True, enqueue=True)

    assert [job["state"] for job in document["jobs"]] == ["queued"]
    assert console.run(Job.objects.get(kind="repair")).state == "succeeded"


@pytest.mark.slow
def test_enqueue_hands_several_plans_over_as_one_job(console: Console) -> None:
    assert len(repair(two_pending(console), apply=True, enqueue=True)["jobs"]) == 1
    assert Job.objects.filter(kind__in=("repair", "repair-many")).count() == 1


def test_what_cannot_be_read_fails_and_what_makes_no_sense_is_a_mistake(console: Console) -> None:
    table = console.pending()
    with pytest.raises(UsageError, match="--apply"):
        repair(table, enqueue=True)
    with pytest.raises(CommandError) as mistake:
        call_command("repair", "no uri", stdout=io.StringIO())
    assert mistake.value.returncode == 2

    console.lake.dynamodb.delete_table(TableName=console.lake.log_store)
    with pytest.raises(Failed, match="could not be read"):
        repair(table)
