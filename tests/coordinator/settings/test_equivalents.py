"""The text for other tools does what the plan's calls do."""

import json
import shlex

import pytest

from changes.plan import ChangePlan
from coordinator.settings.equivalents import imported, lifecycle_changed
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
        "read_capacity": 0,
        "write_capacity": 0,
        "key_schema": log_store.expected_keys(),
        "item_count": 0,
        **changes,
    }
    described = StoreDescription(name=name, arn="", size_bytes=0, created_at=None, **given)
    return StoreFacts(name, "eu-west-1", described, "log_store")


def planned(change, **state) -> ChangePlan:
    return plan_store(change, facts(change.name, **state))


def created(change: CreateStore) -> ChangePlan:
    return plan_store(change, StoreFacts(change.name, "eu-west-1", None))


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


def import_of(text: str) -> tuple[str, str]:
    """The address and the identifier, as written, that a parser of Terraform's language reads."""
    import hcl2

    [block] = hcl2.loads(text)["import"]
    return block["to"], block["id"]


def test_a_new_table_is_imported_once_it_is_made():
    text = created(FULL).equivalents.terraform

    assert "Once the AWS CLI has made the table" in text
    assert import_of(text) == ("${aws_dynamodb_table.delta_log_ml}", '"delta_log_ml"')


@pytest.mark.parametrize(
    ("change", "state", "declares"),
    [
        (
            ChangeCapacity("t-1", Capacity(3, 4)),
            {},
            'billing_mode = "PROVISIONED", read_capacity = 3 and write_capacity = 4',
        ),
        (
            ChangeCapacity("t-1", Capacity()),
            {"billing": "provisioned", "read_capacity": 3, "write_capacity": 4},
            'billing_mode = "PAY_PER_REQUEST"',
        ),
        (ChangeProtection("t-1", True), {}, "deletion_protection_enabled = true"),
        (ChangeRecovery("t-1", False), {}, "point_in_time_recovery { enabled = false }"),
        (EnableTtl("t-1"), {}, 'ttl { attribute_name = "expireTime", enabled = true }'),
        (
            DisableTtl("t-1"),
            {"ttl_status": "ENABLED", "ttl_attribute": "commitTime"},
            'ttl { attribute_name = "commitTime", enabled = false }',
        ),
    ],
)
def test_each_change_is_a_command_and_what_to_set_in_the_resource_that_terraform_writes(change, state, declares):
    texts = planned(change, **state).equivalents

    assert commands(texts.aws_cli)
    assert f"# Then set {declares} in it." in texts.terraform
    assert "terraform plan -generate-config-out=t_1.tf" in texts.terraform
    assert import_of(texts.terraform) == ("${aws_dynamodb_table.t_1}", '"t-1"')


def test_a_move_of_ttl_is_two_changes_with_commands_of_their_own():
    texts = planned(MigrateTtl("t-1"), ttl_status="ENABLED", ttl_attribute="commitTime").equivalents

    assert (texts.aws_cli, texts.terraform) == ("", "")
    assert "two changes" in texts.not_offered


def test_an_attribute_that_others_chose_stays_one_word_of_the_shell():
    attribute = "it's $(id) `id` \\ \n"

    [words] = commands(planned(DisableTtl("t-1"), ttl_status="ENABLED", ttl_attribute=attribute).equivalents.aws_cli)

    assert words[:-1] == ["aws", "dynamodb", "update-time-to-live", "--region", "eu-west-1", "--cli-input-json"]
    assert json.loads(words[-1])["TimeToLiveSpecification"]["AttributeName"] == attribute


def rules(*xml: str) -> Lifecycle:
    return Lifecycle(split_rules(f"<LifecycleConfiguration>{''.join(xml)}</LifecycleConfiguration>".encode()))


THEIRS = (
    "<Rule><ID>theirs</ID><Filter><Prefix>logs/</Prefix></Filter><Status>Enabled</Status>"
    "<Expiration><Days>30</Days></Expiration></Rule>"
)
OURS = THEIRS.replace("theirs", "ours").replace("logs/", "a/_delta_log/.tmp/")


def test_a_bucket_with_rules_is_imported_and_given_those_of_the_command():
    texts = lifecycle_changed("lake", "eu-west-1", rules(THEIRS), rules(THEIRS, OURS))

    assert '"ID": "theirs"' in texts.aws_cli
    assert '"ID": "ours"' in texts.aws_cli
    assert "Then give it the rules of the AWS CLI command." in texts.terraform
    assert import_of(texts.terraform) == ("${aws_s3_bucket_lifecycle_configuration.lake}", '"lake"')


def test_the_first_rule_of_a_bucket_is_imported_once_it_is_there():
    texts = lifecycle_changed("lake", "eu-west-1", rules(), rules(OURS))

    assert "Once the AWS CLI has put the rules" in texts.terraform


def test_the_last_rule_leaves_by_the_command():
    texts = lifecycle_changed("lake", "eu-west-1", rules(OURS), rules())

    assert texts.aws_cli == "aws s3api delete-bucket-lifecycle --bucket lake"
    assert texts.terraform == ""


@pytest.mark.parametrize(
    ("identifier", "address", "quoted"),
    [
        ("delta_log", "delta_log", '"delta_log"'),
        ("2024.log", "_2024_log", '"2024.log"'),
        ('a"b\\c', "a_b_c", '"a\\"b\\\\c"'),
        ("${x}%{y}\n", "__x___y__", '"$${x}%%{y}\\n"'),
    ],
)
def test_a_name_is_text_in_terraform_whatever_is_in_it(identifier, address, quoted):
    text = imported("aws_dynamodb_table", identifier, "eu-west-1", "Then.")

    assert import_of(text) == (f"${{aws_dynamodb_table.{address}}}", quoted)
