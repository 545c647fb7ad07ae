"""The inventory configurations of a bucket: which lists S3 delivers, of what, where to and how often."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lake.aws.access import Lake
from lake.aws.errors import AwsError

NEEDED_FIELDS = ("Size", "LastModifiedDate", "StorageClass", "ETag")
"""Columns without which a backup cannot be planned; S3 delivers them only if they are asked for."""
PLANNING_FIELDS = (
    "Size",
    "LastModifiedDate",
    "ETag",
    "StorageClass",
    "IsMultipartUploaded",
    "EncryptionStatus",
    "IntelligentTieringAccessTier",
)
"""What a plan's own configuration asks for: the last three say which ETags are no MD5, and what is archived."""
_MISSING = "NoSuchConfiguration"


@dataclass(frozen=True, slots=True)
class InventoryConfiguration:
    """One configuration. `format` is "CSV", "ORC" or "Parquet"; `frequency` "Daily" or "Weekly" (Sundays, UTC).

    `destination_account` is who must own the destination, "" for anybody; `destination_prefix` stands before
    everything S3 writes. `encryption` is "" (the bucket's own), "SSE-S3" or the ARN of a KMS key.
    """

    id: str
    destination_bucket: str
    destination_prefix: str = ""
    destination_account: str = ""
    format: str = "Parquet"
    frequency: str = "Daily"
    prefix: str = ""
    all_versions: bool = False
    enabled: bool = True
    fields: tuple[str, ...] = NEEDED_FIELDS
    encryption: str = ""
    partition: str = "aws"


class InventoryConfigurations:
    """Reads and writes them. All methods raise AwsError."""

    def __init__(self, lake: Lake) -> None:
        self._services = lake.services

    def put(self, bucket: str, configuration: InventoryConfiguration) -> str:
        """Create the configuration, or replace the one of the same id; returns the id of the request."""
        wanted = {"Bucket": bucket, "Id": configuration.id, "InventoryConfiguration": _document(configuration)}
        said = self._services.ask("s3", "PutBucketInventoryConfiguration", wanted, f"s3://{bucket}")
        return str((said.get("ResponseMetadata") or {}).get("RequestId") or "")

    def get(self, bucket: str, configuration_id: str) -> InventoryConfiguration | None:
        """None where the bucket has none of that id."""
        wanted = {"Bucket": bucket, "Id": configuration_id}
        try:
            said = self._services.ask("s3", "GetBucketInventoryConfiguration", wanted, f"s3://{bucket}")
        except AwsError as error:
            if error.code == _MISSING:
                return None
            raise
        return _configuration(said["InventoryConfiguration"])


def _document(wanted: InventoryConfiguration) -> dict[str, Any]:
    destination: dict[str, Any] = {
        "Bucket": f"arn:{wanted.partition}:s3:::{wanted.destination_bucket}",
        "Format": wanted.format,
    }
    if wanted.destination_account:
        destination["AccountId"] = wanted.destination_account
    if wanted.destination_prefix:
        destination["Prefix"] = wanted.destination_prefix
    if wanted.encryption:
        is_own = wanted.encryption == "SSE-S3"
        destination["Encryption"] = {"SSES3": {}} if is_own else {"SSEKMS": {"KeyId": wanted.encryption}}
    document: dict[str, Any] = {
        "Id": wanted.id,
        "IsEnabled": wanted.enabled,
        "IncludedObjectVersions": "All" if wanted.all_versions else "Current",
        "Schedule": {"Frequency": wanted.frequency},
        "Destination": {"S3BucketDestination": destination},
    }
    if wanted.prefix:
        document["Filter"] = {"Prefix": wanted.prefix}
    if wanted.fields:
        document["OptionalFields"] = list(wanted.fields)
    return document


def _configuration(said: Mapping[str, Any]) -> InventoryConfiguration:
    destination = said["Destination"]["S3BucketDestination"]
    encryption = destination.get("Encryption") or {}
    arn = str(destination["Bucket"])
    return InventoryConfiguration(
        id=str(said["Id"]),
        destination_bucket=arn.rpartition(":")[2],
        destination_prefix=str(destination.get("Prefix") or ""),
        destination_account=str(destination.get("AccountId") or ""),
        format=str(destination["Format"]),
        frequency=str(said["Schedule"]["Frequency"]),
        prefix=str((said.get("Filter") or {}).get("Prefix") or ""),
        all_versions=said["IncludedObjectVersions"] == "All",
        enabled=bool(said["IsEnabled"]),
        fields=tuple(said.get("OptionalFields") or ()),
        encryption=str((encryption.get("SSEKMS") or {}).get("KeyId") or ("SSE-S3" if "SSES3" in encryption else "")),
        partition=arn.split(":")[1] if arn.startswith("arn:") else "aws",
    )
