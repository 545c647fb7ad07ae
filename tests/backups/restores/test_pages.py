"""The pages of a restore: from a table's restore points to a plan, and to what readers saw of what was opened."""

from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.urls import reverse

from backups.models import Plan, RestorePoint
from backups.restores import path_contents
from backups.runs.spark_pipeline import SparkPipeline
from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobFailed
from dashboard.jobs.execution import execute
from dashboard.jobs.models import Job
from lake.aws import copying
from lake.points.second_reader import read_by_deltalake
from tests.backups.restores.restoring import Table, by_value, options
from tests.builders.people import person, signed_in, signed_in_as
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db


def start(table: Table) -> str:
    return reverse("backup-restore", args=[table.point.pk])


def done(kind: str) -> Job:
    """The job of this kind after a worker has done it."""
    job = Job.objects.filter(kind=kind).latest("created_at")
    execute(job.pk, "worker/1")
    job.refresh_from_db()
    return job


def test_a_version_is_chosen_planned_confirmed_and_shown_as_readers_saw_it(table, monkeypatch):
    operator, to = signed_in(Role.OPERATOR), ""

    def seen(*_: Any) -> Any:
        return read_by_deltalake(to, options(table.backup)) | by_value(table.backup, to)

    monkeypatch.setattr(SparkPipeline, "run", seen)
    plan = operator.post(start(table), {"which": "own"})["Location"]
    assert "The restore point is being read" in flat(operator.get(plan))
    planned = done("plan-restore")
    to = planned.result["to"]
    page = flat(operator.get(plan))
    assert "Version 5 opens at" in page
    assert "It can be opened now, and nothing that exists is changed." in page
    assert f"levee restore {table.point.pk} --instant --apply" in page
    operator.post(plan, {"digest": planned.result["plan"]["digest"]})
    assert done("restore-table").state == "succeeded"
    page = flat(operator.get(plan))
    assert f"aws s3 rm --recursive {to.replace('s3a', 's3')}/" in page
    assert f"FROM delta.`{to}`" in page
    assert "<td>Each file: place" in page
    job = Job.objects.get(kind="restore-table")
    for reader, facts in (("spark", ("partitions", "vectors", "files_equal")), ("expected", ("rows",))):
        for one in facts:
            del job.result["verified"][reader][one]
    job.save()
    assert "<td>Each file: place" not in flat(operator.get(plan)), "as an earlier release left it"


def test_a_version_is_restored_to_a_path_that_is_typed(table, by_deltalake):
    operator, uri = signed_in(Role.OPERATOR), f"s3a://{table.backup.source}/mine/t"
    page = flat(operator.get(start(table)))
    assert f"Left empty, it is <code>s3a://{table.backup.source}/restored/t-5</code> for version 5." in page
    assert "{{" not in page
    plan = operator.post(start(table), {"which": "own", "where": "path", "to": f" {uri}"})["Location"]
    planned = done("plan-restore")
    page = flat(operator.get(plan))
    assert "It can be restored now, and nothing that exists is changed." in page
    assert f"levee restore {table.point.pk} --to {uri} --apply" in page
    operator.post(plan, {"digest": planned.result["plan"]["digest"]})
    assert done("restore-table").state == "succeeded"
    page = flat(operator.get(plan))
    assert "Version 5 is restored, and can be written to." in page
    assert "Spark has written to it once, as version 6." in page
    assert table.rows(uri) == list(range(6))


def test_a_restored_copy_is_removed_by_two_clicks_and_its_page_says_so(table, by_deltalake):
    operator, viewer = signed_in(Role.OPERATOR), signed_in(Role.VIEWER)
    restored = operator.post(start(table), {"which": "own", "where": "path"})["Location"]
    operator.post(restored, {"digest": done("plan-restore").result["plan"]["digest"]})
    assert "Remove this copy" not in flat(operator.get(restored)), "before it is there"
    done("restore-table")
    assert "Remove this copy…" in flat(operator.get(restored))
    assert "Needs the operator role." in flat(viewer.get(restored))
    assert viewer.post(f"{restored}remove/").status_code == 403
    plan = operator.post(f"{restored}remove/")["Location"]
    assert "what lies at the path is compared with it" in flat(operator.get(plan))
    digest = done("plan-restore").result["plan"]["digest"]
    page = flat(operator.get(plan))
    assert "It can be removed now: the backup has all of it." in page
    assert f"levee restore s3a://{table.backup.source}/restored/t-5 --remove --apply" in page
    assert viewer.post(plan, {"digest": digest}).status_code == 403
    operator.post(plan, {"digest": digest})
    assert "This copy" not in flat(operator.get(restored)).replace("Remove this copy", "Remove"), "nothing has begun"
    assert done("remove-restored").state == "succeeded"
    assert "It was removed" in flat(operator.get(plan))
    page = flat(operator.get(restored))
    assert "This copy was removed" in page
    assert "12 objects removed. Nothing is left at" in page
    assert "Remove this copy" not in page
    assert "SELECT * FROM" not in page
    assert operator.post(f"{restored}remove/").status_code == 404
    again = operator.post(start(table), {"which": "own", "where": "path"})["Location"]
    operator.post(again, {"digest": done("plan-restore").result["plan"]["digest"]})
    done("restore-table")
    assert "Version 5 is restored, and can be written to." in flat(operator.get(again))


