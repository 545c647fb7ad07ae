"""The pages of a restore: from a table's restore points to a plan, and to what readers saw of what was opened."""

from typing import Any

import pytest
from django.urls import reverse

from backups.runs.spark_pipeline import SparkPipeline
from dashboard.accounts.roles import Role
from dashboard.jobs.execution import execute
from dashboard.jobs.models import Job
from lake.points.second_reader import read_by_deltalake
from tests.backups.restores.restoring import Table, options
from tests.builders.people import signed_in
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
        return {**read_by_deltalake(to, options(table.backup)), "bytes": table.point.bytes}

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
