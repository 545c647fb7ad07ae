"""The text for other tools does what the plan's calls do."""

import json
import shlex
from dataclasses import replace

import pytest
import yaml

from changes.documents import plan_document
from changes.plan import ChangePlan
from coordinator.queries.settings_plan import equivalents_of, not_offered_of
from coordinator.settings.creation import plan_creation
from coordinator.settings.declared_table import DeclaredTable
from coordinator.settings.equivalents import lifecycle_changed
from coordinator.settings.requests import (
    Capacity,
    ChangeCapacity,
    ChangeProtection,
    ChangeRecovery,
    CreateStore,
    DisableTtl,
    EnableTtl,
    MigrateTtl,
)
from coordinator.settings.store_facts import StoreFacts
from coordinator.settings.store_plans import plan_store
from lake.aws.dynamodb import StoreDescription
from lake.aws.lifecycle import Lifecycle, split_rules
from lake.delta import log_store
from tests.coordinator.settings.declared import (
    is_imported,
    rules_of_cloudformation,
    rules_of_terraform,
    table_of_cloudformation,
    table_of_terraform,
)
from tests.lake.aws.conftest import _own_environment, dynamodb, endpoint  # noqa: F401

FULL = CreateStore(
    "delta_log_ml",
    "log_store",
    Capacity(7, 9),
    encryption="arn:aws:kms:eu-west-1:111122223333:key/0f",
    tags=(("a", "b c"),),
)


def facts(name: str, **changes) -> StoreFacts:
    given = {
        "status": "ACTIVE",
        "billing": "on_demand",
        "ttl_status": "DISABLED",
        "deletion_protection": False,
        "point_in_time_recovery": True,
        "recovery_days": 9,
        "read_capacity": 0,
        "write_capacity": 0,
        **changes,
    }
    described = StoreDescription(
        name=name, arn="", key_schema=log_store.expected_keys(), item_count=0, size_bytes=0, created_at=None, **given
    )
    return StoreFacts(name, "eu-west-1", described, "log_store", tags=(("team", "ml"),))


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


def test_a_new_table_is_declared_as_it_is_created():
    texts = created(FULL).equivalents
    found = table_of_terraform(texts.terraform)

    assert found == table_of_cloudformation(texts.cloudformation)
    assert not is_imported(texts.terraform)
    assert (found.name, found.read, found.write, found.ttl) == ("delta_log_ml", 7, 9, ("expireTime", True))
    assert found.keys == (("tablePath", "HASH", "S"), ("fileName", "RANGE", "S"))
    assert (found.encryption, found.tags) == (FULL.encryption, FULL.tags)
    assert (found.recovery, found.deletion_protection, texts.earlier) == (True, True, ())


def test_the_account_s_own_key_is_meant_by_naming_none():
    texts = created(replace(FULL, encryption="aws")).equivalents

    assert table_of_terraform(texts.terraform).encryption == "aws"
    assert table_of_cloudformation(texts.cloudformation).encryption == "aws"


def test_a_table_that_a_job_left_in_part_has_no_text_of_its_own():
    there = replace(facts("delta_log_ml", read_capacity=7, write_capacity=9, billing="provisioned"), kind="")
    plan = plan_creation(replace(FULL, encryption=""), there)

    assert isinstance(plan, ChangePlan), plan
    assert (plan.equivalents.terraform, plan.equivalents.cloudformation) == ("", "")
    assert {tool for tool, _ in plan.equivalents.not_offered} == {"terraform", "cloudformation"}
    assert plan.equivalents.aws_cli


AS_IT_IS = DeclaredTable(
    name="t-1",
    keys=log_store.expected_keys(),
    on_demand=True,
    deletion_protection=False,
    recovery=True,
    recovery_days=9,
    tags=(("team", "ml"),),
)


