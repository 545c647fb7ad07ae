"""Copy jobs as boto3 asks for them, against the rules of S3 Batch Operations."""

import hashlib
import json
import time
from datetime import UTC, datetime, timedelta

import boto3
import pytest
import urllib3
from botocore.config import Config
from botocore.exceptions import ClientError

from lake.backup.objects import ManifestObject
from tests.sandbox.control.ground import ACCOUNT, KEYS, ROLE, Ground
from tests.waiting import wait_until

pytestmark = pytest.mark.process

HOSTILE = ["a b", "a+b", "50%", "%2B", 'say "x"', "two\nlines", "dt=1/ä,ö;'", "日本/🜁", "comma,"]


def test_objects_with_hostile_keys_are_copied_with_bytes_metadata_and_tags(ground: Ground) -> None:
    for key in HOSTILE:
        ground.s3.put_object(
            Bucket=ground.source, Key=key, Body=key.encode(), Metadata={"writer": "spark"}, Tagging="team=lake"
        )
    job = ground.wait(ground.create(*HOSTILE))
    assert (job["Status"], job["ProgressSummary"]["NumberOfTasksSucceeded"]) == ("Complete", len(HOSTILE))
    for key in HOSTILE:
        copied = ground.s3.get_object(Bucket=ground.vault, Key=f"run/{key}")
        assert (copied["Body"].read(), copied["Metadata"]) == (key.encode(), {"writer": "spark"})
    tags = ground.s3.get_object_tagging(Bucket=ground.vault, Key="run/a b")["TagSet"]
    assert tags == [{"Key": "team", "Value": "lake"}]
    assert set(ground.report(job["JobId"])) == set(HOSTILE)


def test_an_empty_object_is_copied(ground: Ground) -> None:
    ground.client.put(ground.source, "empty", b"")
    ground.wait(ground.create("empty"))
    assert ground.client.get(ground.vault, "run/empty") == b""


def test_a_report_names_the_status_before_the_code_and_has_its_checksum(ground: Ground) -> None:
    ground.fill("a b")
    job_id = ground.create("a b", "gone")
    ground.wait(job_id)
    rows = sorted(ground.rows(job_id), key=lambda row: row[3])
    assert rows[0][:6] == [ground.source, "gone", "", "failed", "404", "NoSuchKey"]
    assert rows[1] == [ground.source, "a%20b", "", "succeeded", "200", "", "Successful"]
    folder = f"report/job-{job_id}"
    manifest = ground.client.get(ground.evidence, f"{folder}/manifest.json")
    digest = hashlib.md5(manifest, usedforsecurity=False).hexdigest()
    assert ground.client.get(ground.evidence, f"{folder}/manifest.json.md5").decode() == digest


def test_a_report_of_failures_leaves_out_what_was_copied(ground: Ground) -> None:
    ground.fill("a")
    report = ground.request({})["Report"] | {"ReportScope": "FailedTasksOnly"}
    job_id = ground.create("a", "gone", Report=report)
    ground.wait(job_id)
    assert set(ground.report(job_id)) == {"gone"}


def test_a_job_waits_for_its_confirmation_with_the_number_of_its_tasks(ground: Ground) -> None:
    ground.fill("a", "b")
    job_id = ground.create("a", "b", ConfirmationRequired=True)
    job = ground.wait(job_id, "Suspended")
    assert job["ProgressSummary"]["TotalNumberOfTasks"] == 2
    assert job["SuspendedCause"] == "AwaitingConfirmation"
    assert not list(ground.client.list(ground.vault, ""))
    ground.control.update_job_status(AccountId=ACCOUNT, JobId=job_id, RequestedJobStatus="Ready")
    assert ground.wait(job_id)["Status"] == "Complete"
    assert len(list(ground.client.list(ground.vault, "run/"))) == 2


def test_a_suspended_job_that_is_cancelled_copies_nothing_and_writes_no_report(ground: Ground) -> None:
    ground.fill("a")
    job_id = ground.create("a", ConfirmationRequired=True)
    ground.wait(job_id, "Suspended")
    ground.control.update_job_status(
        AccountId=ACCOUNT, JobId=job_id, RequestedJobStatus="Cancelled", StatusUpdateReason="too dear"
    )
    job = ground.wait(job_id)
    assert (job["Status"], job["StatusUpdateReason"]) == ("Cancelled", "too dear")
    assert not list(ground.client.list(ground.vault, ""))
    assert not list(ground.client.list(ground.evidence, "report/"))


