"""A change made without Levee: commands of the AWS CLI, and what Terraform needs to take the resource over. Pure.

Terraform 1.5 writes a resource that exists from an import block by itself; only what has to change in it is said here.
A resource written out by Levee would take back every setting that it forgets.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator

from changes.plan import Equivalents
from coordinator.protocols.stores import TTL_ATTRIBUTE
from coordinator.settings.store_calls import TTL_ON, StoreCall, ttl_call
from coordinator.settings.store_facts import StoreFacts
from lake.aws.lifecycle import Lifecycle, LifecycleUnreadable, sdk_rules

_TABLE, _RULES = "aws_dynamodb_table", "aws_s3_bucket_lifecycle_configuration"
_WAIT = "wait until describe-time-to-live says DISABLED, up to an hour"


def _commands(calls: Iterable[StoreCall], region: str) -> Iterator[str]:
    """The calls as AWS CLI commands, with a wait after a table is created."""
    where = f"--region {shlex.quote(region)}"
    for call in calls:
        verb = re.sub(r"\B(?=[A-Z])", "-", call.verb).lower()
        yield f"aws dynamodb {verb} {where} --cli-input-json {shlex.quote(call.body)}"
        if call.verb == "CreateTable":
            yield f"aws dynamodb wait table-exists {where} --table-name {shlex.quote(call.table)}"


def created(facts: StoreFacts, calls: Iterable[StoreCall]) -> Equivalents:
    """A table that is not there yet: Terraform can take it over once it is."""
    return _of_table(facts, _commands(calls, facts.region), "Once the AWS CLI has made the table:")


def changed(facts: StoreFacts, calls: Iterable[StoreCall], declares: str) -> Equivalents:
    """A table with what its Terraform resource declares afterwards."""
    return _of_table(facts, _commands(calls, facts.region), f"Then set {declares} in it.")


def _of_table(facts: StoreFacts, commands: Iterable[str], says: str) -> Equivalents:
    return Equivalents("\n".join(commands), imported(_TABLE, facts.name, facts.region, says))


def ttl_moved(facts: StoreFacts) -> Equivalents:
    """TTL from one attribute to expireTime: off by the old one, a wait, on by the new one."""
    found = facts.description
    old, is_on = (found.ttl_attribute or "", found.ttl_status in TTL_ON) if found else ("", False)
    if is_on and not old:
        return Equivalents(not_offered=f"DynamoDB does not say by which attribute TTL of {facts.name} is on.")
    off = [ttl_call(facts.name, old, facts.arn, on=False)] if is_on else []
    on = [ttl_call(facts.name, TTL_ATTRIBUTE, facts.arn, on=True)]
    first = f"set enabled = false in its block ttl and apply it, {_WAIT}, then " if is_on else f"{_WAIT}, then "
    says = f"Then {first}set {ttl_block(TTL_ATTRIBUTE, on=True)} in it."
    commands = (*_commands(off, facts.region), f"# W{_WAIT[1:]}.", *_commands(on, facts.region))
    return _of_table(facts, commands, says)


def ttl_block(attribute: str, *, on: bool) -> str:
    """TTL as a Terraform resource declares it."""
    return f"ttl {{ attribute_name = {hcl(attribute)}, enabled = {str(on).lower()} }}"


def lifecycle_changed(bucket: str, region: str, before: Lifecycle, after: Lifecycle) -> Equivalents:
    """A bucket's rules, all of them: each tool replaces the whole configuration."""
    name = shlex.quote(bucket)
    if not after.rules:
        return Equivalents(f"aws s3api delete-bucket-lifecycle --bucket {name}")
    try:
        body = shlex.quote(json.dumps({"Rules": sdk_rules(after)}, ensure_ascii=False))
    except LifecycleUnreadable as reason:
        return Equivalents(not_offered=f"{reason}.")
    least = after.minimum_size
    size = f" --transition-default-minimum-object-size {shlex.quote(least)}" if least else ""
    cli = f"aws s3api put-bucket-lifecycle-configuration --bucket {name}{size} --lifecycle-configuration {body}"
    says = "Then give it the rules of the AWS CLI command." if before.rules else "Once the AWS CLI has put the rules:"
    return Equivalents(cli, imported(_RULES, bucket, region, says))


def imported(resource: str, identifier: str, region: str, says: str) -> str:
    """An import block below the command that has Terraform write what it names, and what to do besides."""
    label = re.sub(r"[^A-Za-z0-9_]|^(?=\d)", "_", identifier)
    return "\n".join(
        [
            f"# With Terraform 1.5 or newer and an AWS provider in {region}. Where the resource is declared already,",
            "# change it there; else Terraform writes it:",
            f"#   terraform plan -generate-config-out={label}.tf",
            f"# {says}",
            "import {",
            f"  to = {resource}.{label}",
            f"  id = {hcl(identifier)}",
            "}",
        ]
    )


def hcl(text: str) -> str:
    """A string of Terraform's language with no template in it."""
    return json.dumps(text, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")
