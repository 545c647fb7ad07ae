"""Buckets are judged by the tables that are in them when a pass ends, not by those of an older reading."""

from datetime import timedelta

import pytest
from django.utils import timezone

from coordinator.models import Bucket, Entry
from coordinator.observation.passes import observe_one_table
from coordinator.observation.settings_of_aws import judge_bucket_again
from lake.delta.uri import TableUri

WIDE = {"ID": "wide", "Status": "Enabled", "Filter": {"Prefix": "sales/"}, "Expiration": {"Days": 30}}


@pytest.fixture(autouse=True)
def _rule_on_logs(written) -> None:
    written.s3.put_bucket_lifecycle_configuration(Bucket=written.bucket, LifecycleConfiguration={"Rules": [WIDE]})


def findings() -> list[str]:
    return [one["code"] for one in Bucket.objects.get().facts["findings"]]


def test_the_first_pass_judges_a_bucket_by_the_tables_found_in_it(written, observe):
    written.table("sales/orders", commits=3)

    observe()

    assert (Bucket.objects.get().state, findings()[0]) == ("unsafe", "lifecycle-reaches-log")


def test_a_table_found_before_settings_are_due_again_is_judged_at_once(written, observe, lake):
    observe()
    assert Bucket.objects.get().state == "healthy"
    written.table("sales/orders", commits=3)
    described = lake.requests.by_operation["s3:GetBucketLifecycleConfiguration"]

    observe()

    assert Bucket.objects.get().state == "unsafe"
    assert lake.requests.by_operation["s3:GetBucketLifecycleConfiguration"] == described


def test_a_commit_that_is_published_frees_its_bucket_at_once(written, observe, connection, lake):
    written.s3.put_bucket_lifecycle_configuration(
        Bucket=written.bucket,
        LifecycleConfiguration={"Rules": [{**WIDE, "Filter": {"Prefix": "sales/orders/_delta_log/.tmp/"}}]},
    )
    uri = written.table("sales/orders", commits=3, log_store=True)
    written.pending("sales/orders", 3)
    observe()
    Entry.objects.filter(version=3).update(written_at=timezone.now() - timedelta(days=30))
    judge_bucket_again(Bucket.objects.get(), timezone.now())
    assert "lifecycle-takes-unpublished" in findings()
    written.commit("sales/orders", 3)
    written.entry("sales/orders", 3)

    observe_one_table(connection, lake, TableUri.parse(uri))

    assert Bucket.objects.get().state == "healthy"
    assert "lifecycle-takes-unpublished" not in findings()


def test_a_reading_of_settings_that_came_meanwhile_stands(written, observe):
    written.table("sales/orders", commits=1)
    observe()
    held = Bucket.objects.get()
    Bucket.objects.update(observed_at=timezone.now(), facts={"lifecycle_rules": []}, state="healthy")

    judge_bucket_again(held, timezone.now())

    assert Bucket.objects.get().state == "healthy"
    assert Bucket.objects.get().facts == {"lifecycle_rules": []}
