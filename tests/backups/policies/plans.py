"""A plan's names as tests want them."""

from dataclasses import replace
from typing import Any

from backups.policies.names import PlanNames
from lake.backup.objects import BucketPrefix

SOURCE_ACCOUNT, VAULT_ACCOUNT = "111111111111", "222222222222"
NAMES = PlanNames(
    plan="warehouse-daily",
    partition="aws",
    region="eu-west-1",
    source=BucketPrefix("acme-lake", "warehouse/"),
    destination=BucketPrefix("acme-vault", "pool/"),
    evidence=BucketPrefix("acme-evidence", "levee/"),
    inventory=BucketPrefix("acme-manifests", "acme-lake/daily/"),
    source_account=SOURCE_ACCOUNT,
    vault_account=VAULT_ACCOUNT,
    role_name="levee-batch",
    levee_source=f"arn:aws:iam::{SOURCE_ACCOUNT}:role/levee",
    levee_vault=f"arn:aws:iam::{VAULT_ACCOUNT}:role/levee-vault",
)


def names(**changes: Any) -> PlanNames:
    return replace(NAMES, **changes)
