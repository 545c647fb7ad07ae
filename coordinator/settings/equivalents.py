"""A change made without Levee: commands of the AWS CLI, and what Terraform needs to take the resource over. Pure.

Terraform 1.5 writes a resource that exists from an import block by itself; only what has to change in it is said here.
A resource written out by Levee would take back every setting that it forgets.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator

from changes.plan import Equivalents
from coordinator.settings.store_calls import StoreCall
from coordinator.settings.store_facts import StoreFacts
from lake.aws.lifecycle import Lifecycle, LifecycleUnreadable, sdk_rules

_TABLE, _RULES = "aws_dynamodb_table", "aws_s3_bucket_lifecycle_configuration"


def _commands(calls: Iterable[StoreCall], region: str) -> Iterator[str]:
    """The calls as AWS CLI commands, with a wait after a table is created."""
    where = f"--region {shlex.quote(region)}"
    for call in calls:
        verb = re.sub(r"\B(?=[A-Z])", "-", call.verb).lower()
        yield f"aws dynamodb {verb} {where} --cli-input-json {shlex.quote(call.body)}"
        if call.verb == "CreateTable":
            yield f"aws dynamodb wait table-exists {where} --table-name {shlex.quote(call.table)}"


def of_table(facts: StoreFacts, calls: Iterable[StoreCall], says: str) -> Equivalents:
    """Calls for one table; `says` is what to do in Terraform besides taking the table over."""
    return Equivalents("\n".join(_commands(calls, facts.region)), imported(_TABLE, facts.name, facts.region, says))


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


def rule_switched_off(bucket: str, rule: str, least_size: str = "") -> str:
    """Commands that read a bucket's rules and write them back with one switched off; `least_size` as S3 has it."""
    name, size = shlex.quote(bucket), f" --transition-default-minimum-object-size {least_size}" if least_size else ""
    return f"""aws s3api get-bucket-lifecycle-configuration --bucket {name} > rules.json
jq --arg id {shlex.quote(rule)} '(.Rules[] | select(.ID == $id)).Status = "Disabled" | {{Rules}}' rules.json > off.json
aws s3api put-bucket-lifecycle-configuration --bucket {name}{size} --lifecycle-configuration file://off.json"""


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
