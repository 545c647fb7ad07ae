"""Copy jobs through Levee's own functions, against the sandbox, which answers as S3 Control does."""

import io
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
import urllib3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse

from lake.aws.access import Access, Lake, open_lake
from lake.aws.batch_operations import BatchOperations, CopyRequest, JobStatus
from lake.aws.errors import AwsError
from lake.aws.rare_clients import RareClient
from lake.backup.objects import ManifestObject
from sandbox.client import REGION
from tests.sandbox.control.ground import ACCOUNT, ENDED, ROLE, Ground
from tests.waiting import scaled


@pytest.fixture
def ground() -> Iterator[Ground]:
    ground = Ground()
    ground.own_rules()
    yield ground
    ground.own_rules()


@pytest.fixture
def lake(ground: Ground) -> Iterator[Lake]:
    with open_lake(ground.access) as opened:
        yield opened


@pytest.fixture
def batch(ground: Ground, lake: Lake) -> BatchOperations:
    return BatchOperations(lake, ground.access, ACCOUNT)


def request(ground: Ground, *keys: str, **changed: Any) -> CopyRequest:
    manifest = ground.manifest(ManifestObject(ground.source, key) for key in keys)["Location"]
    asked = CopyRequest(
        token=f"token-{ground.source}",
        description="nightly 7",
        role_arn=ROLE,
        manifest_bucket=ground.evidence,
        manifest_key=manifest["ObjectArn"].partition("/")[2],
        manifest_etag=manifest["ETag"],
        report_bucket=ground.evidence,
        report_prefix="report",
        target_bucket=ground.vault,
        target_prefix="run",
    )
    return replace(asked, **changed)


def wait(batch: BatchOperations, job_id: str, *statuses: str) -> JobStatus:
    wanted, until = set(statuses) or ENDED, time.monotonic() + scaled(20)
    while time.monotonic() < until:
        found = batch.status_of(job_id)
        if found.status in wanted:
            return found
        time.sleep(0.02)
    raise AssertionError(f"the job is {found.status}, not {wanted}")


def test_a_job_waits_to_be_confirmed_and_then_copies(ground: Ground, batch: BatchOperations) -> None:
    ground.fill("a b", "ä+")
    job_id = batch.create_copy(request(ground, "a b", "ä+", "gone"))
    assert (wait(batch, job_id, "Suspended").total, list(ground.client.list(ground.vault, ""))) == (3, [])
    batch.confirm(job_id)
    ended = wait(batch, job_id)
    assert (ended.status, ended.succeeded, ended.failed, ended.done) == ("Complete", 2, 1, 3)
    assert {key for key, _ in ground.client.list(ground.vault, "")} == {"run/a b", "run/ä+"}
    assert set(ground.report(job_id)) == {"a b", "ä+", "gone"}
    assert ended.created_at is not None
    assert ended.ended_at is not None
    assert ended.created_at <= ended.ended_at


def test_the_same_request_is_the_same_job_and_its_token_belongs_to_it(ground: Ground, batch: BatchOperations) -> None:
    asked = request(ground, "a")
    job_id = batch.create_copy(asked)
    assert batch.create_copy(asked) == job_id
    with pytest.raises(AwsError) as refusal:
        batch.create_copy(replace(asked, priority=11))
    assert refusal.value.code == "IdempotencyException"
    wait(batch, job_id, "Suspended")
    assert batch.create_copy(asked) == job_id


def test_a_cancelled_job_keeps_what_it_copied_and_can_be_cancelled_no_more(
    ground: Ground, batch: BatchOperations
) -> None:
    ground.fill("a")
    job_id = batch.create_copy(request(ground, "a"))
    wait(batch, job_id, "Suspended")
    batch.cancel(job_id, "too dear " * 100)
    assert wait(batch, job_id).status == "Cancelled"
    for call in (batch.cancel, batch.confirm):
        with pytest.raises(AwsError) as refusal:
            call(job_id)
        assert refusal.value.code == "JobStatusException"


def test_a_job_that_s3_has_forgotten_is_said_to_be_gone(ground: Ground, batch: BatchOperations) -> None:
    ground.fill("a")
    job_id = batch.create_copy(request(ground, "a", confirmation_required=False))
    wait(batch, job_id)
    ground.rules(days_ahead=91)
    with pytest.raises(AwsError) as refusal:
        batch.status_of(job_id)
    assert refusal.value.code == "NoSuchJob"
    assert f"no such job any more in account {ACCOUNT}: S3 forgets it 90 days after its end" in str(refusal.value)


