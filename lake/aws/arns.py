"""Names of AWS's resources as IAM reads them: partitions, literal text in patterns, and KMS keys."""

import re
from dataclasses import dataclass

_WILD = {"$": "${$}", "*": "${*}", "?": "${?}"}
_KMS_ARN = re.compile(r"arn:(aws[a-z-]*):kms:([a-z0-9-]+):(\d{12}):(key|alias)/(.+)")


def literal(text: str) -> str:
    """A name as IAM reads it in a resource or a condition, where $, * and ? would mean something.

    IAM user guide, "Policy variables": ${*}, ${?} and ${$} stand for the characters themselves.
    """
    return "".join(_WILD.get(letter, letter) for letter in text)


def partition_of(region: str) -> str:
    return "aws-cn" if region.startswith("cn-") else "aws-us-gov" if "-gov-" in region else "aws"


def service_host(service: str, region: str) -> str:
    """What `kms:ViaService` says of a service, such as s3.eu-west-1.amazonaws.com."""
    return f"{service}.{region}.amazonaws.com" + (".cn" if region.startswith("cn-") else "")


@dataclass(frozen=True, slots=True)
class KmsKey:
    """A KMS key as a policy can name it: by the ARN `resource`, or as any key that has the `alias`, else ""."""

    resource: str
    region: str
    alias: str = ""


def kms_key(named: str, region: str, account: str) -> KmsKey | None:
    """The key by its ARN, its id or an alias, as S3 and DynamoDB give it; None for none and for one of AWS's own.

    `region` and `account` (12 digits or "*") are those of what it encrypts, where `named` does not say. A policy cannot
    name an alias as a resource (KMS developer guide, "Using aliases to control access").
    """
    found = _KMS_ARN.fullmatch(named)
    partition = found[1] if found else partition_of(region)
    region, account = (found[2], found[3]) if found else (region, account)
    name = (f"alias/{found[5]}" if found[4] == "alias" else found[5]) if found else named
    if not name or name.startswith("alias/aws/"):
        return None
    keys = f"arn:{partition}:kms:{region}:{account}:key/"
    if name.startswith("alias/"):
        return KmsKey(f"{keys}*", region, name)
    return KmsKey(keys + literal(name), region)
