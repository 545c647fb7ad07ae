"""What the engine of S3 Batch Operations asks AWS for, and what it makes of its answers."""

import pytest

from backups.models import CopyJob, Plan
from backups.runs.batch_engine import S3BatchEngine
from backups.runs.work import RunFailed
from lake.aws.errors import AwsError
from tests.backups.runs.world import World, make_plan, start, tick

pytestmark = pytest.mark.django_db
OWN = "arn:aws:iam::123456789012:role/own"


def asked(world: World, **changes: object) -> CopyJob:
    """The copy job of a plan's run, as it was created."""
    run = start(make_plan(engine=Plan.Engine.S3_BATCH, **changes))
    tick(world)
    return CopyJob.objects.get(run=run)


def request_of(world: World):
    [request] = world.batch.asked.values()
    return request


@pytest.mark.parametrize(
    ("role_arn", "copies"), [(OWN, OWN), ("", "arn:aws:iam::999999999999:role/levee-batch-warehouse-daily")]
)
def test_a_plans_own_role_copies_and_without_one_that_which_the_policies_propose(world, role_arn, copies):
    asked(world, role_arn=role_arn)
    assert request_of(world).role_arn == copies


def test_the_manifest_is_pinned_and_the_keys_stand_below_the_destination(world):
    row = asked(world, destination="s3a://vault/pool//deep/", storage_class="GLACIER_IR")
    request = request_of(world)
    assert (request.manifest_key, request.manifest_etag) == (row.manifest_key, row.manifest_etag)
    assert (request.target_bucket, request.target_prefix) == ("vault", "pool//deep")
    assert (request.storage_class, request.token) == ("GLACIER_IR", row.token)
    assert request.not_modified_since == row.run.cut_off
    assert not request.report_prefix.endswith("/")


@pytest.mark.parametrize(
    ("code", "raised"),
    [("BadConfiguration", RunFailed), ("IdempotencyException", RunFailed), ("TooManyRequestsException", AwsError)],
)
def test_what_another_try_would_not_change_ends_the_run_and_other_refusals_are_tried_again(world, code, raised):
    def refuse(request):
        raise AwsError(code, "it cannot be", "", "s3:CreateJob", "", "t")

    row = asked(world)
    world.batch.create_copy = refuse
    with pytest.raises(raised, match="it cannot be"):
        S3BatchEngine(world.batch).create(row)


def test_a_job_that_aws_has_forgotten_has_failed_for_us(world):
    def forgotten(job_id: str):
        raise AwsError("NoSuchJob", "there is no such job any more", "", "s3:DescribeJob", "", job_id)

    row = asked(world)
    world.batch.status_of = forgotten
    status = S3BatchEngine(world.batch).look(row)
    assert (status.status, status.id) == ("Failed", row.aws_job_id)
    assert "no such job" in status.reason