@pytest.mark.parametrize(
    ("change", "state", "before", "after"),
    [
        (
            ChangeCapacity("t-1", Capacity(3, 4)),
            {"most_read_units": 8},
            replace(AS_IT_IS, most_read=8),
            replace(AS_IT_IS, on_demand=False, read=3, write=4),
        ),
        (
            ChangeCapacity("t-1", Capacity()),
            {"billing": "provisioned", "read_capacity": 3, "write_capacity": 4},
            replace(AS_IT_IS, on_demand=False, read=3, write=4),
            AS_IT_IS,
        ),
        (ChangeProtection("t-1", True), {}, AS_IT_IS, replace(AS_IT_IS, deletion_protection=True)),
        (ChangeRecovery("t-1", False), {}, AS_IT_IS, replace(AS_IT_IS, recovery=False, recovery_days=None)),
        (
            ChangeRecovery("t-1", True),
            {"point_in_time_recovery": False, "recovery_days": None},
            replace(AS_IT_IS, recovery=False, recovery_days=None),
            replace(AS_IT_IS, recovery_days=None),
        ),
        (EnableTtl("t-1"), {}, AS_IT_IS, replace(AS_IT_IS, ttl=("expireTime", True))),
        (
            DisableTtl("t-1"),
            {"ttl_status": "ENABLED", "ttl_attribute": "commitTime"},
            replace(AS_IT_IS, ttl=("commitTime", True)),
            replace(AS_IT_IS, ttl=("commitTime", False)),
        ),
    ],
)
def test_each_change_is_the_whole_table_as_it_will_be(change, state, before, after):
    texts = planned(change, **state).equivalents

    assert commands(texts.aws_cli)
    assert is_imported(texts.terraform)
    assert table_of_terraform(texts.terraform) == after
    assert table_of_cloudformation(texts.cloudformation) == after
    assert [(one.tool, table_of_cloudformation(one.text)) for one in texts.earlier] == [("cloudformation", before)]
    assert texts.not_offered == ()


def test_a_table_is_imported_into_a_stack_by_its_name():
    (imported,) = planned(EnableTtl("t-1")).equivalents.earlier
    (resource,) = json.loads(imported.says[imported.says.index("[") :])

    assert resource["ResourceIdentifier"] == {"TableName": "t-1"}
    assert resource["ResourceType"] == "AWS::DynamoDB::Table"
    assert resource["LogicalResourceId"] in yaml.safe_load(imported.text)["Resources"]


def test_a_move_of_ttl_switches_off_before_it_switches_on():
    plan = planned(MigrateTtl("t-1"), ttl_status="ENABLED", ttl_attribute="commitTime")
    bodies = [json.loads(one[one.index("--cli-input-json") + 1]) for one in commands(plan.equivalents.aws_cli)]
    changes = [body["TimeToLiveSpecification"] for body in bodies]

    assert changes == [
        {"AttributeName": "commitTime", "Enabled": False},
        {"AttributeName": "expireTime", "Enabled": True},
    ]


def test_a_move_of_ttl_is_two_whole_tables_for_each_tool():
    texts = planned(MigrateTtl("t-1"), ttl_status="ENABLED", ttl_attribute="commitTime").equivalents
    on, off, moved = (
        replace(AS_IT_IS, ttl=ttl) for ttl in (("commitTime", True), ("commitTime", False), ("expireTime", True))
    )
    (first,) = [one for one in texts.earlier if one.tool == "terraform"]
    by_stack = [one for one in texts.earlier if one.tool == "cloudformation"]

    assert (table_of_terraform(first.text), table_of_terraform(texts.terraform)) == (off, moved)
    assert [table_of_cloudformation(one.text) for one in by_stack] == [on, off]
    assert table_of_cloudformation(texts.cloudformation) == moved
    assert "wait until DynamoDB says DISABLED" in first.says
    assert "wait until DynamoDB says DISABLED" in by_stack[1].says


def test_a_move_of_ttl_that_is_going_off_is_the_second_phase_alone():
    texts = planned(MigrateTtl("t-1"), ttl_status="DISABLING", ttl_attribute="commitTime").equivalents

    assert [one.tool for one in texts.earlier] == ["cloudformation"]
    assert dict(texts.says)["terraform"].startswith("Wait until DynamoDB says DISABLED")
    assert table_of_terraform(texts.terraform).ttl == ("expireTime", True)
    assert len(commands(texts.aws_cli)) == 1


def test_a_move_from_an_attribute_that_nobody_names_has_no_text():
    texts = planned(MigrateTtl("t-1"), ttl_status="ENABLED", ttl_attribute=None).equivalents

    assert (texts.aws_cli, texts.terraform, texts.cloudformation, texts.earlier) == ("", "", "", ())
    assert set(dict(texts.not_offered)) == {"aws_cli", "terraform", "cloudformation"}


