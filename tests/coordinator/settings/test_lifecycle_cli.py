"""The command for a bucket's rules holds every field of every rule, or there is none."""

import json
import shlex
from typing import Any

import pytest
from hypothesis import given

from changes.plan import Equivalents
from coordinator.settings.equivalents import lifecycle_changed
from lake.aws.lifecycle import Lifecycle, split_rules
from tests.coordinator.settings.rules import configurations

PLAIN = "<Filter/><Status>Enabled</Status>"


def equivalents(xml: str, minimum_size: str = "") -> Equivalents:
    rules = split_rules(f"<LifecycleConfiguration>{xml}</LifecycleConfiguration>".encode())
    return lifecycle_changed("lake", "eu-west-1", Lifecycle(), Lifecycle(rules, minimum_size))


def sent_by_cli(command: str) -> list[dict[str, Any]]:
    words = shlex.split(command)
    return list(json.loads(words[words.index("--lifecycle-configuration") + 1])["Rules"])


def test_the_default_least_size_for_transitions_is_in_the_command() -> None:
    command = equivalents(f"<Rule><ID>r</ID>{PLAIN}</Rule>", "some_size").aws_cli

    assert " --transition-default-minimum-object-size some_size " in command


@given(configurations())
def test_what_s3_sends_is_written_whole_by_the_command_or_there_is_none(configuration) -> None:
    """Rules of any make, those of tomorrow among them: the AWS CLI puts all of them, or none is offered."""
    from botocore.serialize import create_serializer

    from lake.aws.buckets import s3_operation

    body, _ = configuration
    sent = Lifecycle(split_rules(body))
    command = lifecycle_changed("lake", "eu-west-1", Lifecycle(), sent).aws_cli
    if not command or not sent.rules:
        return
    given = {"Bucket": "lake", "LifecycleConfiguration": {"Rules": sent_by_cli(command)}}
    operation = s3_operation("PutBucketLifecycleConfiguration")
    again = split_rules(create_serializer("rest-xml").serialize_to_request(given, operation)["body"])

    moments = Lifecycle(split_rules(body.replace(b".000Z", b"Z")))
    assert [rule.tree for rule in again] == [rule.tree for rule in moments.rules]
    assert "SomethingOfTomorrow" not in body.decode()


@pytest.mark.parametrize(
    ("xml", "told"),
    [
        (f"{PLAIN}<Tomorrow>1</Tomorrow>", "Tomorrow, which rule r holds."),
        (f"{PLAIN}<Expiration><Days>soon</Days></Expiration>", "none that AWS SDKs know"),
        (f"{PLAIN}<Expiration><Days>1</Days><Hours>2</Hours></Expiration>", "Expiration, which rule r holds."),
        ("<Filter><Prefix>a</Prefix><Prefix>b</Prefix></Filter><Status>Enabled</Status>", "AWS SDKs"),
        (f"{PLAIN}<Expiration><Days>1</Days></Expiration><Expiration><Days>2</Days></Expiration>", "AWS SDKs"),
    ],
)
def test_what_is_not_understood_is_in_no_command(xml: str, told: str) -> None:
    texts = equivalents(f"<Rule><ID>r</ID>{xml}</Rule>")

    assert (texts.aws_cli, texts.terraform) == ("", "")
    assert told in texts.not_offered
