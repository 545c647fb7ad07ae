"""A store's text says the whole table as it will be, or there is none."""

from dataclasses import fields, replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from coordinator.settings.declared_table import DeclaredTable, cloudformation_table, declared, terraform_table
from coordinator.settings.declared_text import NotDeclarable, hcl, yaml
from coordinator.settings.store_facts import StoreFacts
from lake.aws.store_description import describe_store, read_tags
from tests.coordinator.settings.declared import (
    cloudformation_errors,
    hcl_string,
    hcl_values,
    is_imported,
    table_of_cloudformation,
    table_of_terraform,
)

REGION = "eu-west-1"
HOSTILE = [
    '"',
    "${",
    "%{",
    "$${x}",
    "{{",
    "\n",
    "\r\n",
    "\\",
    "é",
    "\U0001f600",
    "\u2028",
    "\x85",
    "\x7f",
    " ",
    "#",
    ": ",
    "'",
]
TEXT = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=4), max_size=6).map("".join)
NAMES = st.from_regex(r"[a-zA-Z0-9_.-]{3,40}", fullmatch=True)
ATTRIBUTES = st.sampled_from(["tablePath", "fileName", "expireTime", "a.b ${c}", 'q"uote', "ü"])


def is_composed(text: str) -> bool:
    import unicodedata

    return unicodedata.normalize("NFC", text) == text


