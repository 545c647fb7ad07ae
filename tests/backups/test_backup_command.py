"""`levee backup`."""

import json
from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from backups.contract import PlanJson, RunJson, RunSummary
from backups.models import Run
from tests.backups.runs.world import World, inhabit, make_plan
from tests.json_types import missing

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(monkeypatch):
    monkeypatch.setattr("backups.advancing.time", SimpleNamespace(sleep=lambda seconds: None))
    return inhabit(monkeypatch, World())


@pytest.fixture
def backup(capsys):
    def run(*words: str) -> dict:
        capsys.readouterr()
        call_command("backup", *words, "--json")
        return json.loads(capsys.readouterr().out)

    return run


def test_run_waits_for_the_end_and_prints_what_show_prints(world, backup):
    make_plan(engine="s3-batch")
    world.pool = {"t/part-3": b"xxx"}

    said = backup("run", "warehouse-daily")

    assert said["state"] == "complete"
    assert said["plan"] == "warehouse-daily"
    assert said["bytes_copied"] == sum(range(10)) - 3
    assert said["estimate_usd"] == 0.25
    assert said["objects"] == {
        "listed": 10,
        "copied": 9,
        "already_there": 1,
        "changed": 0,
        "vanished": 0,
        "denied": 0,
        "too_new": 0,
        "archived": 0,
        "failed": 0,
    }
    assert backup("show", said["id"]) == said


def test_a_run_above_the_ceiling_stops_at_the_gate_and_approve_ends_it(world, backup):
    make_plan(engine="s3-batch", cost_ceiling_usd=Decimal("0.10"))

    said = backup("run", "warehouse-daily")
    assert said["state"] == "waiting_for_approval"

    assert backup("approve", said["id"][:8])["state"] == "complete"


def test_a_run_anew_cancels_the_one_under_way(world, backup):
    make_plan(engine="s3-batch", cost_ceiling_usd=Decimal("0.10"))
    first = backup("run", "warehouse-daily")
    assert backup("run", "warehouse-daily")["id"] == first["id"]

    second = backup("run", "warehouse-daily", "--anew")

    assert second["id"] != first["id"]
    assert (backup("show", first["id"])["state"], second["state"]) == ("cancelled", "waiting_for_approval")


def test_a_run_anew_is_the_first_where_none_is_under_way(world, backup):
    make_plan(engine="s3-batch")
    assert backup("run", "warehouse-daily", "--anew")["state"] == "complete"


def test_a_queued_run_is_told_in_two_lines(world, capsys):
    make_plan(engine="s3-batch", cost_ceiling_usd=Decimal("0.10"))
    call_command("backup", "run", "warehouse-daily")
    capsys.readouterr()
    call_command("backup", "run", "warehouse-daily", "--enqueue")
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_run_is_rejected(world, backup):
    make_plan(engine="s3-batch", cost_ceiling_usd=Decimal("0.10"))
    said = backup("run", "warehouse-daily")

    assert backup("reject", said["id"], "--reason", "Too dear.")["state"] == "cancelled"


def test_a_failed_run_prints_itself_and_fails_the_command(world, capsys):
    make_plan(destination="s3a://lake/warehouse/backup/")

    with pytest.raises(CommandError, match="overlap"):
        call_command("backup", "run", "warehouse-daily", "--json")
    assert json.loads(capsys.readouterr().out)["state"] == "failed"


def test_what_is_worth_it_is_tried_again(world, backup):
    world.denied = {"t/part-5"}
    make_plan()
    first = backup("run", "warehouse-daily")
    assert first["state"] == "complete_with_gaps"
    assert first["failures"][0]["outcome"] == "denied"
    world.denied = set()

    assert backup("retry", first["id"])["objects"]["copied"] == 1


def test_enqueue_leaves_the_work_to_the_workers(world, backup):
    make_plan()

    assert backup("run", "warehouse-daily", "--enqueue")["state"] == "waiting_for_inventory"
    assert world.copies == 0


def test_plans_and_runs_are_listed(world, backup):
    make_plan()
    backup("run", "warehouse-daily")

    assert [plan["name"] for plan in backup("plans")] == ["warehouse-daily"]
    assert backup("plan", "warehouse-daily")["last_run"]["state"] == "complete"
    assert [run["state"] for run in backup("runs", "--plan", "warehouse-daily")] == ["complete"]
    assert backup("runs", "--state", "failed") == []


def test_what_is_printed_is_of_its_type(world, backup):
    world.denied = {"t/part-5"}
    make_plan(engine="s3-batch")
    run = backup("run", "warehouse-daily")

    assert all(run[name] for name in ("estimate", "stages", "copy_jobs", "failures"))
    assert not missing(run, RunJson)
    assert not missing(backup("runs"), list[RunSummary])
    assert not missing(backup("plans"), list[PlanJson])


@pytest.mark.parametrize("words", [("run", "no-plan"), ("show", "no-run"), ("show", "00000000")])
def test_an_unknown_name_is_said_to_be_unknown(words):
    with pytest.raises(CommandError, match="There is no"):
        call_command("backup", *words)


def test_people_read_the_same_as_text(world, capsys):
    world.denied = {"t/part-5"}
    make_plan(engine="s3-batch")

    call_command("backup", "run", "warehouse-daily")

    printed = capsys.readouterr().out
    assert "complete_with_gaps: 9 of 10 objects are at the destination" in printed
    assert "1 denied: The role may not read or write it." in printed
    assert Run.objects.get().sentence in printed
