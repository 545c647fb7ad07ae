"""A change as text for those who keep infrastructure as code: AWS CLI, Terraform and CloudFormation.

What is declared is always a whole resource as it will be, or the text is not offered, with the reason: a part of one,
pasted where a whole is meant, takes back every setting that it does not name.
"""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from changes.plan import EarlierText, Equivalents
from coordinator.protocols.stores import TTL_ATTRIBUTE
from coordinator.settings import declared_rules, declared_table
from coordinator.settings.declared_rules import cli_lifecycle, cloudformation_lifecycle, terraform_lifecycle
from coordinator.settings.declared_table import DeclaredTable, cloudformation_table, declared, terraform_table
from coordinator.settings.declared_text import NotDeclarable
from coordinator.settings.store_calls import TTL_ON, ttl_request
from coordinator.settings.store_facts import StoreFacts
from lake.aws.lifecycle import Lifecycle

_CLI_NAMES = {
    "CreateTable": "create-table",
    "UpdateTable": "update-table",
    "UpdateTimeToLive": "update-time-to-live",
    "UpdateContinuousBackups": "update-continuous-backups",
}
_WAIT = "wait until DynamoDB says DISABLED of TTL, which takes up to an hour"
_IMPORT = "First import what exists, as it is, by a change set of type IMPORT with these resources to import: {}"
_UPDATE = "Then update the stack with this."
_TTL_OFF = "{} apply this, which switches TTL off, and {}."
_TTL_ON = "Then apply this."
_TTL_ON_ALONE = f"W{_WAIT[1:]}, then apply this."
TERRAFORM, CLOUDFORMATION = "terraform", "cloudformation"


@dataclass(frozen=True, slots=True)
class WrittenText:
    """One text of a tool: what to do with it, and how it is written, which may raise NotDeclarable."""

    says: str
    write: Callable[[], str]


def dynamodb_cli(calls: Sequence[tuple[str, Mapping[str, Any]]], region: str) -> str:
    """The calls as AWS CLI commands, with a wait after a table is created."""
    lines = []
    for operation, request in calls:
        body = shlex.quote(json.dumps(request, ensure_ascii=False))
        lines.append(f"aws dynamodb {_CLI_NAMES[operation]} --region {shlex.quote(region)} --cli-input-json {body}")
        if operation == "CreateTable":
            name = shlex.quote(str(request["TableName"]))
            lines.append(f"aws dynamodb wait table-exists --region {shlex.quote(region)} --table-name {name}")
    return "\n".join(lines)


def created(table: DeclaredTable, region: str, cli: str) -> Equivalents:
    """A table that is not there yet."""
    by_terraform = [WrittenText("", lambda: terraform_table(table, region, exists=False))]
    return _equivalents(cli, by_terraform, [WrittenText("", lambda: cloudformation_table(table))])


def changed(facts: StoreFacts, cli: str, **settings: Any) -> Equivalents:
    """A table as it is with these settings of `DeclaredTable` in place of its own."""
    return _of_table(facts, cli, lambda table: [("", "", replace(table, **settings))])


def ttl_moved(facts: StoreFacts) -> Equivalents:
    """TTL from one attribute to expireTime: off by the old one, a wait, on by the new one."""
    found = facts.description
    old, is_on = (found.ttl_attribute or "", found.ttl_status in TTL_ON) if found else ("", False)
    if is_on and not old:
        reason = f"DynamoDB does not say by which attribute TTL of {facts.name} is on."
        return Equivalents(not_offered=tuple((tool, reason) for tool in ("aws_cli", TERRAFORM, CLOUDFORMATION)))

    def phases(table: DeclaredTable) -> list[tuple[str, str, DeclaredTable]]:
        moved = replace(table, ttl=(TTL_ATTRIBUTE, True))
        if not is_on:
            return [(_TTL_ON_ALONE, _TTL_ON_ALONE, moved)]
        off = (_TTL_OFF.format("First", _WAIT), _TTL_OFF.format("Then", _WAIT), replace(table, ttl=(old, False)))
        return [off, (_TTL_ON, _TTL_ON, moved)]

    return _of_table(facts, _move_by_cli(facts, old if is_on else ""), phases)


