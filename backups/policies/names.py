"""The names that a plan's policies speak of, and their ARNs; those of a stored plan."""

import re
from dataclasses import dataclass

from backups.models import Plan
from lake.aws.arns import literal, partition_of
from lake.backup.objects import BucketPrefix, place_of

UNKNOWN_SOURCE, UNKNOWN_VAULT = "SOURCE_ACCOUNT_ID", "BACKUP_ACCOUNT_ID"
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::(\d{12}):(?:role|user)/.+")
EVIDENCE_FOLDER = "_levee/"
LONGEST_ROLE_NAME = 64


@dataclass(frozen=True, slots=True)
class PlanNames:
    """What one plan really uses. Accounts have 12 digits, or the word to put them in place of.

    `levee_source` and `levee_vault` are the ARNs that Levee itself acts as in the two accounts, "" where unknown;
    the keys are ARNs of KMS keys, "" without one. `inventory` is None for a plan that lists its source.
    """

    plan: str
    partition: str
    region: str
    source: BucketPrefix
    destination: BucketPrefix
    evidence: BucketPrefix
    inventory: BucketPrefix | None
    source_account: str = UNKNOWN_SOURCE
    vault_account: str = UNKNOWN_VAULT
    role_name: str = ""
    role_arn: str = ""
    levee_source: str = ""
    levee_vault: str = ""
    source_key: str = ""
    destination_key: str = ""
    uses_batch: bool = True

    @property
    def batch_role(self) -> str:
        """ARN of the role that S3 Batch Operations acts as: the plan's, else the one that the policies propose."""
        return self.role_arn or f"arn:{self.partition}:iam::{self.vault_account}:role/{self.role_name}"

    @property
    def readers(self) -> tuple[str, ...]:
        """Who of the backup account reads the source: the batch role, and Levee where it copies by itself.

        Levee copies what S3 Batch cannot, objects over 5 GB, and everything with the Spark engine.
        """
        return ((self.batch_role,) if self.uses_batch else ()) + ((self.vault_principal,))

    @property
    def vault_principal(self) -> str:
        """Levee in the backup account, or that account as a whole while its identity is not known."""
        return self.levee_vault or f"arn:{self.partition}:iam::{self.vault_account}:root"

    @property
    def unknown(self) -> tuple[str, ...]:
        """Words in the policies that a person has to replace."""
        accounts = tuple(one for one in (self.source_account, self.vault_account) if not one.isdecimal())
        return accounts + (("{date}",) if "{date}" in self.destination.bucket else ())

    def own_arns(self, place: BucketPrefix) -> tuple[str, str]:
        """A bucket and all in it as the bucket's own policy names them: a date in its name stays to be filled in."""
        arn = f"arn:{self.partition}:s3:::{place.bucket}"
        return arn, f"{arn}/*"

    def bucket_arn(self, place: BucketPrefix) -> str:
        """A dated name stands for all dates."""
        return f"arn:{self.partition}:s3:::{literal(place.bucket).replace('{date}', '*')}"

    def object_arn(self, place: BucketPrefix, below: str = "") -> str:
        """All objects under a place, and under `below` in it."""
        return f"{self.bucket_arn(place)}/{literal(place.prefix + below)}*"


def account_of(role_arn: str) -> str:
    """The account in the ARN of a role or user, "" where there is none."""
    found = _ROLE.fullmatch(role_arn)
    return found[1] if found else ""


def names_of(plan: Plan) -> PlanNames:
    """What the plan uses. An account is known where its connection assumes a role; else it stays a word to replace."""
    source_role, vault_role = plan.connection.role_arn, plan.vault_connection.role_arn
    destination = place_of(plan.destination)
    return PlanNames(
        plan=plan.name,
        partition=partition_of(plan.vault_connection.region),
        region=plan.vault_connection.region,
        source=place_of(plan.source),
        destination=destination,
        evidence=place_of(plan.evidence) if plan.evidence else BucketPrefix(destination.bucket, EVIDENCE_FOLDER),
        inventory=place_of(plan.inventory) if plan.inventory else None,
        source_account=account_of(source_role) or UNKNOWN_SOURCE,
        vault_account=account_of(vault_role) or account_of(plan.role_arn) or UNKNOWN_VAULT,
        role_name=plan.role_arn.rpartition("/")[2] or f"levee-batch-{plan.name}"[:LONGEST_ROLE_NAME],
        role_arn=plan.role_arn,
        source_key=plan.source_key,
        destination_key=plan.encryption_key,
        levee_source=source_role,
        levee_vault=vault_role,
        uses_batch=plan.engine == Plan.Engine.S3_BATCH,
    )
