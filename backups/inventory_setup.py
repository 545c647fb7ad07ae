"""The inventory configuration that a plan needs in the account of its source: what it says, and putting it there."""

from dataclasses import asdict, fields, replace
from typing import TypedDict

from backups.declaration import least_objective_hours
from backups.models import Plan
from backups.policies.names import names_of
from dashboard.connections.access import lake_access
from dashboard.jobs.context import JobContext, JobFailed
from dashboard.jobs.registry import job_kind
from lake.aws.access import open_lake
from lake.aws.inventory_configurations import PLANNING_FIELDS, InventoryConfiguration, InventoryConfigurations

KIND = "set-up-inventory"
FORMATS = ("Parquet", "ORC", "CSV")
HOURS = {"Daily": 24, "Weekly": 7 * 24}
FREQUENCIES = tuple(HOURS)
LONGEST_ID = 64


class PlaceUnfit(ValueError):
    """The plan's inventory cannot be where S3 would deliver it; the message says where it can be."""


def configuration_of(plan: Plan, format: str = FORMATS[0], frequency: str = FREQUENCIES[0]) -> InventoryConfiguration:
    """The configuration whose deliveries the plan would find. Raises PlaceUnfit.

    S3 delivers under PREFIX/SOURCE-BUCKET/ID/ (User Guide, "Locating your inventory list"), so the end of the plan's
    place names the id.
    """
    names = names_of(plan)
    if names.inventory is None:
        raise PlaceUnfit("The plan lists its source: name the place of an inventory in the plan first.")
    least = least_objective_hours(plan.inventory, plan.minimum_lag_hours, plan.schedule, HOURS[frequency])
    if plan.objective_hours < least and frequency != FREQUENCIES[0]:
        raise PlaceUnfit(
            f"With an inventory every week the plan can keep an objective of {least:,} hours, and has one of "
            f"{plan.objective_hours:,}: allow more, or have the bucket listed daily."
        )
    before, bucket, name = _parts(names.inventory.prefix)
    if bucket != names.source.bucket or not 0 < len(name) <= LONGEST_ID:
        fit = f"s3a://{names.inventory.bucket}/{names.source.bucket}/levee-{plan.name}/"
        raise PlaceUnfit(
            f"S3 delivers inventories of {names.source.bucket} under PREFIX/{names.source.bucket}/ID/: change the "
            f"plan's inventory, for example to {fit}."
        )
    return InventoryConfiguration(
        id=name,
        destination_bucket=names.inventory.bucket,
        destination_prefix=before,
        destination_account=names.vault_account if names.vault_account.isdecimal() else "",
        format=format,
        frequency=frequency,
        prefix=names.source.prefix,
        fields=PLANNING_FIELDS,
        partition=names.partition,
    )


def differences(found: InventoryConfiguration, wanted: InventoryConfiguration) -> tuple[str, ...]:
    """The names of what another configuration says otherwise; more columns than wanted are no difference."""
    more = set(found.fields) >= set(wanted.fields)
    like = replace(found, fields=wanted.fields) if more else found
    return tuple(one.name for one in fields(wanted) if getattr(like, one.name) != getattr(wanted, one.name))


class InventoryParams(TypedDict):
    """The plan by its primary key, of FORMATS and FREQUENCIES one; `replace` another configuration of the same id."""

    plan: int
    format: str
    frequency: str
    replace: bool


@job_kind(KIND, queue="aws", verb="backup.plan", steps=("Read what is there", "Put the configuration", "Read it again"))
def set_up_inventory(context: JobContext, params: InventoryParams) -> str:
    """Put a plan's inventory configuration on its source."""
    plan, wanted = _wanted(params)
    bucket = names_of(plan).source.bucket
    with open_lake(lake_access(plan.connection)) as lake:
        configurations = InventoryConfigurations(lake)
        with context.step("Read what is there"):
            found = configurations.get(bucket, wanted.id)
        context.result({"before": asdict(found) if found else None, "after": asdict(wanted)})
        if found is not None and not differences(found, wanted):
            return f"The configuration {wanted.id} of {bucket} is as it has to be: nothing was changed."
        if found is not None and not params["replace"]:
            raise JobFailed("ConfigurationDiffers", _other(bucket, found, wanted))
        context.check_cancelled()
        with context.step("Put the configuration"):
            request_id = configurations.put(bucket, wanted)
            context.result({"aws_request_ids": [request_id] if request_id else []})
        with context.step("Read it again"):
            stored = configurations.get(bucket, wanted.id)
            if stored is None or differences(stored, wanted):
                said = f"S3 took the configuration {wanted.id} of {bucket}, and does not give it back."
                raise JobFailed("NotAsPut", said)
    return f"S3 lists {bucket} {wanted.frequency.lower()} as {wanted.format}; the first list can take 48 hours."


def _wanted(params: InventoryParams) -> tuple[Plan, InventoryConfiguration]:
    plan = Plan.objects.select_related("connection", "vault_connection").filter(pk=params["plan"]).first()
    if plan is None:
        raise JobFailed("NoSuchPlan", "The plan has been removed: nothing was changed.")
    try:
        return plan, configuration_of(plan, params["format"], params["frequency"])
    except PlaceUnfit as error:
        raise JobFailed("PlaceUnfit", str(error)) from error


def _other(bucket: str, found: InventoryConfiguration, wanted: InventoryConfiguration) -> str:
    said = "; ".join(
        f"{name} is {getattr(found, name)!r} and not {getattr(wanted, name)!r}" for name in differences(found, wanted)
    )
    return f"{bucket} has another configuration {found.id}: {said}. Nothing was changed; ask for it to be replaced."


def _parts(prefix: str) -> tuple[str, str, str]:
    """What stands before the bucket in a place of inventories, the bucket, and the id."""
    before, _, name = prefix.rstrip("/").rpartition("/")
    before, _, bucket = before.rpartition("/")
    return before, bucket, name