def lifecycle_changed(bucket: str, region: str, before: Lifecycle, after: Lifecycle) -> Equivalents:
    """A bucket's rules, all of them: each tool replaces the whole configuration."""
    imported = declared_table.to_import("AWS::S3::Bucket", declared_rules.LOGICAL_ID, {"BucketName": bucket})
    steps = [
        WrittenText(_IMPORT.format(imported), lambda: cloudformation_lifecycle(bucket, before)),
        WrittenText(_UPDATE, lambda: cloudformation_lifecycle(bucket, after)),
    ]
    exists = bool(before.rules)
    by_terraform = [WrittenText("", lambda: terraform_lifecycle(bucket, region, after, exists=exists))]
    try:
        return _equivalents(cli_lifecycle(bucket, after), by_terraform, steps)
    except NotDeclarable as reason:
        texts = _equivalents("", by_terraform, steps)
        return replace(texts, not_offered=(("aws_cli", str(reason)), *texts.not_offered))


def _of_table(
    facts: StoreFacts, cli: str, phases: Callable[[DeclaredTable], list[tuple[str, str, DeclaredTable]]]
) -> Equivalents:
    """`phases` are what Terraform and CloudFormation are told to do, and the table as it is after that."""
    try:
        table = declared(facts)
    except NotDeclarable as reason:
        return Equivalents(cli, not_offered=tuple((tool, str(reason)) for tool in (TERRAFORM, CLOUDFORMATION)))
    imported = declared_table.to_import("AWS::DynamoDB::Table", declared_table.LOGICAL_ID, {"TableName": table.name})
    made = phases(table)
    by_terraform = [WrittenText(says, _terraform(one, facts.region)) for says, _, one in made]
    by_stack = [WrittenText(says or _UPDATE, _cloudformation(one)) for _, says, one in made]
    return _equivalents(cli, by_terraform, [WrittenText(_IMPORT.format(imported), _cloudformation(table)), *by_stack])


def _terraform(table: DeclaredTable, region: str) -> Callable[[], str]:
    return lambda: terraform_table(table, region, exists=True)


def _cloudformation(table: DeclaredTable) -> Callable[[], str]:
    return lambda: cloudformation_table(table)


def _equivalents(cli: str, by_terraform: Sequence[WrittenText], by_stack: Sequence[WrittenText]) -> Equivalents:
    texts = Equivalents(cli)
    for tool, steps in ((TERRAFORM, by_terraform), (CLOUDFORMATION, by_stack)):
        texts = _with_tool(texts, tool, steps)
    return texts


def _with_tool(texts: Equivalents, tool: str, steps: Sequence[WrittenText]) -> Equivalents:
    """With every text of a tool, or with none and the reason: one of several phases alone would be half a change."""
    try:
        *earlier, last = [EarlierText(tool, step.says, step.write()) for step in steps]
    except NotDeclarable as reason:
        return replace(texts, not_offered=(*texts.not_offered, (tool, str(reason))))
    says = (*texts.says, (tool, last.says)) if last.says else texts.says
    texts = replace(texts, earlier=(*texts.earlier, *earlier), says=says)
    return replace(texts, terraform=last.text) if tool == TERRAFORM else replace(texts, cloudformation=last.text)


def _move_by_cli(facts: StoreFacts, old: str) -> str:
    """Both changes with the wait between them; where TTL is going off already, the second alone."""
    wait = "# Wait until describe-time-to-live says DISABLED, up to an hour."
    off = dynamodb_cli([("UpdateTimeToLive", ttl_request(facts.name, old, on=False))] if old else [], facts.region)
    on = dynamodb_cli([("UpdateTimeToLive", ttl_request(facts.name, TTL_ATTRIBUTE, on=True))], facts.region)
    return "\n".join([*([off] if off else []), wait, on])
