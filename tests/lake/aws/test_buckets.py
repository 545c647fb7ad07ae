"""Settings of buckets."""

import pytest

from lake.aws.buckets import describe_bucket
from lake.aws.errors import AwsError
from tests.lake.aws.stub import Reply

TMP_RULE = {
    "ID": "tmp",
    "Status": "Enabled",
    "Filter": {"Prefix": "orders/_delta_log/.tmp/"},
    "Expiration": {"Days": 3},
}
VERSIONED = Reply(body=b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
NO_LIFECYCLE = b"<LifecycleConfiguration></LifecycleConfiguration>"
NO_RULES = Reply(404, b"<Error><Code>NoSuchLifecycleConfiguration</Code></Error>")
NO_REPLICATION = Reply(404, b"<Error><Code>ReplicationConfigurationNotFoundError</Code></Error>")
NO_TIERING = Reply(
    body=b"<ListBucketIntelligentTieringConfigurationsOutput><IsTruncated>false</IsTruncated>"
    b"</ListBucketIntelligentTieringConfigurationsOutput>"
)


TIERING = Reply(
    body=b"""<?xml version="1.0" encoding="UTF-8"?>
<ListBucketIntelligentTieringConfigurationsOutput xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<IsTruncated>false</IsTruncated><IntelligentTieringConfiguration><Id>old</Id>
<Filter><And><Prefix>sales/</Prefix><Tag><Key>k</Key><Value>v</Value></Tag></And></Filter><Status>Enabled</Status>
<Tiering><AccessTier>ARCHIVE_ACCESS</AccessTier><Days>90</Days></Tiering></IntelligentTieringConfiguration>
</ListBucketIntelligentTieringConfigurationsOutput>"""
)


def test_a_plain_bucket_has_nothing_set(lake, bucket):
    found = describe_bucket(lake, bucket)
    assert (found.name, found.region, found.versioning, found.mfa_delete) == (bucket, "us-east-1", "Off", False)
    assert (found.lifecycle_rules, found.tiering, found.replication, found.unknown) == ((), (), False, ())


@pytest.mark.parametrize(
    ("algorithm", "named", "key"),
    [("aws:kms:dsse", "k-1", "k-1"), ("aws:kms", "", ""), ("AES256", "", "")],
)
def test_the_key_of_the_default_encryption_is_named(lake, s3, bucket, algorithm, named, key):
    default = {"SSEAlgorithm": algorithm} | ({"KMSMasterKeyID": named} if named else {})
    rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": default}]}
    s3.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration=rules)

    assert describe_bucket(lake, bucket).encryption_key == key


def test_a_refused_question_for_the_key_leaves_it_unknown_and_nothing_else(stub, stub_lake):
    denied = Reply(403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
    stub.play(VERSIONED, NO_RULES, NO_TIERING, NO_REPLICATION, denied)

    found = describe_bucket(stub_lake, "lake")

    assert (found.encryption_key, found.unknown) == (None, ())


def test_versioning_and_lifecycle_rules_are_as_s3_has_them(lake, s3, bucket):
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Suspended"})
    s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [TMP_RULE]})
    found = describe_bucket(lake, bucket)
    [rule] = found.lifecycle_rules
    assert {name: rule[name] for name in TMP_RULE} == TMP_RULE
    assert found.versioning == "Suspended"


def test_a_date_in_a_rule_is_text(stub, stub_lake):
    rules = b"<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter><Prefix/></Filter><Expiration>" + (
        b"<Date>2026-12-01T00:00:00.000Z</Date></Expiration></Rule></LifecycleConfiguration>"
    )
    stub.play(VERSIONED, Reply(body=rules), NO_TIERING, NO_REPLICATION)
    [rule] = describe_bucket(stub_lake, "lake").lifecycle_rules
    assert rule["Expiration"]["Date"] == "2026-12-01T00:00:00+00:00"


def test_an_absent_bucket_is_missing(lake):
    with pytest.raises(AwsError) as raised:
        describe_bucket(lake, "no-such-bucket-here")
    assert raised.value.is_missing


def test_denied_settings_are_unknown_with_the_permission(stub, stub_lake):
    stub.play(Reply(403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"))
    found = describe_bucket(stub_lake, "lake")
    assert (found.versioning, found.lifecycle_rules, found.tiering, found.replication) == (None, None, None, None)
    reasons = dict(found.unknown)
    assert "s3:GetLifecycleConfiguration" in reasons["lifecycle"]
    assert "s3:GetReplicationConfiguration" in reasons["replication"]
    assert "s3:GetIntelligentTieringConfiguration" in reasons["archive tiers"]


def test_archive_tiers_are_read(stub, stub_lake):
    stub.play(VERSIONED, NO_RULES, TIERING, NO_REPLICATION)

    found = describe_bucket(stub_lake, "lake")

    assert [one["Id"] for one in found.tiering] == ["old"]
    assert found.tiering[0]["Filter"] == {"And": {"Prefix": "sales/", "Tags": [{"Key": "k", "Value": "v"}]}}
    assert found.tiering[0]["Tierings"] == [{"AccessTier": "ARCHIVE_ACCESS", "Days": 90}]
    assert (found.replication, found.unknown) == (False, ())


@pytest.mark.parametrize(
    "reply",
    [
        Reply(501, b"<Error><Code>NotImplemented</Code><Message>not here</Message></Error>"),
        Reply(body=b'<?xml version="1.0"?><ListBucketResult xmlns="x"><Name>lake</Name></ListBucketResult>'),
    ],
)
def test_an_s3_without_intelligent_tiering_has_no_archive_tiers(stub, stub_lake, reply):
    stub.play(VERSIONED, NO_RULES, reply, NO_REPLICATION)

    found = describe_bucket(stub_lake, "lake")

    assert (found.tiering, found.unknown) == ((), ())


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b"<Something>else</Something>"),
        Reply(body=b"<ListBucketIntelligentTieringConfigurationsOutput>"),
        Reply(
            body=b"<ListBucketIntelligentTieringConfigurationsOutput><IsTruncated>true</IsTruncated>"
            b"</ListBucketIntelligentTieringConfigurationsOutput>"
        ),
    ],
)
def test_an_answer_that_lists_no_configurations_does_not_say_that_there_are_none(stub, stub_lake, reply):
    stub.play(VERSIONED, NO_RULES, reply, NO_REPLICATION)

    found = describe_bucket(stub_lake, "lake")

    assert found.tiering is None
    assert [fact for fact, _ in found.unknown] == ["archive tiers"]


def test_an_empty_answer_does_not_say_that_nothing_is_set(stub, stub_lake):
    stub.play(Reply(body=b""))

    found = describe_bucket(stub_lake, "lake")

    assert (found.versioning, found.lifecycle_rules, found.tiering, found.replication) == (None, None, None, None)


def test_the_least_size_of_a_transition_is_read(stub, stub_lake):
    header = {"x-amz-transition-default-minimum-object-size": "all_storage_classes_128K"}
    rules = Reply(body=NO_LIFECYCLE, headers=header)
    stub.play(VERSIONED, rules, NO_TIERING, NO_REPLICATION)

    assert describe_bucket(stub_lake, "lake").least_size_moved == "all_storage_classes_128K"
