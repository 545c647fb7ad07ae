"""The sample plans of backups, as the sandbox declares and prepares them."""

import pytest

from lake.aws.inventory_configurations import PLANNING_FIELDS
from lake.backup.inventory_manifest import read_manifest
from sandbox import backup_samples
from sandbox.client import Client
from tests.sandboxlake import sandbox_lake
from tests.waiting import wait_until

pytestmark = pytest.mark.process


def delivered(client: Client, plan: backup_samples.SamplePlan) -> str:
    """The key of the manifest of a plan's first inventory."""
    home = f"{plan.source_bucket}/{plan.inventory_id}/"

    def checksums() -> list[str]:
        keys = [key for key, _ in client.list(backup_samples.INVENTORIES, home)]
        return [key for key in keys if key.endswith("manifest.checksum")]

    assert wait_until(checksums, 30), f"no inventory of {plan.name} was delivered"
    return f"{checksums()[0].removesuffix('checksum')}json"


@pytest.mark.parametrize("plan", backup_samples.PLANS, ids=lambda plan: plan.name)
def test_each_plan_gets_its_inventory_by_itself(plan: backup_samples.SamplePlan) -> None:
    client = sandbox_lake()
    key = delivered(client, plan)
    body = client.get(backup_samples.INVENTORIES, key)
    checksum = client.get(backup_samples.INVENTORIES, f"{key.removesuffix('json')}checksum")
    manifest = read_manifest(body, checksum, source_bucket=plan.source_bucket)
    assert (manifest.format, len(manifest.columns)) == ("Parquet", 2 + len(PLANNING_FIELDS))