def test_a_job_that_is_cancelled_between_tasks_reports_those_that_ran(ground: Ground) -> None:
    keys = [f"k{number}" for number in range(50)]
    ground.fill(*keys)
    ground.rules(task_seconds=0.2)
    job_id = ground.create(*keys)
    ground.wait(job_id, "Active")
    assert wait_until(lambda: ground.job(job_id)["ProgressSummary"]["NumberOfTasksSucceeded"] > 0)
    ground.control.update_job_status(AccountId=ACCOUNT, JobId=job_id, RequestedJobStatus="Cancelled")
    job = ground.wait(job_id)
    ran = job["ProgressSummary"]["NumberOfTasksSucceeded"]
    assert job["Status"] == "Cancelled"
    assert 0 < ran < 50
    assert len(ground.report(job_id)) == ran


@pytest.mark.parametrize("wanted", ["Ready", "Cancelled"])
def test_a_job_that_has_ended_changes_no_more(ground: Ground, wanted: str) -> None:
    ground.fill("a")
    job_id = ground.create("a")
    ground.wait(job_id)
    with pytest.raises(ClientError, match="JobStatusException"):
        ground.control.update_job_status(AccountId=ACCOUNT, JobId=job_id, RequestedJobStatus=wanted)


def test_the_same_request_gives_the_same_job_and_another_is_refused(ground: Ground) -> None:
    ground.fill("a")
    request = ground.request(ground.manifest([ManifestObject(ground.source, "a")]))
    first = ground.control.create_job(**request)["JobId"]
    assert ground.control.create_job(**request)["JobId"] == first
    ground.wait(first)
    assert ground.control.create_job(**request)["JobId"] == first
    with pytest.raises(ClientError, match="IdempotencyException"):
        ground.control.create_job(**request | {"Priority": 11})


def test_each_object_fails_by_its_own_cause(ground: Ground) -> None:
    ground.fill("fine", "denied/a", "slow/once", "slow/always", "large")
    ground.s3.put_object(Bucket=ground.source, Key="cold", Body=b"", StorageClass="DEEP_ARCHIVE")
    ground.client.put(ground.source, "large", b"x" * 2000)
    ground.rules(
        copy_limit=1000,
        faults=[
            {"prefix": "denied/", "code": "AccessDenied"},
            {"prefix": "slow/once", "code": "SlowDown", "times": 2},
            {"prefix": "slow/always", "code": "SlowDown"},
        ],
    )
    job_id = ground.create("fine", "denied/a", "slow/once", "slow/always", "large", "cold", "gone")
    job = ground.wait(job_id)
    assert job["Status"] == "Complete"
    assert job["ProgressSummary"]["NumberOfTasksFailed"] == 5
    assert {key: (result.status, result.code) for key, result in ground.report(job_id).items()} == {
        "fine": (200, ""),
        "slow/once": (200, ""),
        "denied/a": (403, "AccessDenied"),
        "slow/always": (503, "SlowDown"),
        "large": (400, "InvalidRequest"),
        "cold": (403, "InvalidObjectState"),
        "gone": (404, "NoSuchKey"),
    }


def test_a_missing_object_is_denied_to_a_role_that_may_not_list(ground: Ground) -> None:
    ground.fill("a", "secret")
    denied = [("s3:ListBucket", ground.source), ("s3:GetObject", f"{ground.source}/secret")]
    statements = [
        {"Effect": "Deny", "Principal": "*", "Action": action, "Resource": f"arn:aws:s3:::{resource}"}
        for action, resource in denied
    ]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    ground.s3.put_bucket_policy(Bucket=ground.source, Policy=policy)
    job_id = ground.create("a", "gone", "secret")
    ground.wait(job_id)
    codes = {key: result.code for key, result in ground.report(job_id).items()}
    assert codes == {"a": "", "gone": "AccessDenied", "secret": "AccessDenied"}


def test_an_object_overwritten_after_the_cut_off_is_refused(ground: Ground) -> None:
    ground.client.put(ground.source, "old", b"", modified_at=time.time() - 7200)
    ground.fill("new")
    cut_off = datetime.now(UTC) - timedelta(hours=1)
    job_id = ground.create("old", "new", copy={"UnModifiedSinceConstraint": cut_off})
    ground.wait(job_id)
    assert {key: result.status for key, result in ground.report(job_id).items()} == {"old": 200, "new": 412}


def test_named_versions_are_copied_and_an_empty_version_fails(ground: Ground) -> None:
    ground.s3.put_bucket_versioning(Bucket=ground.source, VersioningConfiguration={"Status": "Enabled"})
    first = ground.s3.put_object(Bucket=ground.source, Key="a", Body=b"first")["VersionId"]
    ground.s3.put_object(Bucket=ground.source, Key="a", Body=b"second")
    ground.s3.put_object(Bucket=ground.source, Key="b", Body=b"")
    text = f"{ground.source},a,{first}\n{ground.source},b,\n"
    manifest = ground.manifest_of(text.encode(), ("Bucket", "Key", "VersionId"))
    job_id = ground.control.create_job(**ground.request(manifest))["JobId"]
    ground.wait(job_id)
    assert ground.client.get(ground.vault, "run/a") == b"first"
    assert {key: result.succeeded for key, result in ground.report(job_id).items()} == {"a": True, "b": False}


