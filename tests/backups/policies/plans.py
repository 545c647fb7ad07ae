"""A plan's names as tests want them."""

from dataclasses import replace
from typing import Any

from backups.policies.names import Place, PlanNames

SOURCE_ACCOUNT, VAULT_ACCOUNT = "111111111111", "222222222222"
NAMES = PlanNames(
    plan="warehouse-daily",
    partition="aws",
    region="eu-west-1",
    source=Place("acme-lake", "warehouse/"),
    destination=Place("acme-vault", "pool/"),
    evidence=Place("acme-evidence", "levee/"),
    inventory=Place("acme-manifests", "acme-lake/daily/"),
    source_account=SOURCE_ACCOUNT,
    vault_account=VAULT_ACCOUNT,
    role_name="levee-batch",
    levee_source=f"arn:aws:iam::{SOURCE_ACCOUNT}:role/levee",
    levee_vault=f"arn:aws:iam::{VAULT_ACCOUNT}:role/levee-vault",
)


def names(**changes: Any) -> PlanNames:
    return replace(NAMES, **changes)