def test_what_a_failed_restore_has_written_is_removed_from_its_plan_s_page(table, monkeypatch):
    operator = signed_in(Role.OPERATOR)
    monkeypatch.setattr(SparkPipeline, "run", Mock(side_effect=JobFailed("NoSpark", "No Spark.")))
    plan = operator.post(start(table), {"which": "own", "where": "path"})["Location"]
    assert "Remove this copy" not in flat(operator.get(plan))
    operator.post(plan, {"digest": done("plan-restore").result["plan"]["digest"]})
    assert done("restore-table").state == "failed"
    assert "What it has written to the path can be removed, and nothing else." in flat(operator.get(plan))
    removal = operator.post(f"{plan}remove/")["Location"]
    operator.post(removal, {"digest": done("plan-restore").result["plan"]["digest"]})
    assert done("remove-restored").state == "succeeded"
    assert not [key for key, _ in table.backup.lake.list(table.backup.source, "restored/")]
    assert "Remove this copy" not in flat(operator.get(plan))


def test_a_removal_that_cannot_prove_that_the_bytes_are_kept_needs_an_admin(table, by_deltalake, monkeypatch):
    operator, admin = signed_in(Role.OPERATOR), signed_in(Role.ADMIN)
    restored = operator.post(start(table), {"which": "own", "where": "path"})["Location"]
    operator.post(restored, {"digest": done("plan-restore").result["plan"]["digest"]})
    with monkeypatch.context() as in_parts:
        in_parts.setattr(copying, "COPY_LIMIT", 1)
        done("restore-table")
    plan = operator.post(f"{restored}remove/")["Location"]
    sent = {"digest": done("plan-restore").result["plan"]["digest"], "confirm": "restored.t-5"}
    page = flat(operator.get(plan))
    assert "it is not proven that the backup has them" in page
    assert "Needs the admin role." in page
    assert operator.post(plan, sent).status_code == 403
    of_vault = person(None, "admin-of-the-vault")
    vault = Connection.objects.create(name="vault", region="us-east-1", endpoint_url=table.backup.lake.origin)
    Job.objects.update(connection=vault)
    Plan.objects.update(vault_connection=vault)
    for connection, role in ((vault, Role.ADMIN), (Connection.objects.get(name="prod"), Role.OPERATOR)):
        Grant.objects.create(user=of_vault, connection=connection, role=role)
    assert signed_in_as(of_vault).post(plan, sent).status_code == 403
    assert admin.post(plan, {**sent, "confirm": "t"}).status_code == 422
    admin.post(plan, sent)
    assert done("remove-restored").state == "succeeded"


def test_where_later_commits_may_be_missing_is_said_before_anything_is_chosen(table):
    operator, said = signed_in(Role.OPERATOR), "Later commits may be missing. More was accepted, or may have been."
    assert "may be missing" not in flat(operator.get(start(table)))
    RestorePoint.objects.update(accepted_version=None, sentence="More was accepted, or may have been.")
    assert said in flat(operator.get(start(table)))


