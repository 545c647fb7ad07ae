"""A plan's inventory configuration: what it says, and putting it on the source from page and command."""

import json
import uuid
from dataclasses import replace

import pytest
from django.core.management import call_command

from backups.actions import ask_for_inventory
from backups.inventory_setup import KIND, PlaceUnfit, configuration_of, differences
from backups.models import Plan
from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.commands import Failed
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job
from lake.aws.access import open_lake
from lake.aws.inventory_configurations import InventoryConfiguration, InventoryConfigurations
from sandbox.client import REGION
from tests.backups.runs.world import make_plan
from tests.builders.people import signed_in
from tests.sandboxlake import sandbox_lake

pytestmark = pytest.mark.django_db


@pytest.fixture
def plan(tmp_path, settings):
    """A plan of a source bucket of this test's own."""
    lake, name = sandbox_lake(), uuid.uuid4().hex[:8]
    settings.SANDBOX_ENDPOINT_FILE = tmp_path / "endpoint"
    settings.SANDBOX_ENDPOINT_FILE.write_text(lake.origin)
    Connection.objects.create(name="prod", region=REGION, endpoint_url=lake.origin)
    for bucket in (f"source-{name}", f"lists-{name}"):
        lake.create_bucket(bucket)
    return make_plan(
        source=f"s3a://source-{name}/warehouse/", inventory=f"s3a://lists-{name}/daily/source-{name}/levee-warehouse/"
    )


def stored(plan) -> InventoryConfiguration | None:
    with open_lake(lake_access(plan.connection)) as lake:
        return InventoryConfigurations(lake).get(bucket_of(plan), "levee-warehouse")


def bucket_of(plan) -> str:
    return plan.source.split("/")[2]


def set_up(plan, *choice, **options) -> Job:
    return ask_for_inventory(Actor.command(), plan, *choice, enqueue=False, **options)


def test_the_place_of_the_plan_says_where_s3_delivers(plan):
    plan.objective_hours = 204
    wanted = configuration_of(plan, "ORC", "Weekly")

    assert (wanted.id, wanted.destination_prefix, wanted.prefix) == ("levee-warehouse", "daily", "warehouse/")
    assert wanted.destination_bucket.startswith("lists-")
    assert (wanted.format, wanted.frequency) == ("ORC", "Weekly")
    assert {"Size", "ETag", "LastModifiedDate", "StorageClass"} <= set(wanted.fields)


@pytest.mark.parametrize("place", ["s3a://lists/", "s3a://lists/other/levee/", "s3a://lists/lake/" + "x" * 65 + "/"])
def test_a_place_where_s3_would_not_deliver_is_refused_with_one_that_fits(place):
    plan = make_plan(inventory=place)
    with pytest.raises(PlaceUnfit, match=r"for example to s3a://lists/lake/levee-warehouse-daily/"):
        configuration_of(plan)


def test_an_inventory_that_is_too_rare_for_the_objective_is_refused(plan):
    plan.objective_hours = 203
    with pytest.raises(PlaceUnfit, match="every week the plan can keep an objective of 204 hours, and has one of 203"):
        configuration_of(plan, "ORC", "Weekly")


def test_more_columns_than_are_needed_are_no_difference(plan):
    wanted = configuration_of(plan)
    assert differences(replace(wanted, fields=(*wanted.fields, "ObjectOwner")), wanted) == ()
    assert differences(replace(wanted, enabled=False), wanted) == ("enabled",)


def test_the_configuration_is_put_read_again_and_then_left_as_it_is(plan):
    job = set_up(plan)

    assert job.state == "succeeded", job.error_text
    assert "the first list can take 48 hours" in job.message
    assert differences(stored(plan), configuration_of(plan)) == ()
    entry = AuditEntry.objects.filter(action="backup.plan").latest("id")
    assert entry.after["id"] == "levee-warehouse"
    assert "nothing was changed" in set_up(plan).message


def test_another_of_the_same_id_stays_unless_it_is_to_be_replaced(plan):
    set_up(plan, "CSV")

    refused = set_up(plan)
    assert refused.state == "failed"
    assert "format is 'CSV' and not 'Parquet'" in refused.error_text
    assert stored(plan).format == "CSV"

    assert set_up(plan, replace=True).state == "succeeded"
    assert stored(plan).format == "Parquet"


def test_a_command_sets_it_up_or_says_why_it_cannot(plan, capsys):
    Plan.objects.update(objective_hours=204)
    call_command("backup", "inventory", plan.name, "--frequency", "Weekly", "--json")
    assert json.loads(capsys.readouterr().out)["state"] == "succeeded"
    assert stored(plan).frequency == "Weekly"

    Plan.objects.update(inventory="")
    with pytest.raises(Failed, match="name the place of an inventory"):
        call_command("backup", "inventory", plan.name)


def test_the_page_of_a_plan_queues_it_for_an_admin(plan):
    admin, page = signed_in(Role.ADMIN), f"/backups/plans/{plan.name}/"
    assert "<code><bdi>levee-warehouse</bdi></code>" in admin.get(page).content.decode()
    answer = admin.post(f"{page}inventory/", {"format": "XML"}, follow=True)
    assert "Choose a format and how often" in answer.content.decode()
    answer = admin.post(f"{page}inventory/", {"format": "Parquet", "frequency": "Daily"})

    job = Job.objects.get(kind=KIND)
    assert answer["Location"] == f"/jobs/{job.pk}/"
    assert job.params["replace"] is False
