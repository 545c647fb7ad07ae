"""Plans that will pass their objective."""

from datetime import timedelta

import pytest

from backups.due import objectives
from tests.backups.page_records import NOW, make_plan, make_run

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]


def test_a_plan_passes_its_objective_that_long_after_what_its_tables_hold_unless_a_run_comes_before():
    values = {"none": {}, "scheduled": {"schedule": "* * * * *"}, "late": {"objective_hours": 6}}
    for name, fields in values.items():
        plan = make_plan(name, **{"schedule": "", "objective_hours": 12} | fields)
        make_run(plan, age=timedelta(hours=10))  # whose tables hold what was there 11 hours ago
    late, due = sorted(objectives(NOW), key=lambda due: due.at)
    assert (late.happens, late.at) == ("late has passed its objective", NOW - timedelta(hours=5))
    assert (due.subject, due.at, due.state) == ("none", NOW + timedelta(hours=1), "attention")
    assert (due.connection.name, due.vault_connection.name) == ("prod", "vault")


@pytest.mark.parametrize(
    ("state", "weight", "stops"),
    [
        ("waiting_for_approval", "attention", "Approve the run that waits, or reject it and start another."),
        ("running", "info", "Nothing needed if the run under way ends before."),
        ("failed", "attention", "Put right what ended the newest run, and start another."),
    ],
)
def test_the_newest_run_says_what_stops_it(state, weight, stops):
    plan = make_plan(schedule="* * * * *", objective_hours=12)
    make_run(plan, age=timedelta(hours=10))
    run = make_run(plan, state, age=timedelta(hours=1))
    [due] = objectives(NOW)
    assert (due.at, due.state, due.stops) == (NOW + timedelta(hours=1), weight, stops)
    assert str(run.pk) in due.act_path