@st.composite
def answers(draw) -> dict:
    """What AWS answers to DescribeTable, DescribeTimeToLive, DescribeContinuousBackups and ListTagsOfResource."""
    name, on_demand = draw(NAMES), draw(st.booleans())
    keys = draw(st.lists(ATTRIBUTES, min_size=1, max_size=2, unique=True))
    table = {
        "TableName": name,
        "TableArn": f"arn:aws:dynamodb:{REGION}:111122223333:table/{name}",
        "TableStatus": "ACTIVE",
        "KeySchema": [
            {"AttributeName": key, "KeyType": role} for key, role in zip(keys, ("HASH", "RANGE"), strict=False)
        ],
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": draw(st.sampled_from("SNB"))} for key in keys],
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST" if on_demand else "PROVISIONED"},
        "ProvisionedThroughput": {
            "ReadCapacityUnits": 0 if on_demand else draw(st.integers(1, 40_000)),
            "WriteCapacityUnits": 0 if on_demand else draw(st.integers(1, 40_000)),
        },
        "DeletionProtectionEnabled": draw(st.booleans()),
        "WarmThroughput": {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000, "Status": "ACTIVE"},
    }
    if draw(st.booleans()):
        table["OnDemandThroughput"] = {
            "MaxReadRequestUnits": draw(st.integers(1, 999) | st.just(-1)),
            "MaxWriteRequestUnits": draw(st.integers(1, 999) | st.just(-1)),
        }
    if draw(st.booleans()):
        view = draw(st.sampled_from(["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]))
        table["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": view}
    if draw(st.booleans()):
        table["TableClassSummary"] = {"TableClass": draw(st.sampled_from(["STANDARD", "STANDARD_INFREQUENT_ACCESS"]))}
    if draw(st.booleans()):
        table["SSEDescription"] = {
            "Status": "ENABLED",
            "SSEType": "KMS",
            "KMSMasterKeyArn": f"arn:aws:kms:{REGION}:111122223333:key/0f0f0f0f-0f0f-0f0f-0f0f-0f0f0f0f0f0f",
        }
    recovery = draw(st.booleans())
    point_in_time = {"PointInTimeRecoveryStatus": "ENABLED" if recovery else "DISABLED"}
    if recovery:
        point_in_time["RecoveryPeriodInDays"] = draw(st.integers(1, 35))
    ttl = draw(st.sampled_from(["ENABLED", "DISABLED"]))
    return {
        "DescribeTable": {"Table": table},
        "DescribeTimeToLive": {
            "TimeToLiveDescription": {
                "TimeToLiveStatus": ttl,
                **({"AttributeName": draw(ATTRIBUTES)} if ttl == "ENABLED" else {}),
            }
        },
        "DescribeContinuousBackups": {
            "ContinuousBackupsDescription": {
                "ContinuousBackupsStatus": "ENABLED",
                "PointInTimeRecoveryDescription": point_in_time,
            }
        },
        "ListTagsOfResource": {
            "Tags": [
                {"Key": key, "Value": value}
                for key, value in draw(
                    st.dictionaries(TEXT.filter(is_tag_key), TEXT.filter(is_composed), max_size=3)
                ).items()
            ]
        },
    }


def is_tag_key(text: str) -> bool:
    """DynamoDB takes no key of several lines; a value may have them."""
    return is_composed(text) and not text.lower().startswith("aws:") and text.splitlines() == [text]


def facts_of(said: dict) -> StoreFacts:
    def ask(operation: str, body: dict) -> dict:
        return said[operation]

    found = describe_store(ask, "t")
    return StoreFacts(found.name, REGION, found, "log_store", tags=read_tags(ask, found.arn))


def model_of(said: dict) -> DeclaredTable:
    """The table by AWS's answers alone."""
    table, ttl = said["DescribeTable"]["Table"], said["DescribeTimeToLive"]["TimeToLiveDescription"]
    recovery = said["DescribeContinuousBackups"]["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    on_demand = table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    limits = table.get("OnDemandThroughput", {}) if on_demand else {}
    types = {one["AttributeName"]: one["AttributeType"] for one in table["AttributeDefinitions"]}
    keys = [(one["AttributeName"], one["KeyType"], types[one["AttributeName"]]) for one in table["KeySchema"]]
    most_read, most_write = (limits.get(name, -1) for name in ("MaxReadRequestUnits", "MaxWriteRequestUnits"))
    return DeclaredTable(
        name=table["TableName"],
        keys=tuple(keys),
        on_demand=on_demand,
        deletion_protection=table["DeletionProtectionEnabled"],
        recovery=recovery["PointInTimeRecoveryStatus"] == "ENABLED",
        read=table["ProvisionedThroughput"]["ReadCapacityUnits"],
        write=table["ProvisionedThroughput"]["WriteCapacityUnits"],
        most_read=most_read if most_read != -1 else None,
        most_write=most_write if most_write != -1 else None,
        ttl=(ttl["AttributeName"], True) if ttl["TimeToLiveStatus"] == "ENABLED" else None,
        recovery_days=recovery.get("RecoveryPeriodInDays"),
        encryption=table.get("SSEDescription", {}).get("KMSMasterKeyArn", ""),
        table_class=table.get("TableClassSummary", {}).get("TableClass"),
        stream=table.get("StreamSpecification", {}).get("StreamViewType"),
        tags=tuple((one["Key"], one["Value"]) for one in said["ListTagsOfResource"]["Tags"]),
    )


WHOLE = DeclaredTable(
    name="delta_log",
    keys=(("tablePath", "HASH", "S"), ("fileName", "RANGE", "S")),
    on_demand=True,
    deletion_protection=True,
    recovery=True,
    most_read=5,
    most_write=6,
    ttl=("expireTime", True),
    recovery_days=7,
    encryption="arn:aws:kms:eu-west-1:111122223333:key/0f0f0f0f-0f0f-0f0f-0f0f-0f0f0f0f0f0f",
    table_class="STANDARD_INFREQUENT_ACCESS",
    stream="NEW_IMAGE",
    tags=(("team", "ml"),),
)
PROVISIONED = replace(WHOLE, on_demand=False, read=7, write=9, most_read=None, most_write=None)


def answer(**changes) -> dict:
    """The answers for a plain table of which nothing is missing, with other members of DescribeTable."""
    table = {
        "TableName": "t-1",
        "TableArn": "arn:aws:dynamodb:eu-west-1:111122223333:table/t-1",
        "TableStatus": "ACTIVE",
        "KeySchema": [{"AttributeName": "tablePath", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "tablePath", "AttributeType": "S"}],
        "DeletionProtectionEnabled": False,
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
    }
    return {
        "DescribeTable": {"Table": {**table, **changes}},
        "DescribeTimeToLive": {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}},
        "DescribeContinuousBackups": {
            "ContinuousBackupsDescription": {
                "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"}
            }
        },
        "ListTagsOfResource": {},
    }


@given(answers())
def test_what_aws_says_of_a_table_comes_back_out_of_both_texts(said):
    table = declared(facts_of(said))

    assert table == model_of(said)
    assert table_of_terraform(terraform_table(table, REGION, exists=True)) == model_of(said)
    assert table_of_cloudformation(cloudformation_table(table)) == model_of(said)


@given(answers(), st.booleans())
def test_a_text_read_back_is_written_the_same_again(said, exists):
    by_terraform = terraform_table(model_of(said), REGION, exists=exists)
    by_stack = cloudformation_table(model_of(said))

    assert terraform_table(table_of_terraform(by_terraform), REGION, exists=exists) == by_terraform
    assert cloudformation_table(table_of_cloudformation(by_stack)) == by_stack
    assert is_imported(by_terraform) is exists


# Each run of the linter takes seconds, so a failure is not made smaller.
@pytest.mark.slow
@settings(max_examples=2, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(answers(), min_size=8, max_size=8))
def test_the_linter_of_aws_finds_nothing_wrong_with_any_table(said):
    tables = [*(model_of(one) for one in said), WHOLE, PROVISIONED]

    # The linter takes each name once.
    texts = [cloudformation_table(replace(table, name=f"t-{number}")) for number, table in enumerate(tables)]
    assert cloudformation_errors(*texts) == []


@pytest.mark.slow
def test_the_linter_of_aws_would_find_a_wrong_property():
    text = cloudformation_table(WHOLE)

    assert cloudformation_errors(text.replace("RecoveryPeriodInDays: 7", "RecoveryPeriodInDays: 77"))
    assert cloudformation_errors(text.replace("TimeToLiveSpecification", "TimeToLive"))


@pytest.mark.parametrize("field", [one.name for one in fields(DeclaredTable)])
def test_each_setting_is_in_both_texts(field):
    """Two tables that differ in one setting have different texts."""
    others = {
        "name": "other", "keys": (("tablePath", "HASH", "S"),), "on_demand": True, "ttl": ("commitTime", True),
        "deletion_protection": False, "recovery": False, "recovery_days": 8, "encryption": "aws", "stream": "OLD_IMAGE",
        "read": 70, "write": 90, "most_read": 50, "most_write": 60, "table_class": "STANDARD", "tags": (("a", "b"),),
    }  # fmt: skip
    table = PROVISIONED if field in ("read", "write", "on_demand") else WHOLE
    other = replace(table, **{field: others[field]})

    assert terraform_table(table, REGION, exists=True) != terraform_table(other, REGION, exists=True)
    assert cloudformation_table(table) != cloudformation_table(other)


HARMLESS = {
    "ArchivalSummary": "the table is archived, and its status says so",
    "GlobalTableSettingsReplicationMode": "comes with Replicas",
    "GlobalTableVersion": "comes with Replicas",
    "LatestStreamArn": "a name, not a setting",
    "LatestStreamLabel": "a name, not a setting",
    "RestoreSummary": "the past",
    "TableId": "a name, not a setting",
    "WarmThroughput": "grows by itself, and both tools keep it where it is not declared",
}


def test_no_member_of_a_table_s_description_is_passed_over():
    """botocore knows which members there are: each is in the text, known to say nothing of settings, or refused."""
    import botocore.session

    shape = botocore.session.get_session().get_service_model("dynamodb").shape_for("TableDescription")
    read = {
        *answer()["DescribeTable"]["Table"], "BillingModeSummary", "CreationDateTime", "GlobalSecondaryIndexes",
        "ItemCount", "LocalSecondaryIndexes", "OnDemandThroughput", "SSEDescription", "StreamSpecification",
        "TableClassSummary", "TableSizeBytes",
    }  # fmt: skip
    for member in set(shape.members) - read - set(HARMLESS):
        with pytest.raises(NotDeclarable, match=member):
            declared(facts_of(answer(**{member: [{"RegionName": "eu-west-2"}]})))
    for member in HARMLESS:
        declared(facts_of(answer(**{member: {"Something": 1}})))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (answer(DeletionProtectionEnabled=None), "deletion protection of t-1 is not known: DynamoDB does not say it."),
        (answer(Replicas=[{"RegionName": "eu-west-2"}]), "DynamoDB says Replicas of t-1, which Levee does not read."),
        (answer(GlobalSecondaryIndexes=[{"IndexName": "by-time"}]), "t-1 has the index by-time"),
        (answer(LocalSecondaryIndexes=[{"IndexName": "a"}, {"IndexName": "b"}]), "t-1 has the indexes a and b"),
        (answer() | {"DescribeTimeToLive": {}}, "TTL of t-1 is not known"),
        (
            answer() | {"DescribeTimeToLive": {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED"}}},
            "TTL of t-1 is not known",
        ),
        (answer() | {"DescribeContinuousBackups": {}}, "point-in-time recovery of t-1 is not known"),
        (
            answer() | {"ListTagsOfResource": {"Tags": [{"Key": "aws:cloudformation:stack-name", "Value": "lake"}]}},
            "t-1 belongs to the CloudFormation stack lake: change it in its template.",
        ),
    ],
)
def test_what_is_not_known_is_not_written_and_the_reason_is_one_sentence(said, reason):
    with pytest.raises(NotDeclarable) as told:
        declared(facts_of(said))

    assert reason in str(told.value)
    assert str(told.value).endswith(".")


def test_tags_that_were_not_read_leave_no_text():
    with pytest.raises(NotDeclarable, match=r"The tags of t-1 are not known: they were not read\."):
        declared(replace(facts_of(answer()), tags=None))


def test_tags_of_aws_s_own_are_not_declared():
    said = answer() | {
        "ListTagsOfResource": {"Tags": [{"Key": "aws:backup:x", "Value": "1"}, {"Key": "a", "Value": ""}]}
    }

    assert declared(facts_of(said)).tags == (("a", ""),)


def test_every_page_of_tags_is_read():
    pages = {
        "": {"Tags": [{"Key": "a", "Value": "1"}], "NextToken": "more"},
        "more": {"Tags": [{"Key": "b", "Value": "2"}]},
    }

    assert read_tags(lambda _, body: pages[body.get("NextToken", "")], "arn") == (("a", "1"), ("b", "2"))


def test_a_dynamic_reference_is_not_handed_to_cloudformation():
    table = replace(WHOLE, tags=(("a", "{{resolve:ssm:/password}}"),))

    with pytest.raises(NotDeclarable, match="CloudFormation would put something else"):
        cloudformation_table(table)
    assert table_of_terraform(terraform_table(table, REGION, exists=True)) == table


def test_a_text_that_terraform_would_compose_is_not_handed_to_it():
    table = replace(WHOLE, tags=(("a", "u\u0308"),))

    with pytest.raises(NotDeclarable, match="composed form"):
        terraform_table(table, REGION, exists=True)
    assert table_of_cloudformation(cloudformation_table(table)) == table


@given(TEXT | st.text())
def test_any_text_comes_back_out_of_both_languages(text):
    import yaml as reader

    assert reader.safe_load(yaml({"a": text, "b": [{"c": text}]})) == {"a": text, "b": [{"c": text}]}
    if is_composed(text):
        assert hcl_string(hcl(text)) == text
        assert hcl_values(f"a = {hcl(text)}\n") == {"a": text}