def test_a_table_that_is_gone_is_put_back_by_an_admin_who_types_its_name(table, by_deltalake):
    for key, _ in list(table.backup.lake.list(table.backup.source, "")):
        table.backup.lake.delete(table.backup.source, key)
    operator, admin = signed_in(Role.OPERATOR), signed_in(Role.ADMIN)
    plan = operator.post(start(table), {"which": "own", "where": "in_place"})["Location"]
    digest = done("plan-restore").result["plan"]["digest"]
    assert "Needs the admin role." in flat(operator.get(plan))
    assert operator.post(plan, {"digest": digest, "confirm": "t"}).status_code == 403
    page = flat(admin.get(plan))
    assert "This puts version 5 where its table is, or was." in page
    assert f"levee restore {table.point.pk} --in-place --confirm t --apply" in page
    assert admin.post(plan, {"digest": digest, "confirm": "T"}).status_code == 422
    admin.post(plan, {"digest": digest, "confirm": "t"})
    assert done("restore-table").state == "succeeded"
    page = flat(admin.get(plan))
    assert "Version 5 is restored, and can be written to." in page
    assert "aws s3 rm" not in page
    assert table.rows(table.uri) == list(range(6))


def test_who_is_no_admin_any_more_when_the_job_begins_takes_nothing_out(table, monkeypatch):
    monkeypatch.setattr(path_contents, "WRITERS_PAUSE", timedelta(0))
    admin = signed_in_as(user := person(Role.ADMIN, "was-admin"))
    plan = admin.post(start(table), {"which": "own", "where": "in_place"})["Location"]
    admin.post(plan, {"digest": done("plan-restore").result["plan"]["digest"], "confirm": "t"})
    user.groups.clear()
    assert done("restore-table").error_code == "NotAllowed"
    assert table.rows(table.uri) == list(range(6))


def test_the_bucket_of_a_connection_that_has_become_read_only_is_not_restored_to(table):
    vault = Connection.objects.create(name="vault", region="us-east-1", endpoint_url=table.backup.lake.origin)
    Plan.objects.update(vault_connection=vault)
    operator, asked = signed_in(Role.OPERATOR), {"which": "own", "where": "path"}
    plan = operator.post(start(table), asked)["Location"]
    operator.post(plan, {"digest": done("plan-restore").result["plan"]["digest"]})
    Connection.objects.filter(name="prod").update(read_only=True)
    assert done("restore-table").error_code == "ConnectionReadOnly"
    assert not [key for key, _ in table.backup.lake.list(table.backup.source, "restored/")]
    plan = operator.post(start(table), asked)["Location"]
    digest = done("plan-restore").result["plan"]["digest"]
    assert "The connection prod is read-only" in flat(operator.get(plan))
    assert operator.post(plan, {"digest": digest}).status_code == 409


def test_who_may_only_look_at_the_original_restores_nothing_beside_it(table):
    vault = Connection.objects.create(name="vault", region="us-east-1", endpoint_url=table.backup.lake.origin)
    Plan.objects.update(vault_connection=vault)
    user = person(None, "of-the-vault")
    for connection, role in ((vault, Role.OPERATOR), (Connection.objects.get(name="prod"), Role.VIEWER)):
        Grant.objects.create(user=user, connection=connection, role=role)
    operator = signed_in_as(user)
    for where, status in (("path", 403), ("open", 303)):
        plan = operator.post(start(table), {"which": "own", "where": where})["Location"]
        digest = done("plan-restore").result["plan"]["digest"]
        assert ("Needs the operator role." in flat(operator.get(plan))) == (status == 403)
        assert operator.post(plan, {"digest": digest}).status_code == status
    assert [job.params["to"] for job in Job.objects.filter(kind="restore-table")] == [None]


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"which": "version", "version": "4x"}, "Write the version as a number."),
        ({"which": "version", "version": "\u0664"}, "Write the version as a number."),
        ({"which": "moment", "moment": "2026-13-01T00:00"}, "Choose a date and a time."),
        ({"which": "moment", "moment": ""}, "Choose a date and a time."),
    ],
)
def test_what_cannot_be_read_is_said_and_nothing_typed_is_lost(table, sent, says):
    answer = signed_in(Role.OPERATOR).post(start(table), sent)
    assert answer.status_code == 422
    assert says in flat(answer)
    assert Job.objects.filter(kind="plan-restore").count() == 0


def test_a_viewer_sees_the_choice_and_may_not_plan(table):
    viewer = signed_in(Role.VIEWER)
    assert "Needs the operator role." in flat(viewer.get(start(table)))
    assert viewer.post(start(table), {"which": "own"}).status_code == 403


def test_why_a_version_is_not_restored_is_on_its_page(table):
    operator = signed_in(Role.OPERATOR)
    plan = operator.post(start(table), {"which": "version", "version": "1"})["Location"]
    done("plan-restore")
    page = flat(operator.get(plan))
    assert "This version is not restored from this point now." in page
    assert "No restore point is known to lead to version 1 of this history" in page
