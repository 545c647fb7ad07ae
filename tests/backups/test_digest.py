"""What the digest says of backups."""

from datetime import timedelta

import pytest

from backups.alerting import backups_section
from dashboard.alerts.digest import digest_of
from tests.backups.page_records import NOW, make_gaps, make_plan, make_run

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
WEEK = NOW - timedelta(days=7)


def test_without_plans_the_mail_says_nothing_of_them():
    assert "BACKUPS" not in digest_of(WEEK, NOW)[1]


def test_a_plan_is_told_with_its_age_its_runs_and_what_they_cost():
    plan = make_plan()
    make_run(plan, age=timedelta(hours=5))
    make_gaps(plan, age=timedelta(days=1))
    make_run(plan, age=timedelta(days=8))
    said = digest_of(WEEK, NOW)[1]
    assert "BACKUPS\n  lake-nightly: up to 6 h behind its source, 36 h allowed" in said
    assert "2 runs: 1 complete, 1 complete with gaps; copied 82,282 objects, 104 GB, for $172.80" in said


def test_what_is_late_or_was_never_copied_comes_first():
    make_run(make_plan("a-fine"))
    make_plan("z-never")
    make_run(make_plan("m-late"), age=timedelta(days=4))
    lines = [line for line in backups_section(WEEK, NOW).splitlines() if "allowed" in line]
    assert [line.split(":")[0].strip() for line in lines] == ["m-late", "z-never", "a-fine"]
    assert "PAST ITS OBJECTIVE" in lines[0]
    assert "no proven copy yet" in lines[1]
