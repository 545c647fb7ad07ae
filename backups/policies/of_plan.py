"""The names of a stored plan, for its policies."""

from backups.models import Plan
from backups.policies.names import UNKNOWN_SOURCE, UNKNOWN_VAULT, PlanNames, account_of
from lake.aws.arns import partition_of
from lake.backup.locations import BucketPrefix

EVIDENCE_FOLDER = "_levee/"
LONGEST_ROLE_NAME = 64


def names_of(plan: Plan) -> PlanNames:
    """What the plan uses. An account is known where its connection assumes a role; else it stays a word to replace."""
    source_role, vault_role = plan.connection.role_arn, plan.vault_connection.role_arn
    destination = place_of_uri(plan.destination)
    return PlanNames(
        plan=plan.name,
        partition=partition_of(plan.vault_connection.region),
        region=plan.vault_connection.region,
        source=place_of_uri(plan.source),
        destination=destination,
        evidence=place_of_uri(plan.evidence) if plan.evidence else BucketPrefix(destination.bucket, EVIDENCE_FOLDER),
        inventory=place_of_uri(plan.inventory) if plan.inventory else None,
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


def place_of_uri(uri: str) -> BucketPrefix:
    """Bucket and prefix of an s3a URI as a plan holds it; a dated bucket keeps its {date}."""
    _, _, rest = uri.partition("://")
    bucket, _, key = rest.partition("/")
    return BucketPrefix(bucket, f"{key.rstrip('/')}/" if key.rstrip("/") else "")
