"""The sample plans of backups, as the sandbox declares and prepares them."""

import time

import pytest

from lake.aws.inventory_configurations import PLANNING_FIELDS
from lake.backup.inventory_manifest import read_manifest
from sandbox import backup_samples
from sandbox.client import Client
from tests.sandboxlake import sandbox_lake
from tests.waiting import scaled

pytestmark = pytest.mark.process


def delivered(client: Client, plan: backup_samples.SamplePlan, seconds: float = 30) -> str:
    """The key of the manifest of a plan's first inventory."""
    until = time.monotonic() + scaled(seconds)
    while time.monotonic() < until:
        home = f"{plan.source_bucket}/{plan.inventory_id}/"
        keys = [key for key, _ in client.list(backup_samples.INVENTORIES, home)]
        if checksum := next((key for key in keys if key.endswith("manifest.checksum")), ""):
            return f"{checksum.removesuffix('checksum')}json"
        time.sleep(0.1)
    raise AssertionError(f"no inventory of {plan.name} was delivered")


@pytest.mark.parametrize("plan", backup_samples.PLANS, ids=lambda plan: plan.name)
def test_each_plan_gets_its_inventory_by_itself(plan: backup_samples.SamplePlan) -> None:
    client = sandbox_lake()
    key = delivered(client, plan)
    body = client.get(backup_samples.INVENTORIES, key)
    checksum = client.get(backup_samples.INVENTORIES, f"{key.removesuffix('json')}checksum")
    manifest = read_manifest(body, checksum, source_bucket=plan.source_bucket)
    assert (manifest.format, len(manifest.columns)) == ("Parquet", 2 + len(PLANNING_FIELDS))
