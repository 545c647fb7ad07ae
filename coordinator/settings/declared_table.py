"""A DynamoDB table as a whole resource of Terraform and of CloudFormation, from what AWS says of it. Pure.

Sources: the arguments of aws_dynamodb_table in Terraform's AWS provider, and the schema of AWS::DynamoDB::Table. A
setting that was not read is never left to a tool's default: then there is no text.
"""

import json
from dataclasses import dataclass
from typing import Any

from coordinator.protocols.wording import joined
from coordinator.settings.declared_text import (
    Block,
    Line,
    NotDeclarable,
    given,
    import_block,
    label,
    provider_note,
    terraform,
    yaml,
)
from coordinator.settings.store_calls import TTL_OFF, TTL_ON
from coordinator.settings.store_facts import StoreFacts
from lake.aws.dynamodb import StoreDescription

LOGICAL_ID = "CommitStore"
SYSTEM_TAGS = "aws:"
_STACK = "aws:cloudformation:stack-name"
_UNDECLARED = "Left as they are: resource policies, Kinesis stream, contributor insights, warm throughput."
_SCALED = "Where Application Auto Scaling sets the capacity, let the declaration ignore both numbers."
_KEY = "Where this is the account's key alias/aws/dynamodb, leave the key out: without one that is meant."


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """Every setting that a text declares.

    `keys` as in `StoreDescription`; `read` and `write` in units a second, 0 on demand; `most_read` and `most_write`
    limit requests on demand, None for no limit. `ttl` is (attribute, on), None where it was never on. `recovery_days`
    is how far back, None for DynamoDB's default. `encryption` is the ARN of a KMS key, "aws" for the account's key of
    DynamoDB, "" for one of DynamoDB's own.
    """

    name: str
    keys: tuple[tuple[str, str, str], ...]
    on_demand: bool
    deletion_protection: bool
    recovery: bool
    read: int = 0
    write: int = 0
    most_read: int | None = None
    most_write: int | None = None
    ttl: tuple[str, bool] | None = None
    recovery_days: int | None = None
    encryption: str = ""
    table_class: str | None = None
    stream: str | None = None
    tags: tuple[tuple[str, str], ...] = ()


def declared(facts: StoreFacts) -> DeclaredTable:
    """The table as it is. Raises NotDeclarable where a setting is not known, or has no place in the text."""
    found = facts.description
    if found is None:
        raise NotDeclarable(f"There is no DynamoDB table {facts.name}.")
    _refuse_parts(found)
    on_demand = found.billing == "on_demand"
    return DeclaredTable(
        name=found.name,
        keys=found.key_schema,
        on_demand=on_demand,
        deletion_protection=_known(found, "deletion protection", found.deletion_protection),
        recovery=_known(found, "point-in-time recovery", found.point_in_time_recovery),
        read=0 if on_demand else found.read_capacity,
        write=0 if on_demand else found.write_capacity,
        most_read=found.most_read_units if on_demand else None,
        most_write=found.most_write_units if on_demand else None,
        ttl=_ttl(found),
        recovery_days=found.recovery_days if found.point_in_time_recovery else None,
        encryption=found.encryption,
        table_class=found.table_class,
        stream=found.stream_view,
        tags=_tags(facts),
    )


def terraform_table(table: DeclaredTable, region: str, *, exists: bool) -> str:
    """An aws_dynamodb_table, with an import block where the table exists. Raises NotDeclarable."""
    name = label(table.name)
    resource = Block(f'resource "aws_dynamodb_table" "{name}"', _terraform_lines(table))
    imported = (import_block(f"aws_dynamodb_table.{name}", table.name),) if exists else ()
    return terraform(*imported, resource, comments=(provider_note(region, imports=exists),))


def cloudformation_table(table: DeclaredTable) -> str:
    """A template with an AWS::DynamoDB::Table that stays when it leaves its stack. Raises NotDeclarable."""
    comments = [_UNDECLARED, *([] if table.on_demand else [_SCALED]), *([_KEY] if _names_key(table) else [])]
    resource = {
        "Type": "AWS::DynamoDB::Table",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": _properties(table),
    }
    text = yaml({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {LOGICAL_ID: resource}})
    return "\n".join([*(f"# {one}" for one in comments), text])


def to_import(resource_type: str, logical_id: str, identifier: dict[str, str]) -> str:
    """What a change set of type IMPORT takes as its resources, as JSON on one line."""
    told = {"ResourceType": resource_type, "LogicalResourceId": logical_id, "ResourceIdentifier": identifier}
    return json.dumps([told])


def _refuse_parts(found: StoreDescription) -> None:
    if indexes := [*found.global_indexes, *found.local_indexes]:
        raise NotDeclarable(
            f"{found.name} has the {'index' if len(indexes) == 1 else 'indexes'} {joined(indexes)}, which Levee does "
            "not read whole."
        )
    if found.other_parts:
        raise NotDeclarable(f"DynamoDB says {joined(found.other_parts)} of {found.name}, which Levee does not read.")


