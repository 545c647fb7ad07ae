"""A lifecycle rule written into a bucket on moto: what happens when somebody else writes too, and what is kept."""

import pytest

from coordinator.models import Bucket
from coordinator.settings import lifecycle_calls
from coordinator.settings.lifecycle_plans import temp_rule_id
from coordinator.settings.requests import SetTempRule
from dashboard.jobs.models import JobState

ROOT = "sales/orders"
THEIRS = {
    "ID": "archive",
    "Status": "Enabled",
    "Filter": {"And": {"Prefix": "cold/", "Tags": [{"Key": "k", "Value": "v"}]}},
    "Transitions": [{"Days": 30, "StorageClass": "GLACIER"}],
}
DISABLED = {"ID": "off", "Status": "Disabled", "Filter": {"Prefix": "x/"}, "Expiration": {"Days": 9}}


@pytest.fixture
def lifecycle(console):
    console.lake.table(ROOT, log_store=True)
    console.observe()
    return console


def write(console, *rules):
    client, configuration = console.lake.s3, {"Rules": list(rules)}
    client.put_bucket_lifecycle_configuration(Bucket=console.lake.bucket, LifecycleConfiguration=configuration)


def test_a_rule_changed_just_after_the_write_is_noticed_and_the_old_rules_are_kept(lifecycle, monkeypatch):
    write(lifecycle, DISABLED)
    real = lifecycle_calls.write_lifecycle

    def overwritten(lake, bucket, wanted, *, owner):
        sent = real(lake, bucket, wanted, owner=owner)
        write(lifecycle, THEIRS)
        return sent

    monkeypatch.setattr(lifecycle_calls, "write_lifecycle", overwritten)
    job = lifecycle.applied(SetTempRule(lifecycle.lake.bucket, ROOT))

    assert (job.state, job.error_code) == (JobState.FAILED, "ReadBack")
    assert "they differ: rule archive, rule levee-tmp-" in job.message
    assert "<ID>off</ID>" in job.result["before"]["rules"][0]


def test_the_bucket_is_observed_again_after_the_change(lifecycle):
    lifecycle.applied(SetTempRule(lifecycle.lake.bucket, ROOT))

    facts = Bucket.objects.get(name=lifecycle.lake.bucket).facts
    assert [rule["ID"] for rule in facts["lifecycle_rules"]] == [temp_rule_id(ROOT)]
