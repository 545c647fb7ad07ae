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


def test_a_plain_bucket_has_nothing_set(lake, bucket):
    found = describe_bucket(lake, bucket)
    assert (found.name, found.region, found.versioning, found.mfa_delete) == (bucket, "us-east-1", "Off", False)
    assert (found.lifecycle_rules, found.replication, found.unknown) == ((), False, ())


@pytest.mark.parametrize("status", ["Enabled", "Suspended"])
def test_versioning_is_stated(lake, s3, bucket, status):
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status})
    assert describe_bucket(lake, bucket).versioning == status


def test_lifecycle_rules_are_as_s3_has_them(lake, s3, bucket):
    s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [TMP_RULE]})
    [rule] = describe_bucket(lake, bucket).lifecycle_rules
    assert {name: rule[name] for name in TMP_RULE} == TMP_RULE


def test_a_date_in_a_rule_is_text(stub, stub_lake):
    rules = b"<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter><Prefix/></Filter><Expiration>" + (
        b"<Date>2026-12-01T00:00:00.000Z</Date></Expiration></Rule></LifecycleConfiguration>"
    )
    versioning = Reply(body=b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
    none = Reply(404, b"<Error><Code>ReplicationConfigurationNotFoundError</Code></Error>")
    stub.play(versioning, Reply(body=rules), none)
    [rule] = describe_bucket(stub_lake, "lake").lifecycle_rules
    assert rule["Expiration"]["Date"] == "2026-12-01T00:00:00+00:00"


def test_an_absent_bucket_is_missing(lake):
    with pytest.raises(AwsError) as raised:
        describe_bucket(lake, "no-such-bucket-here")
    assert raised.value.is_missing


def test_denied_settings_are_unknown_with_the_permission(stub, stub_lake):
    stub.play(Reply(403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"))
    found = describe_bucket(stub_lake, "lake")
    assert (found.versioning, found.lifecycle_rules, found.replication) == (None, None, None)
    reasons = dict(found.unknown)
    assert "s3:GetLifecycleConfiguration" in reasons["lifecycle"]
    assert "s3:GetReplicationConfiguration" in reasons["replication"]