def test_the_null_version_of_an_object_can_be_named(ground: Ground) -> None:
    ground.fill("a")
    manifest = ground.manifest([ManifestObject(ground.source, "a")], with_versions=True)
    job_id = ground.control.create_job(**ground.request(manifest))["JobId"]
    ground.wait(job_id)
    assert ground.report(job_id)["a"].succeeded


def test_a_delete_marker_is_a_missing_object(ground: Ground) -> None:
    ground.s3.put_bucket_versioning(Bucket=ground.source, VersioningConfiguration={"Status": "Enabled"})
    ground.fill("a")
    ground.s3.delete_object(Bucket=ground.source, Key="a")
    job_id = ground.create("a")
    ground.wait(job_id)
    assert ground.report(job_id)["a"].code == "NoSuchKey"


def test_a_job_fails_once_more_than_half_of_its_first_thousand_tasks_failed(ground: Ground) -> None:
    ground.fill(*(f"k{number}" for number in range(20)))
    job_id = ground.create(*(f"k{number}" for number in range(1200)))
    job = ground.wait(job_id)
    progress = job["ProgressSummary"]
    assert job["Status"] == "Failed"
    assert job["FailureReasons"][0]["FailureCode"] == "FailureRateExceeded"
    assert progress["NumberOfTasksSucceeded"] + progress["NumberOfTasksFailed"] == 1000
    assert len(ground.report(job_id)) == 1000


def test_fewer_failures_than_a_thousand_tasks_do_not_end_a_job(ground: Ground) -> None:
    assert ground.wait(ground.create(*(f"k{number}" for number in range(999))))["Status"] == "Complete"


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", "ManifestEmpty"), (b"only-a-bucket\n", "ManifestMalformed"), (b"one,a\ntwo,a\n", "ManifestMalformed")],
)
def test_a_manifest_that_is_none_fails_the_job(ground: Ground, data: bytes, code: str) -> None:
    job = ground.wait(ground.control.create_job(**ground.request(ground.manifest_of(data)))["JobId"])
    assert (job["Status"], job["FailureReasons"][0]["FailureCode"]) == ("Failed", code)


def test_a_manifest_that_changed_since_fails_the_job(ground: Ground) -> None:
    ground.fill("a")
    manifest = ground.manifest([ManifestObject(ground.source, "a")])
    manifest["Location"]["ETag"] = "0" * 32
    job = ground.wait(ground.control.create_job(**ground.request(manifest))["JobId"])
    assert (job["Status"], job["FailureReasons"][0]["FailureCode"]) == ("Failed", "ManifestETagMismatch")


def test_a_role_that_can_no_longer_be_taken_fails_a_new_job_and_every_task_of_an_old_one(ground: Ground) -> None:
    ground.fill("a")
    suspended = ground.create("a", ConfirmationRequired=True)
    ground.wait(suspended, "Suspended")
    ground.rules(denied_roles=[ROLE])
    assert ground.wait(ground.create("a"))["Status"] == "Failed"
    ground.control.update_job_status(AccountId=ACCOUNT, JobId=suspended, RequestedJobStatus="Ready")
    ground.wait(suspended)
    assert ground.report(suspended)["a"].code == "AccessDenied"


@pytest.mark.slow
def test_a_job_of_higher_priority_goes_first(ground: Ground) -> None:
    keys = [f"k{number}" for number in range(40)]
    ground.fill(*keys)
    ground.rules(active_jobs=1, task_seconds=0.03)
    low = ground.create(*keys)
    ground.wait(low, "Active")
    high = ground.create(*keys, Priority=20)
    ground.wait(low, "Paused")
    assert ground.wait(high)["Status"] == "Complete"
    assert ground.job(low)["Status"] in {"Active", "Paused"}
    assert ground.wait(low)["Status"] == "Complete"


