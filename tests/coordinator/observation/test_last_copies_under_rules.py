"""A rule that takes the last copy of a commit leaves no bucket healthy, whatever has become of the items."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from coordinator.models import Bucket, DeltaTable
from coordinator.observation.settings_of_aws import judge_bucket_again
from tests.builders.delta import add, commit_bytes, commit_info, first_commit_bytes
from tests.coordinator.observation.accepted_and_lost import ORDERS, file, in_a_day, log, temp

TMP = {"ID": "tmp", "Status": "Enabled", "Filter": {"Prefix": log(".tmp")}, "Expiration": {"Days": 3}}
OLD = {
    "ID": "old",
    "Status": "Enabled",
    "Filter": {"Prefix": ""},
    "NoncurrentVersionExpiration": {"NoncurrentDays": 3},
}


def replace(written, version: int) -> None:
    info = commit_info(timestamp=int(time.time() * 1_000))
    written.commit(ORDERS, version, commit_bytes(info, add("foreign.parquet")))


@pytest.fixture
def orders(written, observe):
    """Versions 0 to 3 as they were committed through the log store and seen; their entries have expired since."""

    def with_rule(rule: dict[str, Any]):
        written.s3.put_bucket_lifecycle_configuration(Bucket=written.bucket, LifecycleConfiguration={"Rules": [rule]})
        for version in range(4):
            info = commit_info(timestamp=int(time.time() * 1_000))
            body = commit_bytes(info, add(f"{version}.parquet")) if version else first_commit_bytes()
            written.commit(ORDERS, version, body)
            written.put(temp(version), body)
            written.entry(ORDERS, version, expireTime=in_a_day())
        observe()
        written.drop_entries(ORDERS, *range(4))
        observe()
        return written

    return with_rule


def in_three_days() -> tuple[str, str]:
    """The states of the table, and of its bucket on the last day before the rules take what they take."""
    bucket = Bucket.objects.get()
    judge_bucket_again(bucket, timezone.now() + timedelta(days=3))
    bucket.refresh_from_db()
    return DeltaTable.objects.get().state, bucket.state


LOSSES = {
    "vanished": (lambda written: written.delete(file(3)), "unsafe"),
    "overwritten": (lambda written: replace(written, 3), "unsafe"),
    "a gap": (lambda written: written.delete(file(2)), "blocked"),
}


@pytest.mark.parametrize("loss", ["vanished", "overwritten"])
def test_the_accepted_copy_of_a_lost_file_has_a_deadline_after_its_entry_has_expired(orders, observe, loss):
    lose, state = LOSSES[loss]
    lose(orders(TMP))
    observe()

    assert in_three_days() == (state, "unsafe")


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_old_version_that_is_left_of_a_lost_file_has_a_deadline(orders, observe, loss):
    lose, state = LOSSES[loss]
    written = orders(OLD)
    written.s3.put_bucket_versioning(Bucket=written.bucket, VersioningConfiguration={"Status": "Enabled"})
    for version in (2, 3):
        written.delete(temp(version))
    lose(written)
    observe()

    assert in_three_days() == (state, "unsafe")
