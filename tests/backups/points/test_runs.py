"""The last stage of a run: what of each table can be restored, kept as points, and how the run ended by them."""

import html
import json
from contextlib import closing
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.urls import reverse

from backups.contract import ProveJson
from backups.documents import objective_document
from backups.models import RestorePoint, Run, Stage
from backups.points import spreading
from backups.points.documents import point_document
from backups.runs.stages import prove
from dashboard.accounts.roles import Role
from dashboard.jobs.context import JobCancelled, JobContext
from lake.aws.access import Access, open_lake
from lake.aws.s3 import S3
from lake.backup.objects import place_of
from lake.delta.names import commit_name
from lake.points.proven import ProvenTable
from lake.points.proving import Source, prove_copy
from sandbox.client import REGION
from tests.backups.points.conftest import refuse
from tests.backups.points.ended_runs import GAPS, STAGED, copied_run, proven, states
from tests.backups.runs.world import NOW
from tests.builders.copies import LOG, appended, commit
from tests.builders.delta import EPOCH_MS, UUID, add, first_commit_bytes
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat
from tests.json_types import missing

OTHER = "00000000-0000-4000-8000-000000000000"

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("upserts", "JSON")]


def test_a_run_whose_tables_are_proven_is_complete_and_their_points_are_kept(backup, capsys):
    backup.put_both(appended(range(3)))

    run = proven(copied_run(backup))

    assert (run.state, run.tables["points"]) == ("complete", {"proven": 1})
    of_objects = "Of 3 objects, 3 are at the destination."
    assert run.sentence == f"The one table can be restored with all that is older than 36 hours. {of_objects}"
    assert {stage.state for stage in run.stages.all()} == {"done"}
    call_command("backup", "points", "--plan", "warehouse-daily", "--json")
    document = json.loads(capsys.readouterr().out)
    assert missing(document, ProveJson) == []
    [point] = document["points"]
    assert (point["table"], point["run"], point["plan"]) == (f"s3a://{backup.source}/t", str(run.pk), "warehouse-daily")
    assert (point["state"], point["version"], point["ranges"], point["files"]) == ("proven", 2, [[0, 2]], 2)


@pytest.mark.parametrize(
    ("hours", "state", "ended"), [(30, "proven", "complete"), (40, "behind", "complete_with_gaps")]
)
def test_a_table_may_lack_what_is_younger_than_the_objective(backup, hours, state, ended):
    backup.put_both(appended(range(3)))
    backup.put(commit(3, add("part-3.parquet"), timestamp=EPOCH_MS + 90_000), copied=False, hours_ago=hours)
    backup.put(commit(4, add("part-4.parquet"), timestamp=EPOCH_MS + 95_000), copied=False)

    run = proven(copied_run(backup))

    [point] = run.points.all()
    assert (run.state, point.state, point.version, point.rpo_seconds) == (ended, state, 2, 95)
    assert ("What follows is lacking since" in point.sentence) is (state == "behind")


