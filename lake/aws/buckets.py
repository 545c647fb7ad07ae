"""The settings of a bucket that commits and backups depend on."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import botocore.parsers
import botocore.session
import orjson

from lake.aws.access import Lake
from lake.aws.answers import AwsResponse, malformed
from lake.aws.errors import AwsError

# What S3 answers where a bucket simply has no such configuration.
NONE_CONFIGURED = frozenset(
    {
        "NoSuchLifecycleConfiguration",
        "ReplicationConfigurationNotFoundError",
        "ServerSideEncryptionConfigurationNotFoundError",
    }
)
# What an S3 without Intelligent-Tiering answers to the question for its configurations: it refuses, as MinIO does, ...
NO_SUCH_FEATURE = frozenset({"NotImplemented", "HTTP501"})
# ... or passes over the words that it does not know and lists the objects, as Ceph does.
OBJECT_LISTING = re.compile(rb"<(?:[\w.-]+:)?ListBucketResult[\s>/]")


@dataclass(frozen=True)
class BucketDescription:
    """Settings of one bucket; None marks a fact that could not be read, its reason in `unknown` as (fact, reason).

    `versioning` is "Enabled", "Suspended" or "Off". `lifecycle_rules` are S3's rules in the shape of the AWS SDKs'
    JSON, dates as ISO 8601 text; an empty tuple means that there are none. `least_size_moved` is what S3 says of
    transitions without a size of their own: "all_storage_classes_128K", "varies_by_storage_class", or "" for nothing.
    `tiering` are the Intelligent-Tiering configurations in the same shape: Id, Status, Filter, Tierings (AccessTier,
    Days); an empty tuple also stands for an S3 that does not know this class. `encryption_key` is the KMS key of the
    default encryption, by ARN, id or alias, "" for S3's own; a refusal leaves it None and stands in no verdict's way.
    """

    name: str
    region: str
    versioning: str | None = None
    mfa_delete: bool | None = None
    lifecycle_rules: tuple[dict[str, Any], ...] | None = None
    least_size_moved: str = ""
    tiering: tuple[dict[str, Any], ...] | None = None
    replication: bool | None = None
    encryption_key: str | None = None
    unknown: tuple[tuple[str, str], ...] = ()


def describe_bucket(lake: Lake, name: str) -> BucketDescription:
    """Versioning, lifecycle, archive tiers and replication of a bucket.

    Raises AwsError where the bucket is missing or unreachable.
    """
    facts: dict[str, Any] = {}
    unknown: list[tuple[str, str]] = []
    for fact, read in _FACTS:
        try:
            facts |= read(lake, name)
        except AwsError as error:
            if error.is_missing or error.code == "ConnectionFailed":
                raise
            unknown.append((fact, str(error)))
    facts["encryption_key"] = _encryption_key(lake, name)
    return BucketDescription(name=name, region=lake.s3.region_of(name), unknown=tuple(unknown), **facts)


def _versioning(lake: Lake, name: str) -> dict[str, Any]:
    said = _read(lake, name, "GetBucketVersioning", "versioning")
    return {"versioning": said.get("Status") or "Off", "mfa_delete": said.get("MFADelete") == "Enabled"}


def _lifecycle(lake: Lake, name: str) -> dict[str, Any]:
    said = _or_none(lambda: _read(lake, name, "GetBucketLifecycleConfiguration", "lifecycle"))
    return {
        "lifecycle_rules": tuple(said.get("Rules", ())),
        "least_size_moved": str(said.get("TransitionDefaultMinimumObjectSize") or ""),
    }


def _tiering(lake: Lake, name: str) -> dict[str, Any]:
    """The first page of them, which holds as many as any bucket has; where there are more, they are not known."""
    operation, target = "ListBucketIntelligentTieringConfigurations", f"s3://{name}"
    try:
        answer = lake.s3.ask(f"s3:{operation}", name, "", query={"intelligent-tiering": ""}, target=target)
    except AwsError as error:
        if error.code in NO_SUCH_FEATURE:
            return {"tiering": ()}
        raise
    if OBJECT_LISTING.search(answer.body[:1_000]):
        return {"tiering": ()}
    said = parse_answer(answer, operation, target)
    if not said or said.get("IsTruncated"):
        raise malformed(answer, "the answer is no whole list of configurations", f"s3:{operation}", target)
    return {"tiering": tuple(said.get("IntelligentTieringConfigurationList", ()))}


def _replication(lake: Lake, name: str) -> dict[str, Any]:
    said = _or_none(lambda: _read(lake, name, "GetBucketReplication", "replication"))
    rules = said.get("ReplicationConfiguration", {}).get("Rules", ())
    return {"replication": any(rule.get("Status") == "Enabled" for rule in rules)}


def _encryption_key(lake: Lake, name: str) -> str | None:
    """What policies name, and no verdict rests on: whatever goes wrong, it is not known."""
    try:
        said = _or_none(lambda: _read(lake, name, "GetBucketEncryption", "encryption"))
    except AwsError:
        return None
    rules = said.get("ServerSideEncryptionConfiguration", {}).get("Rules") or [{}]
    applied = rules[0].get("ApplyServerSideEncryptionByDefault", {})
    return str(applied.get("KMSMasterKeyID") or "") if "kms" in str(applied.get("SSEAlgorithm")) else ""


_FACTS = (
    ("versioning", _versioning),
    ("lifecycle", _lifecycle),
    ("archive tiers", _tiering),
    ("replication", _replication),
)


def _or_none(read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return read()
    except AwsError as error:
        if error.code in NONE_CONFIGURED:
            return {}
        raise


def _read(lake: Lake, name: str, operation: str, subresource: str) -> dict[str, Any]:
    target = f"s3://{name}"
    answer = lake.s3.ask(f"s3:{operation}", name, "", query={subresource: ""}, target=target)
    return parse_answer(answer, operation, target)


def parse_answer(answer: AwsResponse, operation: str, target: str) -> dict[str, Any]:
    """S3's answer to an operation in the shape of the AWS SDKs' JSON, dates as ISO 8601 text. Raises AwsError."""
    if not answer.body:
        raise malformed(answer, "the answer is empty", f"s3:{operation}", target)
    shape = s3_operation(operation).output_shape
    parser = botocore.parsers.create_parser("rest-xml")
    try:
        said = parser.parse({"status_code": 200, "headers": answer.headers, "body": answer.body}, shape)
    except botocore.parsers.ResponseParserError as error:
        raise malformed(answer, f"the answer is not well-formed: {error}", f"s3:{operation}", target) from error
    said.pop("ResponseMetadata", None)
    plain: dict[str, Any] = orjson.loads(orjson.dumps(said))
    return plain


def s3_operation(name: str) -> Any:
    """What botocore knows of an operation of S3."""
    return _s3_model().operation_model(name)


@cache
def _s3_model() -> Any:
    return botocore.session.Session().get_service_model("s3")