def test_priority_and_tags_can_be_changed(ground: Ground) -> None:
    ground.fill("a")
    job_id = ground.create("a", ConfirmationRequired=True, Tags=[{"Key": "plan", "Value": "nightly"}])
    ask = {"AccountId": ACCOUNT, "JobId": job_id}
    ground.control.update_job_priority(**ask, Priority=99)
    assert ground.job(job_id)["Priority"] == 99
    assert ground.control.get_job_tagging(**ask)["Tags"] == [{"Key": "plan", "Value": "nightly"}]
    ground.control.put_job_tagging(**ask, Tags=[{"Key": "plan", "Value": "weekly"}])
    assert ground.control.get_job_tagging(**ask)["Tags"] == [{"Key": "plan", "Value": "weekly"}]
    ground.control.delete_job_tagging(**ask)
    assert ground.control.get_job_tagging(**ask).get("Tags", []) == []


def test_a_description_gives_back_what_was_asked(ground: Ground) -> None:
    ground.fill("a")
    job = ground.wait(ground.create("a", Description="nightly 7"))
    assert job["Description"] == "nightly 7"
    assert job["Operation"]["S3PutObjectCopy"]["TargetKeyPrefix"] == "run"
    assert job["Manifest"]["Spec"]["Fields"] == ["Bucket", "Key"]
    assert job["TerminationDate"] >= job["CreationTime"]


def test_a_long_list_of_jobs_is_read_page_by_page_newest_first(ground: Ground) -> None:
    ground.fill("a")
    made = [ground.create("a", ConfirmationRequired=True, AccountId="210987654321") for _ in range(3)]
    ask = {"AccountId": "210987654321", "MaxResults": 2}
    first = ground.control.list_jobs(**ask)
    second = ground.control.list_jobs(**ask, NextToken=first["NextToken"])
    assert [job["JobId"] for job in first["Jobs"] + second["Jobs"]] == made[::-1]
    assert "NextToken" not in second
    assert ground.control.list_jobs(AccountId="210987654321", JobStatuses=["Complete", "Failed"])["Jobs"] == []


def test_a_job_is_forgotten_ninety_days_after_its_end(ground: Ground) -> None:
    ground.fill("a")
    job_id = ground.create("a")
    ground.wait(job_id)
    ground.rules(days_ahead=89)
    assert ground.job(job_id)["Status"] == "Complete"
    ground.rules(days_ahead=91)
    with pytest.raises(ClientError, match="NoSuchJob"):
        ground.job(job_id)


@pytest.mark.parametrize(
    "changed",
    [
        {"RoleArn": "arn:aws:iam::1:user/x"},
        {"Operation": {"S3PutObjectTagging": {"TagSet": []}}},
        {"copy": {"TargetResource": "vault"}},
    ],
)
def test_a_request_that_s3_would_refuse_is_refused(ground: Ground, changed: dict[str, object]) -> None:
    with pytest.raises(ClientError):
        ground.create("a", **changed)


def test_the_accounts_number_may_stand_before_the_host(ground: Ground) -> None:
    """The proxy carries boto3's own host name here, which no resolver knows."""
    config = Config(proxies={"http": ground.origin})
    control = boto3.client("s3control", endpoint_url="http://sandbox.invalid", config=config, **KEYS)
    hosts: list[str] = []
    control.meta.events.register("before-send.s3-control", lambda request, **kwargs: hosts.append(request.url))
    assert control.list_jobs(AccountId="999999999999")["Jobs"] == []
    assert hosts[0].startswith("http://999999999999.sandbox.invalid/")


def test_tasks_of_some_keys_take_their_time(ground: Ground) -> None:
    ground.fill("fast/1", "fast/2", "slow/1")
    ground.rules(paces=[{"prefix": "slow/", "seconds": 30}])
    job_id = ground.create("fast/1", "fast/2", "slow/1")
    ground.wait(job_id, "Active")
    assert ground.wait(ground.create("fast/1", "fast/2"))["Status"] == "Complete"
    assert ground.job(job_id)["Status"] == "Active"
    ground.control.update_job_status(AccountId=ACCOUNT, JobId=job_id, RequestedJobStatus="Cancelled")
    assert ground.wait(job_id, seconds=5)["Status"] == "Cancelled"


def test_a_rule_that_there_is_not_is_refused(ground: Ground) -> None:
    answer = urllib3.request("PUT", f"{ground.origin}/_sandbox/rules", body=b'{"copy_limits": 1}')
    assert answer.status == 400
    assert b"copy_limits" in answer.data


@pytest.mark.slow
def test_ten_thousand_objects_are_copied_and_reported(ground: Ground) -> None:
    keys = [f"part={number % 20}/f {number}+.parquet" for number in range(10_000)]
    ground.plant(keys, "d")
    job_id = ground.create(*keys)
    job = ground.wait(job_id, seconds=120)
    assert job["ProgressSummary"]["NumberOfTasksSucceeded"] == 10_000
    assert len(ground.report(job_id)) == 10_000
    assert sum(1 for _ in ground.client.list(ground.vault, "run/")) == 10_000
