"""The JSON examples of the documentation are those of the types, and what commands print is of these types."""

import json
from pathlib import Path
from typing import Any

import pytest

from coordinator.contract import (
    BucketJson,
    BucketLine,
    CopiesJson,
    ObserveJson,
    RepairJson,
    RestoreJson,
    SettingJson,
    StoreJson,
    StoreLine,
    TableJson,
    TableLine,
)
from coordinator.repairs.fresh import PlanRepairParams, PlanRepairResult, RepairParams
from coordinator.rescue.actions import (
    ListRescueParams,
    ListRescueResult,
    PlanRescueParams,
    PlanRescueResult,
    RestoreRescueParams,
)
from coordinator.settings.actions import ChangeParams, PlanChangeParams, PlanChangeResult
from dashboard.audit.queries import AuditJson
from dashboard.declaration.differences import ApplyJson
from dashboard.jobs.context import JobResult
from dashboard.jobs.models import Job
from dashboard.jobs.queries import JobJson, JobLine
from tests.coordinator.repairs.console import Console
from tests.coordinator.rescue import saved
from tests.json_types import missing, printed
from tools import json_examples


def test_the_page_has_the_examples_of_the_types() -> None:
    page = json_examples.PAGE.read_text()

    assert len(json_examples.documents()) == 26
    assert json_examples.written(page, json_examples.documents()) == page


@pytest.mark.parametrize("kind", json_examples.documents().values())
def test_an_example_is_json_of_its_type_in_lines_that_fit(kind: Any) -> None:
    text = json_examples.in_lines(json_examples.example(kind))

    assert not missing(json.loads(text), kind)
    assert max(map(len, text.splitlines())) <= json_examples.WIDTH


@pytest.mark.usefixtures("young_count_as_old")
def test_what_commands_print_and_jobs_take_and_tell_is_of_their_types(console: Console) -> None:
    table = console.lost("sales/lost")
    other, _, _ = saved.removed_temp_file(console)
    told = printed("repair", table.uri, "--apply", "--finding", "C11", "--confirm", table.name)
    copies = printed("rescue", "list")
    [file] = [one["id"] for one in copies["copies"] if one["kind"] == "temp-file"]
    store = ("store", console.lake.log_store, "capacity", "--read", "6", "--write", "7")

    assert told["plans"]
    assert told["jobs"]
    assert not missing(told, RepairJson)
    assert not missing(printed("table", table.uri), TableJson)
    assert not missing(copies, CopiesJson)
    assert not missing(printed("rescue", "restore", file, "--confirm", other.name, "--apply"), RestoreJson)
    assert not missing(printed(*store, "--apply"), SettingJson)

    types: dict[str, tuple[Any, Any]] = {
        "plan-repair": (PlanRepairParams, PlanRepairResult),
        "repair": (RepairParams, JobResult),
        "list-rescue": (ListRescueParams, ListRescueResult),
        "plan-rescue": (PlanRescueParams, PlanRescueResult),
        "restore-rescue": (RestoreRescueParams, JobResult),
        "plan-upkeep": (PlanChangeParams, PlanChangeResult),
        "change-store": (ChangeParams, JobResult),
    }
    jobs = Job.objects.filter(kind__in=types)

    assert {job.kind for job in jobs} == set(types)
    assert [wrong for job in jobs for wrong in missing(job.params, types[job.kind][0], job.kind)] == []
    assert [wrong for job in jobs for wrong in missing(job.result, types[job.kind][1], job.kind)] == []


def test_what_commands_show_of_the_lake_is_of_their_types(console: Console, tmp_path: Path) -> None:
    table = console.lost()
    looks = printed("observe", "--full")
    file = tmp_path / "lake.toml"
    file.write_text('[connections.other]\nregion = "eu-west-1"\n')

    assert not missing(looks, ObserveJson)
    assert not missing(printed("tables"), list[TableLine])
    assert not missing(printed("store", console.lake.log_store), StoreJson)
    assert not missing(printed("stores"), list[StoreLine])
    assert not missing(printed("bucket", table.bucket), BucketJson)
    assert not missing(printed("buckets"), list[BucketLine])
    assert not missing(printed("jobs"), list[JobLine])
    assert not missing(printed("audit"), list[AuditJson])
    assert not missing(printed("job", looks["jobs"][0]["id"]), JobJson)
    assert not missing(printed("apply", str(file), "--prune"), ApplyJson)