def test_priority_and_tags_are_kept(ground: Ground, batch: BatchOperations) -> None:
    job_id = batch.create_copy(request(ground, "a", tags={"plan": "nightly"}))
    batch.set_priority(job_id, 99)
    assert (batch.status_of(job_id).priority, batch.tags(job_id)) == (99, {"plan": "nightly"})


def test_a_list_is_read_page_by_page_newest_first(ground: Ground, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lake.aws.batch_operations.PAGE", 2)
    batch = BatchOperations(lake, ground.access, "999999999998")
    made = [batch.create_copy(request(ground, "a", token=f"{ground.source}-{number}")) for number in range(5)]
    listed = batch.list()
    newest = next(listed)
    assert (newest.id, newest.description) == (made[-1], "nightly 7")
    assert [newest.id, *(job.id for job in listed)] == made[::-1]
    assert list(batch.list(["Complete", "Failed"])) == []


def test_jobs_of_another_account_are_not_seen(ground: Ground, lake: Lake, batch: BatchOperations) -> None:
    job_id = batch.create_copy(request(ground, "a"))
    other = BatchOperations(lake, ground.access, "999999999997")
    assert list(other.list()) == []
    with pytest.raises(AwsError, match="999999999997"):
        other.status_of(job_id)


def test_the_account_is_that_which_signs_unless_one_is_named(ground: Ground, lake: Lake) -> None:
    assert BatchOperations(lake, ground.access).account_id == ACCOUNT


def test_what_was_written_after_the_cut_off_is_not_copied(ground: Ground, batch: BatchOperations) -> None:
    ground.client.put(ground.source, "old", b"", modified_at=time.time() - 7200)
    ground.fill("new")
    asked = request(ground, "old", "new", confirmation_required=False)
    job_id = batch.create_copy(replace(asked, not_modified_since=datetime.now(UTC) - timedelta(hours=1)))
    assert (wait(batch, job_id).succeeded, ground.report(job_id)["new"].code) == (1, "PreconditionFailed")


def test_the_class_of_copies_is_as_asked(ground: Ground, batch: BatchOperations) -> None:
    ground.fill("a")
    job_id = batch.create_copy(request(ground, "a", confirmation_required=False, storage_class="GLACIER_IR"))
    wait(batch, job_id)
    assert ground.s3.head_object(Bucket=ground.vault, Key="run/a")["StorageClass"] == "GLACIER_IR"


def test_a_job_that_fails_says_why(ground: Ground, batch: BatchOperations) -> None:
    job_id = batch.create_copy(request(ground, "a", manifest_etag="0" * 32))
    found = wait(batch, job_id)
    assert found.status == "Failed"
    assert found.reason.startswith("ManifestETagMismatch: ")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"token": ""}, "the token has 0 characters"),
        ({"token": "x" * 65}, "the token has 65 characters"),
        ({"role_arn": "backup"}, "'backup' is no ARN of a role"),
        ({"manifest_etag": ""}, "no ETag pins the manifest"),
    ],
)
def test_a_request_that_cannot_be_one_is_not_sent(
    ground: Ground, batch: BatchOperations, changed: dict[str, Any], said: str
) -> None:
    before = {job.id for job in batch.list()}
    with pytest.raises(AwsError, match=said) as refusal:
        batch.create_copy(request(ground, "a", **changed))
    assert refusal.value.code == "BadConfiguration"
    assert {job.id for job in batch.list()} == before


def test_a_long_description_is_cut_to_what_s3_takes(ground: Ground, batch: BatchOperations) -> None:
    job_id = batch.create_copy(request(ground, "a", description="ä" * 300))
    assert batch.status_of(job_id).description == "ä" * 256


@pytest.mark.parametrize(
    ("endpoint", "host"),
    [("", f"{ACCOUNT}.s3-control.us-west-2.amazonaws.com"), ("http://127.0.0.1:9", "127.0.0.1:9")],
)
def test_the_accounts_number_stands_before_the_host_of_aws_alone(lake: Lake, endpoint: str, host: str) -> None:
    sent: list[str] = []

    def answer(request: AWSPreparedRequest, **kwargs: Any) -> AWSResponse:
        sent.append(request.url)
        body = urllib3.HTTPResponse(
            io.BytesIO(b"<ListJobsResult><Jobs></Jobs></ListJobsResult>"), preload_content=False
        )
        return AWSResponse(request.url, 200, {}, body)

    def call(client: Any) -> None:
        client.meta.events.register("before-send.s3-control", answer)
        client.list_jobs(AccountId=ACCOUNT)

    RareClient(lake, Access(REGION, endpoint_url=endpoint), "s3control").ask("s3:ListJobs", ACCOUNT, call)
    assert urlsplit(sent[0]).netloc == host
