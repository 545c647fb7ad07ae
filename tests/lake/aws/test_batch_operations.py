"""Copy jobs through Levee's own functions, against the sandbox, which answers as S3 Control does."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from lake.aws.access import Lake, open_lake
from lake.aws.batch_operations import BatchOperations, CopyRequest, JobStatus
from lake.aws.errors import AwsError
from lake.backup.objects import ManifestObject
from tests.builders.batch import write_lines
from tests.sandbox.control.ground import ACCOUNT, ROLE, Ground
from tests.waiting import wait_until


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
def batch(lake: Lake) -> BatchOperations:
    return BatchOperations(lake)


def request(ground: Ground, *keys: str, **changed: Any) -> CopyRequest:
    manifest = "".join(write_lines(ManifestObject(ground.source, key) for key in keys)).encode()
    ground.client.put(ground.evidence, "manifest.csv", manifest)
    asked = CopyRequest(
        token=f"token-{ground.source}",
        description="nightly 7",
        role_arn=ROLE,
        manifest_bucket=ground.evidence,
        manifest_key="manifest.csv",
        manifest_etag=hashlib.md5(manifest, usedforsecurity=False).hexdigest(),
        report_bucket=ground.evidence,
        report_prefix="report",
        target_bucket=ground.vault,
        target_prefix="run",
    )
    return replace(asked, **changed)


def wait(batch: BatchOperations, job_id: str, status: str) -> JobStatus:
    assert wait_until(lambda: batch.status_of(job_id).status == status)
    return batch.status_of(job_id)


def ended(batch: BatchOperations, job_id: str) -> JobStatus:
    """The job once it was confirmed and has come to its end."""
    wait(batch, job_id, "Suspended")
    batch.confirm(job_id)
    return wait(batch, job_id, "Complete")


def test_a_job_waits_to_be_confirmed_and_then_copies(ground: Ground, batch: BatchOperations) -> None:
    ground.fill("a b", "ä+")
    job_id = batch.create_copy(request(ground, "a b", "ä+", "gone"))
    assert (wait(batch, job_id, "Suspended").total, list(ground.client.list(ground.vault, ""))) == (3, [])
    batch.confirm(job_id)
    found = wait(batch, job_id, "Complete")
    assert (found.succeeded, found.failed, found.done) == (2, 1, 3)
    assert {key for key, _ in ground.client.list(ground.vault, "")} == {"run/a b", "run/ä+"}
    assert {key: result.code for key, result in ground.report(job_id).items()} == {
        "a b": "",
        "ä+": "",
        "gone": "NoSuchKey",
    }
    assert found.created_at is not None
    assert found.ended_at is not None
    assert found.created_at <= found.ended_at


def test_the_same_request_is_the_same_job_and_its_token_belongs_to_it(ground: Ground, batch: BatchOperations) -> None:
    asked = request(ground, "a")
    job_id = batch.create_copy(asked)
    assert batch.create_copy(asked) == job_id
    with pytest.raises(AwsError) as refusal:
        batch.create_copy(replace(asked, priority=11))
    assert refusal.value.code == "IdempotencyException"


def test_a_cancelled_job_copies_nothing_and_can_be_cancelled_no_more(ground: Ground, batch: BatchOperations) -> None:
    ground.fill("a")
    job_id = batch.create_copy(request(ground, "a"))
    wait(batch, job_id, "Suspended")
    batch.cancel(job_id, "too dear " * 100)
    wait(batch, job_id, "Cancelled")
    assert list(ground.client.list(ground.vault, "")) == []
    for call in (batch.cancel, batch.confirm):
        with pytest.raises(AwsError) as refusal:
            call(job_id)
        assert refusal.value.code == "JobStatusException"


def test_a_job_that_s3_has_forgotten_is_said_to_be_gone(batch: BatchOperations) -> None:
    with pytest.raises(AwsError) as refusal:
        batch.status_of("00000000-0000-0000-0000-000000000000")
    assert refusal.value.code == "NoSuchJob"
    assert f"no such job any more in account {ACCOUNT}: S3 forgets it 90 days after its end" in str(refusal.value)


def test_a_priority_is_set(ground: Ground, batch: BatchOperations) -> None:
    job_id = batch.create_copy(request(ground, "a"))
    batch.set_priority(job_id, 99)
    assert batch.status_of(job_id).priority == 99


def test_jobs_are_those_of_the_account_that_is_named(ground: Ground, lake: Lake, batch: BatchOperations) -> None:
    job_id = batch.create_copy(request(ground, "a"))
    with pytest.raises(AwsError, match="999999999997"):
        BatchOperations(lake, "999999999997").status_of(job_id)


def test_the_class_of_copies_is_as_asked(ground: Ground, batch: BatchOperations) -> None:
    ground.fill("a")
    ended(batch, batch.create_copy(request(ground, "a", storage_class="GLACIER_IR")))
    assert ground.s3.head_object(Bucket=ground.vault, Key="run/a")["StorageClass"] == "GLACIER_IR"


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
    with pytest.raises(AwsError, match=said) as refusal:
        batch.create_copy(request(ground, "a", **changed))
    assert refusal.value.code == "BadConfiguration"


def test_a_long_description_is_cut_to_what_s3_takes(ground: Ground, batch: BatchOperations) -> None:
    job_id = batch.create_copy(request(ground, "a", description="ä" * 300))
    assert batch.status_of(job_id).description == "ä" * 256
