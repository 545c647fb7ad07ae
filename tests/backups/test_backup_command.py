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

    assert (said["state"], said["plan"], said["estimate_usd"]) == ("complete", "warehouse-daily", 0.25)
    assert {name: count for name, count in said["objects"].items() if count} == {
        "listed": 10,
        "copied": 9,
        "already_there": 1,
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
    assert backup("reject", second["id"], "--reason", "Too dear.")["state"] == "cancelled"


def test_a_failed_run_prints_itself_and_fails_the_command(world, capsys):
    make_plan(destination="s3a://lake/warehouse/backup/")

    with pytest.raises(CommandError, match="overlap"):
        call_command("backup", "run", "warehouse-daily", "--json")
    assert json.loads(capsys.readouterr().out)["error_code"] == "SourceIsDestination"


def test_enqueue_leaves_the_work_to_the_workers_and_says_so_in_two_lines(world, capsys):
    make_plan()
    call_command("backup", "run", "warehouse-daily", "--enqueue")
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert (Run.objects.get().state, world.copies) == ("waiting_for_inventory", 0)


def test_what_is_printed_is_of_its_type(world, backup):
    world.denied = {"t/part-5"}
    make_plan(engine="s3-batch")
    run = backup("run", "warehouse-daily")

    assert all(run[name] for name in ("estimate", "stages", "copy_jobs", "failures"))
    assert not missing(run, RunJson)
    [plan] = backup("plans")
    assert not missing(plan, PlanJson)
    assert backup("plan", "warehouse-daily") | {"objective": plan["objective"]} == plan  # whose age grows
    assert (plan["name"], plan["last_run"]["state"]) == ("warehouse-daily", "complete_with_gaps")
    runs = backup("runs", "--plan", "warehouse-daily")
    assert not missing(runs, list[RunSummary])
    assert runs == [plan["last_run"]]
    assert backup("runs", "--state", "failed") == []
    world.denied = set()
    assert backup("retry", run["id"])["objects"]["copied"] == 1


@pytest.mark.parametrize("words", [("run", "no-plan"), ("show", "no-run"), ("show", "00000000")])
def test_an_unknown_name_is_said_to_be_unknown(words):
    with pytest.raises(CommandError, match="There is no"):
        call_command("backup", *words)


def test_people_read_the_same_as_text(world, capsys):
    world.denied = {"t/part-5"}
    make_plan(engine="s3-batch")

    call_command("backup", "run", "warehouse-daily")

    printed = capsys.readouterr().out
    assert "complete_with_gaps: Of 10 objects, 9 are at the destination" in printed
    assert "1 denied: The role may not read or write it." in printed
    assert Run.objects.get().sentence in printed