def test_a_table_is_judged_as_of_when_it_was_read_however_long_that_waits_to_be_stored(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    monkeypatch.setattr(prove, "point_document", lambda *read: point_document(*read[:3], read[3] + timedelta(hours=40)))
    assert states(proven(copied_run(backup))) == {"t": "proven"}


@pytest.mark.parametrize("timestamp", [0, 2**62, EPOCH_MS * 1_000])
def test_no_writer_s_clock_makes_a_table_young(backup, timestamp):
    backup.put_both(appended(range(3)) | commit(2, add("part-2.parquet"), timestamp=timestamp))
    backup.put(commit(3, add("part-3.parquet"), timestamp=0), copied=False, hours_ago=40)
    [point] = proven(copied_run(backup)).points.all()
    assert (point.state, point.rpo_seconds) == ("behind", None if timestamp else 0)


@pytest.mark.parametrize(("hours", "state"), [(30, "proven"), (40, "unprovable")])
def test_a_commit_that_was_published_late_may_be_as_old_as_the_file_that_it_waited_in(backup, hours, state):
    backup.put_both(appended(range(3)))
    backup.put({STAGED: b"x"}, copied=False, hours_ago=hours)
    backup.put(commit(3, add("part-3.parquet")), copied=False, hours_ago=1)
    assert states(proven(copied_run(backup))) == {"t": state}


@pytest.mark.parametrize(("hours", "state"), [(30, "proven"), (40, "unprovable")])
def test_a_commit_that_only_dynamodb_knows_is_as_young_as_its_file(backup, hours, state):
    backup.put_both(appended(range(3)))
    backup.put({STAGED: b"x"}, copied=False, hours_ago=hours)
    backup.put({STAGED.replace("3.", "4."): b"x"}, copied=False)

    run = proven(copied_run(backup))

    [point] = run.points.all()
    assert (point.state, point.version, point.accepted_version, point.rpo_seconds) == (state, 2, None, None)


@pytest.mark.parametrize(("hours", "state", "ended"), [(30, "too_new", "complete"), (40, "unprovable", GAPS)])
def test_a_table_of_which_the_backup_has_nothing_has_to_be_younger_than_the_objective(
    backup, monkeypatch, hours, state, ended
):
    monkeypatch.setattr(ProvenTable, "lacks", lambda *_: False)
    backup.put_both(appended(range(3)))
    backup.put(appended(range(2)), copied=False, below="new/", hours_ago=hours)

    run = proven(copied_run(backup, ["t", "new/t"]))

    assert (run.state, run.tables["points"]) == (ended, {"proven": 1, state: 1})
    new = run.points.exclude(state="proven").get()
    assert (new.table, new.version, new.accepted_version) == (f"s3a://{backup.source}/new/t", None, 1)


def test_what_was_deleted_from_the_source_meanwhile_is_no_gap_where_no_table_lacks_it(backup):
    backup.put_both(appended(range(3)))
    assert proven(copied_run(backup, vanished=7)).state == "complete"
    assert proven(copied_run(backup, vanished=7, changed=1)).state == GAPS


def test_objects_left_over_and_reports_that_are_not_believed_stay_gaps(backup):
    backup.put_both(appended(range(3)))
    assert proven(copied_run(backup, failed=1)).state == "complete_with_gaps"
    assert proven(copied_run(backup, too_new=7)).state == "complete"
    run = copied_run(backup)
    run.evidence["doubts"] = ["The report of copy job 1 is not believed."]
    run.save()
    assert proven(run).state == "complete_with_gaps"


@pytest.mark.parametrize("roots", [["t"], ["t", "old/t"]])
def test_a_later_run_judges_its_tables_anew_and_leaves_the_point_of_one_that_was_dropped(backup, roots):
    backup.put_both(appended(range(3)))
    backup.put(appended(range(3)), copied=True, below="old/")
    backup.put(appended(range(3)), copied=False, below="old/")
    first = proven(copied_run(backup, ["t", "old/t"]))
    for key, _ in list(backup.lake.list(backup.source, "old/")):
        backup.lake.delete(backup.source, key)
    backup.put(commit(3, add("gone.parquet")), copied=False, hours_ago=40)

    second = proven(copied_run(backup, roots))

    assert (first.state, second.state, second.tables["points"]) == ("complete", GAPS, {"behind": 1})
    assert ("1 no longer at the source" in second.sentence) is (len(roots) == 2)
    kept = {point.table.removeprefix(f"s3a://{backup.source}/"): point for point in RestorePoint.objects.all()}
    assert {name: (point.run, point.state) for name, point in kept.items()} == {
        "old/t": (first, "proven"),
        "t": (second, "behind"),
    }


def test_a_folder_whose_name_ends_in_a_slash_is_a_table_of_its_own(backup):
    backup.put_both(appended(range(3)))
    backup.put_both({key.replace("t/", "t//", 1): data for key, data in appended(range(2)).items()})
    run = proven(copied_run(backup, ["t", "t/"]))
    assert sorted(point.version for point in run.points.all()) == [1, 2]


def test_a_second_try_proves_the_tables_of_the_first(backup):
    backup.put_both(appended(range(3)))
    first = proven(copied_run(backup, failed=1))
    retry = copied_run(backup, None, retry_of=first)
    retry.evidence = {"plan": {"roots": {"bucket": backup.vault, "key": ""}}}  # nothing of a log was to be tried again
    retry.save()
    assert states(proven(retry)) == {"t": "proven"}


def test_without_tables_there_is_nothing_to_prove(backup):
    backup.put_both(appended(range(3)))
    run = proven(copied_run(backup, [], cut_off=NOW))
    assert (run.state, run.points.count(), run.holds_until) == ("complete", 0, run.cut_off)
    assert "There is no Delta table under the source." in run.sentence


def test_a_source_that_lost_all_its_tables_meanwhile_is_no_complete_run(backup):
    backup.put(appended(range(3)), copied=True)
    run = proven(copied_run(backup))
    assert (run.state, run.points.count()) == (GAPS, 0)
    assert "No table is at the source any more." in run.sentence


def test_a_run_that_an_older_release_planned_knows_no_tables_and_is_not_complete(backup):
    backup.put_both(appended(range(3)))
    run = proven(copied_run(backup, None))
    assert (run.state, run.points.count()) == (GAPS, 0)
    assert "Its tables were not proven" in run.sentence


def test_a_worker_that_goes_on_does_not_prove_again_what_the_run_has_proven(backup, monkeypatch):
    for below in ("", "b/"):
        backup.put_both(appended(range(3)), below=below)
    monkeypatch.setattr(spreading, "AT_ONCE", 1)
    run = copied_run(backup, ["b/t", "t"])
    with monkeypatch.context() as trouble:
        refuse(trouble, "list", "InternalError", lambda _, prefix: prefix == LOG)
        assert (proven(run).state, states(run)) == ("running", {"t": "proven"})
    backup.lake.put(backup.source, f"b/{LOG}{commit_name(3)}", b"", modified_at=0)
    assert (proven(run).state, run.tables["points"]) == ("complete", {"proven": 2})


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_a_worker_that_is_to_stop_or_no_longer_holds_the_run_stores_no_more(backup, monkeypatch, is_cancelled):
    backup.put_both(appended(range(3)))
    run, read = copied_run(backup), prove.prove_copy

    def stop(context: JobContext) -> None:
        raise JobCancelled

    def read_and_lose(*asked: Any, **more: Any) -> Any:
        for table in read(*asked, **more):
            if is_cancelled:
                monkeypatch.setattr(JobContext, "check_cancelled", stop)
            else:
                Run.objects.update(worker=None)
            yield table

    monkeypatch.setattr(prove, "prove_copy", read_and_lose)
    assert proven(run).state == "running"
    assert not RestorePoint.objects.exists()


def test_a_plan_of_a_part_of_a_bucket_proves_what_lies_there(backup):
    backup.put_both(appended(range(3)), below="a/")
    backup.plan.source = f"s3a://{backup.source}/a/"
    backup.plan.save()
    run = proven(copied_run(backup, ["a/t"]))
    assert [(point.table, point.state) for point in run.points.all()] == [(f"s3a://{backup.source}/a/t", "proven")]


def test_a_file_that_lies_outside_of_the_plan_s_part_is_looked_for_by_itself(backup):
    backup.put_both({"b/part.parquet": b"x" * 500})
    shared = add(f"s3a://{backup.source}/b/part.parquet")
    backup.put_both({f"{LOG}{0:020d}.json": first_commit_bytes(), **commit(1, shared)}, below="a/")
    backup.plan.source = f"s3a://{backup.source}/a/"
    backup.plan.save()
    [point] = proven(copied_run(backup, ["a/t"])).points.all()
    assert (point.state, point.version, bool(point.proof)) == ("proven", 1, True)


def test_a_log_that_lies_in_an_archive_of_the_backup_is_read_at_the_source(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    refuse(monkeypatch, "get", "InvalidObjectState", lambda bucket, key: bucket == backup.vault and LOG in key)
    assert states(proven(copied_run(backup))) == {"t": "proven"}


def test_who_leaves_early_does_not_wait_for_all_tables(backup):
    roots = [f"n{number}/t" for number in range(600)]
    backup.put_both(appended(range(2)), below="n0/")
    asked: list[str] = []

    class Counting(S3):
        def list(self, bucket: str, prefix: str, **more: Any) -> Any:
            asked.append(prefix)
            return super().list(bucket, prefix, **more)

    access = Access(REGION, endpoint_url=backup.lake.origin, static_credentials=("sandbox", "sandbox"))
    with open_lake(access) as lake:
        lake.s3.__class__ = Counting
        place, source = place_of(backup.plan.destination), Source(lake.s3, backup.source)
        with closing(prove_copy(lake.s3, place, "", source, roots)) as tables:
            next(tables)
    assert len(asked) < len(roots)


def test_a_folder_with_the_name_of_a_log_is_no_table_and_a_first_commit_that_waits_is_one(backup):
    waiting = {f"w/_delta_log/.tmp/{commit_name(0)}.00000000-0000-4000-8000-000000000000": b"{}"}
    backup.put_both({f"{LOG}0.json": b"{}"})
    backup.put(waiting, copied=False, hours_ago=40)
    assert states(proven(copied_run(backup, ["t", "w"]))) == {"w": "unprovable"}


def test_a_log_that_may_not_be_listed_is_its_own_table_s_trouble(backup, monkeypatch):
    for below in ("", "secret/"):
        backup.put_both(appended(range(3)), below=below)
    refuse(monkeypatch, "list", "AccessDenied", lambda _, prefix: prefix == f"secret/{LOG}")

    run = proven(copied_run(backup, ["t", "secret/t"]))

    assert run.tables["points"] == {"proven": 1, "unprovable": 1}
    [refused] = run.points.filter(state="unprovable")
    assert "AccessDenied" in refused.problems[0]
    assert not refused.anchored


def test_trouble_with_aws_is_tried_again_and_in_the_end_leaves_the_run_unproven(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    run = copied_run(backup)
    refuse(monkeypatch, "list", "InternalError", lambda _, prefix: prefix == LOG)
    assert proven(run).state == "running"
    for _ in range(5):
        proven(run)
    assert (run.state, run.stage, run.error_code) == ("failed", "prove", "InternalError")
    assert run.is_reconciled
    assert not RestorePoint.objects.exists()


def test_what_a_log_says_fits_into_every_database(backup):
    hostile = first_commit_bytes(table_id="a\0b")
    backup.put_both(appended(range(2)) | {LOG + commit_name(0): hostile})
    run = proven(copied_run(backup))
    assert run.points.get().incarnation == "a\ufffdb"


def test_the_page_of_a_run_names_the_tables_that_are_not_proven_and_what_they_lack(backup):
    backup.put_both(appended(range(3)))
    backup.put(commit(3, add("part-3.parquet")), copied=False, hours_ago=40)

    run = proven(copied_run(backup))
    page = html.unescape(flat(signed_in(Role.VIEWER).get(reverse("backup-run", args=[run.pk]))))

    assert "Tables not proven" in page
    assert page.count(run.sentence.partition(".")[0]) == 1  # in the headline, not at the stage as well
    assert f"s3a://{backup.source}/t" in page
    assert "Version 2 can be restored; the source's log is at version 3." in page


def test_runs_under_way_at_the_update_get_the_stage(backup):
    run = copied_run(backup, stage=Stage.COPY)
    run.stages.filter(name=Stage.PROVE).delete()
    for _ in range(2):
        import_module("backups.migrations.0003_restore_points").add_stage(apps, None)
    assert [stage.name for stage in run.stages.all()] == list(Stage)


def test_points_are_listed_by_table_and_state(backup, capsys):
    for below in ("", "b/"):
        backup.put_both(appended(range(3)), below=below)
    proven(copied_run(backup, ["t", "b/t"]))
    for words, number in (
        (["--table", f"s3://{backup.source}/t/"], 1),
        (["--state", "proven"], 2),
        (["--state", "behind"], 0),
        ([], 2),
    ):
        call_command("backup", "points", *words)
        assert capsys.readouterr().out.count(f"s3a://{backup.source}/") == number


def points_of(backup: Any) -> list[tuple[bool, str, int | None, list[Any]]]:
    found = RestorePoint.objects.order_by("proven_at")
    assert not any(one.moments for one in found if one.earlier)
    return [(bool(one.earlier), one.incarnation, one.version, one.ranges) for one in found]


def test_the_point_of_a_dropped_table_stays_beside_that_of_the_table_made_anew(backup, capsys):
    new = {LOG + commit_name(0): first_commit_bytes(table_id=OTHER)}
    backup.put_both(appended(range(3)))
    proven(copied_run(backup))
    backup.put_both(new)
    backup.lake.delete(backup.source, LOG + commit_name(1))
    backup.lake.delete(backup.source, LOG + commit_name(2))
    run = proven(copied_run(backup))

    assert points_of(backup) == [(True, UUID, 2, [[2, 2]]), (False, OTHER, 0, [[0, 0]])]
    call_command("backup", "points", "--json")
    told = json.loads(capsys.readouterr().out)["points"]
    assert sorted((one["earlier"], one["version"]) for one in told) == [(False, 0), (True, 2)]
    assert len({one["proof"] for one in told} - {None}) == 2
    Run.objects.filter(pk=run.pk).update(is_proof=False)  # as if it went on
    assert (run.tables["points"], objective_document(backup.plan, NOW)["tables"]) == ({"proven": 1}, 1)

    backup.put_both(appended(range(3)))
    proven(copied_run(backup))
    assert points_of(backup) == [(True, OTHER, 0, [[0, 0]]), (False, UUID, 2, [[0, 2]])]


def test_a_point_stays_where_a_foreign_writer_has_set_the_log_back_and_goes_when_the_table_is_past_it(backup):
    backup.put_both(appended(range(4)))
    proven(copied_run(backup))
    backup.lake.delete(backup.source, LOG + commit_name(3))
    proven(copied_run(backup))
    assert points_of(backup) == [(True, UUID, 3, [[3, 3]]), (False, UUID, 2, [[0, 2]])]
    proven(copied_run(backup))
    assert len(points_of(backup)) == 2

    backup.put_both(appended(range(5)))
    proven(copied_run(backup))
    assert points_of(backup) == [(False, UUID, 4, [[0, 4]])]


def test_a_point_stays_where_a_later_run_can_keep_none_and_goes_when_one_does(backup, monkeypatch):
    backup.put_both(appended(range(3)))
    first = proven(copied_run(backup))
    [point] = RestorePoint.objects.all()
    backup.put_both(appended(range(4)))
    with monkeypatch.context() as refused:
        refuse(refused, "put", "AccessDenied")
        for _ in range(2):
            proven(copied_run(backup))
            assert points_of(backup) == [(True, UUID, 2, [[2, 2]]), (False, UUID, 3, [[0, 3]])]
    earlier = RestorePoint.objects.get(earlier=str(point.pk))
    RestorePoint.objects.filter(pk=earlier.pk).update(state="behind")
    assert "Tables not proven" not in flat(signed_in(Role.VIEWER).get(reverse("backup-run", args=[first.pk])))
    assert (earlier.proof, "The run after it could keep none: s3:put on s3" in earlier.sentence) == (point.proof, True)

    proven(copied_run(backup))
    assert points_of(backup) == [(False, UUID, 3, [[0, 3]])]