def test_what_was_not_read_leaves_the_command_and_a_reason():
    plan = plan_store(EnableTtl("t-1"), replace(facts("t-1"), tags=None, tags_unread="AccessDenied: no"))
    assert isinstance(plan, ChangePlan)
    texts = plan.equivalents

    assert commands(texts.aws_cli)
    assert (texts.terraform, texts.cloudformation, texts.earlier) == ("", "", ())
    assert set(dict(texts.not_offered).values()) == {"The tags of t-1 are not known: AccessDenied: no."}


def rules(*xml: str) -> Lifecycle:
    return Lifecycle(split_rules(f"<LifecycleConfiguration>{''.join(xml)}</LifecycleConfiguration>".encode()))


THEIRS = (
    "<Rule><ID>theirs</ID><Filter><Prefix>logs/</Prefix></Filter><Status>Enabled</Status>"
    "<Expiration><Days>30</Days></Expiration></Rule>"
)
OURS = THEIRS.replace("theirs", "ours").replace("logs/", "a/_delta_log/.tmp/")
TOMORROW = "<Rule><ID>new</ID><Filter/><Status>Enabled</Status><Tomorrow>1</Tomorrow></Rule>"


def test_a_change_of_rules_is_every_rule_as_it_will_be():
    texts = lifecycle_changed("lake", "eu-west-1", rules(THEIRS), rules(THEIRS, OURS))
    (imported,) = texts.earlier

    assert is_imported(texts.terraform)
    assert [rule["ID"] for rule in rules_of_terraform(texts.terraform)[1]] == ["theirs", "ours"]
    assert [rule["ID"] for rule in rules_of_cloudformation(texts.cloudformation)[1]] == ["theirs", "ours"]
    assert [rule["ID"] for rule in rules_of_cloudformation(imported.text)[1]] == ["theirs"]
    assert '{"BucketName": "lake"}' in imported.says


def test_the_first_rule_of_a_bucket_is_nothing_to_import_for_terraform():
    texts = lifecycle_changed("lake", "eu-west-1", rules(), rules(OURS))

    assert not is_imported(texts.terraform)
    assert rules_of_cloudformation(texts.earlier[0].text)[1] == []


def test_the_last_rule_leaves_by_cloudformation_and_the_command():
    texts = lifecycle_changed("lake", "eu-west-1", rules(OURS), rules())

    assert rules_of_cloudformation(texts.cloudformation) == ("lake", [], "")
    assert texts.aws_cli == "aws s3api delete-bucket-lifecycle --bucket lake"
    assert (texts.terraform, set(dict(texts.not_offered))) == ("", {"terraform"})


def test_a_rule_of_tomorrow_is_in_no_text():
    texts = lifecycle_changed("lake", "eu-west-1", rules(TOMORROW), rules(TOMORROW, OURS))

    assert (texts.aws_cli, texts.terraform, texts.cloudformation, texts.earlier) == ("", "", "", ())
    assert set(dict(texts.not_offered).values()) == {"Levee does not know Tomorrow, which rule new holds."}


def test_each_text_is_shown_in_its_order_and_each_reason_once():
    moved = planned(MigrateTtl("t-1"), ttl_status="ENABLED", ttl_attribute="commitTime")
    refused = plan_store(EnableTtl("t-1"), replace(facts("t-1"), tags=None))
    assert isinstance(refused, ChangePlan)

    assert [one.title for one in equivalents_of(plan_document(moved))] == [
        "AWS CLI", "Terraform, 1 of 2", "Terraform, 2 of 2", "CloudFormation, 1 of 3", "CloudFormation, 2 of 3",
        "CloudFormation, 3 of 3",
    ]  # fmt: skip
    assert not_offered_of(plan_document(moved)) == []
    assert not_offered_of(plan_document(refused)) == [
        "Not offered for Terraform and CloudFormation: The tags of t-1 are not known: they were not read."
    ]


def test_a_plan_stored_before_there_were_several_texts_is_shown():
    stored = {"equivalents": {"aws_cli": "aws x", "terraform": "", "cloudformation": "a: 1"}}

    assert [(one.title, one.text) for one in equivalents_of(stored)] == [
        ("AWS CLI", "aws x"),
        ("CloudFormation", "a: 1"),
    ]
    assert not_offered_of(stored) == []
