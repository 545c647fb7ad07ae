"""The sandbox's sample plans, declared and run as `levee run` does, on real Spark: one run in each state."""

from types import SimpleNamespace

import pytest
import urllib3
from django.core.management import CommandError, call_command

from backups.models import CopyJob, Run
from backups.runs import spark_pipeline
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from lake.aws.access import open_lake
from lake.aws.batch_operations import BatchOperations
from sandbox import backup_samples, ground
from sandbox.client import REGION
from tests.sandbox.test_backup_samples import delivered
from tests.sandboxlake import sandbox_lake
from tests.sparkworker import warm_worker  # noqa: F401 - a fixture

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]


class Enough(Exception):
    """The run copies: nobody waits for its end."""


@pytest.fixture
def declared(tmp_path, settings, monkeypatch, warm_worker):  # noqa: F811
    class Warm:
        def borrow(self, *_: object) -> object:
            return warm_worker

    def until_it_copies(seconds: float) -> None:
        if Run.objects.filter(plan__name="raw-cold", stage="copy").exists():
            raise Enough

    lake = sandbox_lake()
    for plan in backup_samples.PLANS:
        delivered(lake, plan)
    lake.change_rules(backup_samples.RULES)
    settings.SANDBOX_ENDPOINT_FILE = tmp_path / "endpoint"
    settings.SANDBOX_ENDPOINT_FILE.write_text(lake.origin)
    monkeypatch.setattr(spark_pipeline, "spark", Warm())
    monkeypatch.setattr("backups.advancing.time", SimpleNamespace(sleep=until_it_copies))
    file = tmp_path / "lake.toml"
    file.write_text(ground.declaration(lake.origin, REGION) + backup_samples.declaration())
    call_command("apply", str(file), "--apply")
    yield
    with open_lake(lake_access(Connection.objects.get())) as opened:
        batch = BatchOperations(opened)
        for row in CopyJob.objects.filter(status="Active"):
            batch.cancel(row.aws_job_id)
    urllib3.request("DELETE", f"{lake.origin}/_sandbox/rules")


def test_each_sample_plan_comes_to_the_state_that_it_shows(declared):
    def state(plan: str) -> tuple[str, str]:
        run = Run.objects.get(plan__name=plan)
        return run.state, run.stage

    call_command("backup", "run", "warehouse")
    call_command("backup", "run", "finance")
    with pytest.raises(CommandError, match="cannot take the role"):
        call_command("backup", "run", "marketing")
    with pytest.raises(Enough):
        call_command("backup", "run", "raw-cold")

    assert state("warehouse") == ("complete", "reconcile")
    assert state("finance") == ("waiting_for_approval", "cost_gate")
    assert state("marketing") == ("failed", "cost_gate")
    assert state("raw-cold") == ("running", "copy")
