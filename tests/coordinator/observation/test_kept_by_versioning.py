"""What versioning keeps of lost commit files is looked for by the pass that finds them lost."""

import pytest

from coordinator.models import TableFinding
from lake.aws.object_versions import MOST
from tests.builders.delta import commit_bytes, commit_info
from tests.builders.guard import REQUEST_ID
from tests.coordinator.observation.accepted_and_lost import ORDERS, file, state

OTHER = commit_bytes(commit_info("OTHER"), newline=True)


@pytest.fixture
def versioned(written):
    written.s3.put_bucket_versioning(Bucket=written.bucket, VersioningConfiguration={"Status": "Enabled"})
    return written


def lose(written, version: int = 2) -> None:
    """Delete the file of a version; its temp file has gone before."""
    written.delete(file(version))


def looks() -> dict[str, dict]:
    """What was found, by the name of the file, of the one finding about a loss."""
    finding = TableFinding.objects.get(resolved_at=None, code="C7")
    return {one["file"]: one for one in finding.evidence["older_versions"]}


def published(version: int) -> str:
    return f"{version:020d}.json"


def test_the_deleted_file_is_named_as_the_one_that_was_seen_and_its_bytes_heal_the_table(versioned, observe):
    versioned.table(ORDERS, log_store=True)
    observe()
    lose(versioned)
    observe()

    (kept,) = looks()[published(2)]["versions"]
    assert (kept["seen"], state()) == (True, "blocked")
    before = TableFinding.objects.get(code="C7").evidence
    observe(in_full=True)
    assert TableFinding.objects.get(code="C7").evidence == before

    place = {"Bucket": versioned.bucket, "Key": file(2)}
    data = versioned.s3.get_object(**place, VersionId=kept["version_id"])["Body"].read()
    versioned.s3.put_object(**place, Body=data, IfNoneMatch="*")
    observe(in_full=True)
    assert state() == "healthy"


def test_a_file_that_came_later_is_never_taken_for_the_one_that_was_seen(versioned, observe):
    versioned.table(ORDERS, log_store=True)
    observe()
    lose(versioned)
    versioned.put(file(2), OTHER)
    versioned.delete(file(2))

    observe()

    newest, first = looks()[published(2)]["versions"]
    assert (newest["size"], newest["seen"], first["seen"]) == (len(OTHER), False, True)


def test_where_nothing_is_kept_that_is_said(written, observe):
    written.table(ORDERS, log_store=True)
    observe()
    lose(written)

    observe()

    assert all(one["versions"] == [] and one["deleted_at"] is None for one in looks().values())
    assert published(2) in looks()


def test_a_refusal_is_kept_with_the_permission_and_hides_no_verdict(versioned, observe_guarded, guard):
    versioned.table(ORDERS, log_store=True)
    observe_guarded()
    lose(versioned)
    guard.deny("ListObjectVersions")

    observe_guarded()

    assert state() == "blocked"
    assert "s3:ListBucketVersions is missing" in looks()[published(2)]["reason"]
    assert REQUEST_ID not in looks()[published(2)]["reason"]


def test_a_healthy_table_is_asked_for_no_versions(versioned, observe_guarded, guard):
    versioned.table(ORDERS, log_store=True)

    observe_guarded()

    assert not any(call.operation == "ListObjectVersions" for call in guard.calls)


def test_more_delete_markers_than_were_looked_at_never_say_that_nothing_is_kept(versioned, observe):
    versioned.table(ORDERS, log_store=True)
    observe()
    for _ in range(MOST):
        lose(versioned)

    observe()

    assert "only the newest 100 were looked at" in looks()[published(2)]["reason"]
