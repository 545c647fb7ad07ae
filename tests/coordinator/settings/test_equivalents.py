"""The text for other tools does what the plan's calls do."""

import json
import shlex

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from changes.plan import ChangePlan
from coordinator.settings.creation import plan_creation
from coordinator.settings.equivalents import hcl, lifecycle_equivalents
from coordinator.settings.equivalents import yaml as yaml_text
from coordinator.settings.requests import Capacity, ChangeCapacity, CreateStore, EnableTtl, MigrateTtl
from coordinator.settings.store_facts import StoreFacts
from coordinator.settings.store_plans import plan_store
from lake.aws.dynamodb import StoreDescription
from lake.delta import log_store
from tests.lake.aws.conftest import _own_environment, dynamodb, endpoint  # noqa: F401

FULL = CreateStore(
    "delta_log_ml",
    "log_store",
    Capacity(7, 9),
    encryption="arn:aws:kms:eu-west-1:111122223333:key/0f",
    tags=(("a", "b c"),),
)


def facts(name: str, **changes) -> StoreFacts:
    given = {"status": "ACTIVE", "billing": "on_demand", "ttl_status": "DISABLED", **changes}
    described = StoreDescription(
        name=name, arn="", key_schema=log_store.expected_keys(), read_capacity=0, write_capacity=0, item_count=0,
        size_bytes=0, created_at=None, **given,
    )  # fmt: skip
    return StoreFacts(name, "eu-west-1", described, "log_store")


def planned(change, **state) -> ChangePlan:
    plan = plan_store(change, facts(change.name, **state))
    assert isinstance(plan, ChangePlan), plan
    return plan


def created(change: CreateStore) -> ChangePlan:
    plan = plan_creation(change, StoreFacts(change.name, "eu-west-1", None))
    assert isinstance(plan, ChangePlan)
    return plan


def commands(text: str) -> list[list[str]]:
    return [shlex.split(line) for line in text.splitlines() if not line.startswith("#")]


def test_the_command_lines_do_what_the_calls_do(dynamodb):  # noqa: F811
    plan = created(FULL)
    sent = [command for command in commands(plan.equivalents.aws_cli) if "wait" not in command]

    for command in sent:
        operation = command[2].replace("-", "_")
        getattr(dynamodb, operation)(**json.loads(command[command.index("--cli-input-json") + 1]))

    table = dynamodb.describe_table(TableName="delta_log_ml")["Table"]
    assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 9
    assert (
        dynamodb.describe_time_to_live(TableName="delta_log_ml")["TimeToLiveDescription"]["AttributeName"]
        == "expireTime"
    )
    assert [command[2] for command in commands(plan.equivalents.aws_cli)][:2] == ["create-table", "wait"]


def test_cloudformation_makes_the_same_table():
    from moto.dynamodb.models.table import Table

    resource = yaml.safe_load(created(FULL).equivalents.cloudformation)["Resources"]["CommitStore"]

    assert resource["Type"] == "AWS::DynamoDB::Table"
    made = Table.create_from_cloudformation_json("delta_log_ml", resource, "123456789012", "eu-west-1")

    assert [(one["AttributeName"], one["KeyType"]) for one in made.schema] == [
        ("tablePath", "HASH"),
        ("fileName", "RANGE"),
    ]
    properties = resource["Properties"]
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "expireTime", "Enabled": True}
    assert properties["SSESpecification"]["KMSMasterKeyId"] == FULL.encryption
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert properties["DeletionProtectionEnabled"] is True


def test_terraform_names_every_setting():
    text = created(FULL).equivalents.terraform

    wanted = ['hash_key = "tablePath"', 'range_key = "fileName"', "read_capacity = 7", 'billing_mode = "PROVISIONED"']
    wanted += ['attribute_name = "expireTime"', "deletion_protection_enabled = true", '"a" = "b c"']
    assert [line for line in wanted if line not in text] == []
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize(
    ("change", "state", "holds"),
    [
        (ChangeCapacity("t-1", Capacity(3, 4)), {}, "read_capacity = 3"),
        (EnableTtl("t-1"), {}, 'attribute_name = "expireTime"'),
        (MigrateTtl("t-1"), {"ttl_status": "ENABLED", "ttl_attribute": "commitTime"}, "an hour later"),
    ],
)
def test_each_change_has_all_three(change, state, holds):
    texts = planned(change, **state).equivalents

    assert holds in texts.terraform
    assert commands(texts.aws_cli)
    assert yaml.safe_load(texts.cloudformation)["Resources"]["CommitStore"]["Properties"]["TableName"] == "t-1"


def test_a_move_of_ttl_switches_off_before_it_switches_on():
    plan = planned(MigrateTtl("t-1"), ttl_status="ENABLED", ttl_attribute="commitTime")
    bodies = [json.loads(one[one.index("--cli-input-json") + 1]) for one in commands(plan.equivalents.aws_cli)]
    changes = [body["TimeToLiveSpecification"] for body in bodies]

    assert changes == [
        {"AttributeName": "commitTime", "Enabled": False},
        {"AttributeName": "expireTime", "Enabled": True},
    ]


TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("{}\"\\'"), max_size=30)


@given(TEXT)
def test_no_text_leaves_its_quotes_in_terraform(text):
    quoted = hcl(text)

    assert quoted[0] == quoted[-1] == '"'
    assert json.loads(quoted).replace("$${", "${").replace("%%{", "%{") == text
    assert "\n" not in quoted
    assert quoted.count("${") == quoted.count("$${")


@given(TEXT, TEXT, st.integers(1, 99))
def test_any_rule_goes_through_the_command_line_and_yaml_unharmed(name, prefix, days):
    rule = {"ID": name, "Status": "Enabled", "Filter": {"Prefix": prefix}, "Expiration": {"Days": days}}
    texts = lifecycle_equivalents("b", [rule], rule)

    words = shlex.split(texts.aws_cli)
    assert json.loads(words[words.index("--lifecycle-configuration") + 1]) == {"Rules": [rule]}


@given(TEXT)
def test_yaml_reads_back_as_written(text):
    value = {"Tags": [{"Key": text, "Value": text}], "Name": text}

    if all(letter.isprintable() for letter in text):
        assert yaml.safe_load(yaml_text(value)) == value