def _known(found: StoreDescription, what: str, value: bool | None) -> bool:
    if value is None:
        raise NotDeclarable(f"The {what} of {found.name} is not known: {_why(found, what)}")
    return value


def _ttl(found: StoreDescription) -> tuple[str, bool] | None:
    if found.ttl_status in TTL_OFF:
        return None
    if found.ttl_status not in TTL_ON or not found.ttl_attribute:
        raise NotDeclarable(f"The TTL of {found.name} is not known: {_why(found, 'time to live')}")
    return found.ttl_attribute, True


def _why(found: StoreDescription, what: str) -> str:
    reason = dict(found.unknown).get(what, "DynamoDB does not say it")
    return f"{reason.rstrip('.')}."


def _tags(facts: StoreFacts) -> tuple[tuple[str, str], ...]:
    if facts.tags is None:
        raise NotDeclarable(f"The tags of {facts.name} are not known: {facts.tags_unread.rstrip('.')}.")
    if stack := dict(facts.tags).get(_STACK):
        raise NotDeclarable(f"{facts.name} belongs to the CloudFormation stack {stack}: change it in its template.")
    return tuple((key, value) for key, value in facts.tags if not key.startswith(SYSTEM_TAGS))


def _terraform_lines(table: DeclaredTable) -> tuple[Line, ...]:
    roles = {role: name for name, role, _ in table.keys}
    attributes = [Block("attribute", (("name", name), ("type", letter))) for name, _, letter in table.keys]
    return (
        ("name", table.name),
        ("billing_mode", "PAY_PER_REQUEST" if table.on_demand else "PROVISIONED"),
        *_terraform_capacity(table),
        *given(hash_key=roles.get("HASH"), range_key=roles.get("RANGE")),
        *given(table_class=table.table_class),
        *((("stream_enabled", True), ("stream_view_type", table.stream)) if table.stream else ()),
        ("deletion_protection_enabled", table.deletion_protection),
        *attributes,
        Block(
            "point_in_time_recovery",
            given(enabled=table.recovery, recovery_period_in_days=table.recovery_days if table.recovery else None),
        ),
        *([Block("ttl", (("attribute_name", table.ttl[0]), ("enabled", table.ttl[1])))] if table.ttl else []),
        *_terraform_encryption(table),
        *([("tags", dict(table.tags))] if table.tags else []),
    )


def _terraform_capacity(table: DeclaredTable) -> tuple[Line, ...]:
    if not table.on_demand:
        return (_SCALED, ("read_capacity", table.read), ("write_capacity", table.write))
    most = given(max_read_request_units=table.most_read, max_write_request_units=table.most_write)
    return (Block("on_demand_throughput", most),) if most else ()


def _terraform_encryption(table: DeclaredTable) -> tuple[Line, ...]:
    if not table.encryption:
        return ()
    key: tuple[Line, ...] = (_KEY, ("kms_key_arn", table.encryption)) if _names_key(table) else ()
    return (Block("server_side_encryption", (("enabled", True), *key)),)


def _properties(table: DeclaredTable) -> dict[str, Any]:
    days = {"RecoveryPeriodInDays": table.recovery_days} if table.recovery and table.recovery_days else {}
    properties: dict[str, Any] = {
        "TableName": table.name,
        **_cloudformation_capacity(table),
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": letter} for name, _, letter in table.keys],
        "KeySchema": [{"AttributeName": name, "KeyType": role} for name, role, _ in table.keys],
        "DeletionProtectionEnabled": table.deletion_protection,
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": table.recovery, **days},
    }
    if table.ttl:
        properties["TimeToLiveSpecification"] = {"AttributeName": table.ttl[0], "Enabled": table.ttl[1]}
    if table.encryption:
        key = {"KMSMasterKeyId": table.encryption} if _names_key(table) else {}
        properties["SSESpecification"] = {"SSEEnabled": True, "SSEType": "KMS", **key}
    if table.table_class:
        properties["TableClass"] = table.table_class
    if table.stream:
        properties["StreamSpecification"] = {"StreamViewType": table.stream}
    if table.tags:
        properties["Tags"] = [{"Key": key, "Value": value} for key, value in table.tags]
    return properties


def _cloudformation_capacity(table: DeclaredTable) -> dict[str, Any]:
    if not table.on_demand:
        units = {"ReadCapacityUnits": table.read, "WriteCapacityUnits": table.write}
        return {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    named = (("MaxReadRequestUnits", table.most_read), ("MaxWriteRequestUnits", table.most_write))
    most = {name: value for name, value in named if value is not None}
    return {"BillingMode": "PAY_PER_REQUEST", **({"OnDemandThroughput": most} if most else {})}


def _names_key(table: DeclaredTable) -> bool:
    return table.encryption not in ("", "aws")
