"""Jobs that somebody else was faster than: told apart from failed ones, with exactly what had been sent by then."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from changes.calls import Sending
from coordinator import actions
from coordinator.models import CommitStore
from coordinator.repairs import bulk, carrying_out, jobs, object_calls
from dashboard.accounts.roles import Role
from dashboard.alerts.own_health import failed_jobs
from dashboard.audit.models import AuditEntry
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from tests.builders.delta import UUID, commit_bytes, commit_info, coordinator_commit
from tests.builders.people import actor
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.world import Meddled

pytestmark = pytest.mark.django_db
ROOT = "sales/orders"
FILE = f"{ROOT}/_delta_log/{3:020d}.json"
COORDINATED = "ops/telemetry"
OTHER = b'{"commitInfo":{"operation":"OTHER"}}\n'

Arrange = Callable[[Meddled], Meddled]


@pytest.fixture
def amid(monkeypatch: pytest.MonkeyPatch) -> Callable[[Arrange], None]:
    """Let something happen between the requests of the repairs that follow."""

    def arrange(meddle: Arrange) -> None:
        def sending(opened: Lake, **more: Any) -> Sending:
            return Sending(meddle(Meddled(opened)), **more)

        monkeypatch.setattr(jobs, "Sending", sending)
        monkeypatch.setattr(bulk, "Sending", sending)

    return arrange


def another_writer_commits(console: Console) -> None:
    """Its commit is accepted and waits, and so does what waited before."""
    [item] = console.registrations()
    version = int(item["tableVersion"]["N"]) + 1
    body = commit_bytes(commit_info(in_commit_timestamp=1_767_225_600_000 + version))
    console.lake.put(f"{COORDINATED}/_delta_log/_staged_commits/{version:020d}.{UUID}.json", body)
    element = coordinator_commit(version, fsLength={"N": str(len(body))})
    moved = {"tableVersion": {"N": str(version)}, "commits": {"L": [*item["commits"]["L"], element]}}
    console.lake.dynamodb.put_item(TableName=console.registry, Item=item | moved)


def published(console: Console) -> list[int]:
    listed = console.lake.s3.list_objects_v2(Bucket=console.lake.bucket, Prefix=f"{COORDINATED}/_delta_log/0")
    return [int(found["Key"].rpartition("/")[2][:20]) for found in listed["Contents"]]


def test_a_backfill_overtaken_after_its_copies_tells_which_files_it_wrote(console: Console, amid: Any) -> None:
    table = console.coordinated()
    amid(lambda lake: lake.before("update_item", lambda: another_writer_commits(console)))

    job = console.run(console.repair(table, console.plan(table, "backfill")))

    assert (job.state, job.error_code) == ("overtaken", "")
    told = job.result["overtaken"]
    assert (told["call"], told["of"]) == (3, 3)
    assert [sentence.partition(" ")[0] for sentence in told["written"]] == ["…2.json", "…3.json"]
    assert all(sentence in job.message for sentence in told["written"])
    assert "A writer moved on" in told["reason"]
    assert published(console) == [0, 1, 2, 3]


def test_an_obstacle_that_nobody_put_there_fails_the_job(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    table = console.pending()
    plan = console.plan(table)
    monkeypatch.setattr(object_calls, "MOST_BYTES", 10)

    job = console.run(console.repair(table, plan))

    assert (job.state, job.error_code) == ("failed", "Stopped")
    assert "Levee copies no more than 10" in job.error_text
    assert "overtaken" not in job.result


def test_a_file_that_goes_again_as_soon_as_it_is_written_fails_the_job_and_is_told_as_written(
    console: Console, amid: Any
) -> None:
    table = console.pending()
    amid(lambda lake: lake.after("put_if_absent", lambda: console.lake.delete(FILE)))

    job = console.run(console.repair(table, console.plan(table)))

    assert (job.state, job.error_code) == ("failed", "Stopped")
    assert job.error_text.startswith("Stopped at call 1 of 3: …3.json was written and has gone again")
    assert job.error_text.count("has gone again") == 1


def test_a_writer_without_a_lock_that_took_the_version_first_overtakes(console: Console, amid: Any) -> None:
    table = console.pending()
    amid(lambda lake: lake.before("put_if_absent", lambda: console.lake.put(FILE, OTHER)))

    job = console.run(console.repair(table, console.plan(table)))

    assert job.state == "overtaken"
    assert "…3.json exists with other bytes" in job.message
    assert job.result["overtaken"]["written"] == []
    assert console.bytes_of(FILE) == OTHER
    assert console.item(ROOT, 3)["complete"] == {"S": "false"}
    table.refresh_from_db()
    assert table.state == "unsafe"
    assert table.summary in job.message
    assert [step["state"] for step in job.steps] == ["done", "stopped", "done"]
    assert list(failed_jobs(timezone.now())) == []
    entry = AuditEntry.objects.filter(job_id=job.pk).latest("id")
    assert (entry.outcome, entry.after["state"]) == ("overtaken", "unsafe")
    assert [call["outcome"] for call in entry.after["calls"]] == ["stopped"]


def test_of_many_tables_the_overtaken_one_has_an_outcome_of_its_own_and_the_job_has_not_failed(
    console: Console, amid: Any
) -> None:
    table = console.pending()
    other = console.pending("a/other")
    amid(lambda lake: lake.before("put_if_absent", lambda: console.lake.put(FILE, OTHER)))

    made = actions.repair_many(actor(Role.OPERATOR), [table, other], ["publish-commit"], "All")
    job = console.run(made)

    assert job.state == "succeeded"
    rows = {row["label"]: row for row in job.result["outcomes"]}
    assert (rows[table.uri]["state"], rows[other.uri]["state"]) == ("overtaken", "done")
    assert "…3.json exists with other bytes" in rows[table.uri]["sentence"]
    assert job.message == "2 tables: 1 done, 1 overtaken."
    assert AuditEntry.objects.filter(job_id=job.pk, target_id=str(table.pk), outcome="overtaken").exists()


def repaired(table: Any) -> tuple[dict[str, Any], str]:
    """What `levee repair --apply --json` prints, and the sentence of its failure, "" for exit 0."""
    out = io.StringIO()
    try:
        call_command("repair", table.uri, json=True, apply=True, stdout=out, stderr=io.StringIO())
    except CommandError as error:
        return json.loads(out.getvalue()), str(error)
    return json.loads(out.getvalue()), ""


@pytest.mark.parametrize("holds", [True, False])
def test_the_command_fails_only_where_the_finding_is_left(console: Console, amid: Any, holds: bool) -> None:
    table = console.pending()

    def another_writer() -> None:
        if holds:
            console.lake.put(console.temp_key(ROOT, 3), OTHER)
        else:
            console.lake.put(FILE, console.bytes_of(console.temp_key(ROOT, 3)))
            console.lake.drop_entries(ROOT, 3)

    amid(lambda lake: lake.after("head", another_writer))

    document, failure = repaired(table)

    assert (document["jobs"][0]["state"], document["jobs"][0]["error"]) == ("overtaken", None)
    assert document["jobs"][0]["overtaken"]["finding_holds"] is holds
    assert failure.startswith("Not everything was repaired") is holds


def test_a_table_that_cannot_be_read_after_a_stop_fails_with_what_was_written(
    console: Console, amid: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = console.coordinated()
    plan = console.plan(table, "backfill")

    def unreadable(*_: object) -> None:
        raise AwsError("AccessDenied", "not authorised", operation="s3:ListObjectsV2")

    amid(lambda lake: lake.before("update_item", lambda: another_writer_commits(console)))
    first = iter((carrying_out.plan_anew,))
    monkeypatch.setattr(carrying_out, "plan_anew", lambda *given: next(first, unreadable)(*given))

    job = console.run(console.repair(table, plan))

    assert (job.state, job.error_code) == ("failed", "AccessDenied")
    assert "Stopped at call 3 of 3: A writer moved on" in job.error_text
    assert "Written by then: …2.json was published" in job.error_text
    assert "The table could not be read again: " in job.error_text
    assert len(job.result["after"]["calls"]) == 3


def test_a_finding_that_cannot_be_seen_any_more_was_not_overtaken(console: Console) -> None:
    """Its coordinator is not declared any more, so that nothing is known of what it accepted."""
    table = console.coordinated()
    job = console.repair(table, console.plan(table, "backfill"))
    CommitStore.objects.filter(kind=CommitStore.Kind.COMMIT_COORDINATOR).delete()

    job = console.run(job)

    assert (job.state, job.error_code) == ("failed", "NotRead")
