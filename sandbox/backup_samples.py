"""The sample plans of backups: where they copy to, which inventories they wait for, and what befalls their copies.

Once each has been run, one run is complete, one is copying for an hour, one waits for approval and one has failed.
"""

import json
from dataclasses import dataclass

from lake.aws.access import Access, open_lake
from lake.aws.inventory_configurations import PLANNING_FIELDS, InventoryConfiguration, InventoryConfigurations
from sandbox.client import REGION, Client
from sandbox.ground import FINANCE, PROD, RAW

VAULT, MARKETING_VAULT, INVENTORIES = "acme-vault-lake", "acme-vault-marketing", "acme-lake-inventories"
ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/levee-batch"
EXPIRED_ROLE = f"arn:aws:iam::{ACCOUNT}:role/levee-batch-marketing"
SLOW_PREFIX, SLOW_SECONDS = "events/", 20.0


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """A plan of daily copies through S3 Batch Operations, from the inventory of its own prefix."""

    name: str
    source_bucket: str
    destination: str
    schedule: str
    ceiling_usd: float
    prefix: str = ""
    role_arn: str = ROLE
    storage_class: str = ""
    evidence: str = ""

    @property
    def inventory_id(self) -> str:
        return f"levee-{self.name}"

    @property
    def values(self) -> dict[str, str | int | float]:
        """What the declaration says of it; of empty values nothing."""
        said: dict[str, str | int | float] = {
            "name": self.name,
            "connection": "sandbox",
            "source": f"s3a://{self.source_bucket}/{self.prefix}",
            "destination": self.destination,
            "inventory": f"s3a://{INVENTORIES}/{self.source_bucket}/{self.inventory_id}/",
            "engine": "s3-batch",
            "schedule": self.schedule,
            "cost_ceiling_usd": self.ceiling_usd,
            "role_arn": self.role_arn,
            "storage_class": self.storage_class,
            "evidence": self.evidence,
        }
        # The sample lake is hardly older than its first inventory.
        return {name: value for name, value in said.items() if value != ""} | {"minimum_lag_hours": 0}


PLANS = (
    SamplePlan("warehouse", PROD, f"s3a://{VAULT}/warehouse/", "0 2 * * *", 5.0, prefix="warehouse/"),
    SamplePlan(
        "raw-cold",
        RAW,
        "s3a://acme-vault-raw-{date}/",
        "30 2 * * *",
        5.0,
        storage_class="GLACIER_IR",
        evidence=f"s3a://{VAULT}/_levee/raw-cold/",
    ),
    # A job alone costs more than that.
    SamplePlan("finance", FINANCE, f"s3a://{VAULT}/finance/", "0 */4 * * *", 0.1),
    SamplePlan(
        "marketing",
        PROD,
        f"s3a://{MARKETING_VAULT}/",
        "0 3 * * *",
        5.0,
        prefix="warehouse/marketing/",
        role_arn=EXPIRED_ROLE,
    ),
)
RULES = {"paces": {SLOW_PREFIX: SLOW_SECONDS}, "denied_roles": [EXPIRED_ROLE]}


def lay(client: Client) -> None:
    """Make the buckets that plans need, and let copies fare as the plans tell."""
    for bucket in (VAULT, MARKETING_VAULT, INVENTORIES):
        client.create_bucket(bucket)
    client.change_rules(RULES)


def ask_for_inventories(client: Client) -> None:
    """Configure each plan's inventory; the first delivery lists what is there some seconds later."""
    access = Access(REGION, endpoint_url=client.origin, static_credentials=("sandbox", "sandbox"))
    with open_lake(access) as lake:
        for plan in PLANS:
            wanted = InventoryConfiguration(
                plan.inventory_id,
                INVENTORIES,
                destination_account=ACCOUNT,
                prefix=plan.prefix,
                fields=PLANNING_FIELDS,
            )
            InventoryConfigurations(lake).put(plan.source_bucket, wanted)


def declaration() -> str:
    """The plans as TOML, in which texts and numbers look as in JSON."""
    return "".join(
        "\n[[plans]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in plan.values.items())
        for plan in PLANS
    )
