"""A rule that takes the last copy of a commit leaves no bucket healthy, whatever has become of the items."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from coordinator.models import Bucket, CommitStore, DeltaTable
from coordinator.observation.settings_of_aws import judge_bucket_again
from tests.builders.delta import UUID, add, commit_bytes, commit_info

ORDERS = "sales/orders"
LOG = f"{ORDERS}/_delta_log/"
TMP = {"ID": "tmp", "Status": "Enabled", "Filter": {"Prefix": f"{LOG}.tmp"}, "Expiration": {"Days": 3}}
OLD = {
    "ID": "old",
    "Status": "Enabled",
    "Filter": {"Prefix": ""},
    "NoncurrentVersionExpiration": {"NoncurrentDays": 3},
}


def body(version: int, more: str = "") -> bytes:
    stamp = {"commitInfo": {**commit_info()["commitInfo"], "timestamp": int(time.time() * 1_000)}}
    return commit_bytes(stamp, add(f"part-{version}{more}.parquet"))


def temp(version: int) -> str:
    return f"{LOG}.tmp/{version:020d}.json.{UUID}"


def published(version: int) -> str:
    return f"{LOG}{version:020d}.json"


def commit_with_its_temp_file(written, version: int) -> None:
    made = body(version)
    written.commit(ORDERS, version, made)
    written.put(temp(version), made)


@pytest.fixture
def orders(written, observe):
    """Versions 0 to 3 as they were committed through the log store and seen; their entries have expired since."""

    def with_rule(rule: dict[str, Any]):
        written.s3.put_bucket_lifecycle_configuration(Bucket=written.bucket, LifecycleConfiguration={"Rules": [rule]})
        written.table(ORDERS, 2)
        for version in (2, 3):
            commit_with_its_temp_file(written, version)
        for version in range(4):
            written.entry(ORDERS, version, expireTime={"N": str(int(time.time()) + 86_400)})
        observe()
        expire(written)
        observe()
        return written

    return with_rule


def expire(written) -> None:
    for version in range(4):
        key = {"tablePath": {"S": written.uri(ORDERS)}, "fileName": {"S": f"{version:020d}.json"}}
        written.dynamodb.delete_item(TableName=written.log_store, Key=key)


def in_three_days() -> tuple[str, str]:
    """The states of the table, and of its bucket on the last day before the rules take what they take."""
    bucket = Bucket.objects.get()
    judge_bucket_again(bucket, timezone.now() + timedelta(days=3))
    bucket.refresh_from_db()
    return DeltaTable.objects.get().state, bucket.state


def told_of_the_bucket() -> list[str]:
    return [one["code"] for one in Bucket.objects.get().facts["findings"]]


def test_the_accepted_copy_of_a_replaced_file_has_a_deadline_after_its_entry_has_expired(orders, observe):
    orders(TMP).commit(ORDERS, 3, body(3, "-foreign"))
    observe()

    assert in_three_days() == ("unsafe", "unsafe")


def test_the_survivor_of_a_vanished_version_has_a_deadline(orders, observe):
    orders(TMP).delete(published(3))
    observe()

    assert in_three_days() == ("unsafe", "unsafe")


@pytest.mark.parametrize(
    ("lose", "state"),
    [
        (lambda written: written.delete(published(3)), "unsafe"),
        (lambda written: written.commit(ORDERS, 3, body(3, "-foreign")), "unsafe"),
        (lambda written: written.delete(published(2)), "blocked"),
    ],
    ids=["vanished", "overwritten", "a gap"],
)
def test_the_old_version_that_is_left_of_a_lost_file_has_a_deadline(orders, observe, lose, state):
    written = orders(OLD)
    written.s3.put_bucket_versioning(Bucket=written.bucket, VersioningConfiguration={"Status": "Enabled"})
    for version in (2, 3):
        written.delete(temp(version))
    lose(written)
    observe()

    assert in_three_days() == (state, "unsafe")


def test_worse_trouble_does_not_hide_that_a_commit_may_wait(written, observe):
    CommitStore.objects.all().delete()
    written.s3.put_bucket_lifecycle_configuration(Bucket=written.bucket, LifecycleConfiguration={"Rules": [TMP]})
    for version in range(4):
        commit_with_its_temp_file(written, version)
    written.put(temp(4), body(4))
    observe()
    assert in_three_days() == ("not_checked", "not_checked")
    assert "waiting-not-known" in told_of_the_bucket()

    written.delete(published(1))
    observe()

    assert in_three_days()[0] == "blocked"
    assert "waiting-not-known" in told_of_the_bucket()
