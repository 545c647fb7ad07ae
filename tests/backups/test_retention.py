"""Which complete copies are kept, and what pages and commands say of the others."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command

from backups.models import Plan
from backups.retention import kept_as
from dashboard.accounts.roles import Role
from tests.backups.page_records import NOW, make_plan, make_run
from tests.builders.people import signed_in

pytestmark = pytest.mark.postgres("queries")

TODAY = datetime(2026, 11, 20, 3, tzinfo=UTC)


def days(*ago: int) -> list[datetime]:
    return [TODAY - timedelta(days=one) for one in ago]


def test_without_a_rule_everything_is_kept():
    assert set(kept_as(days(0, 400), {}).values()) == {("always",)}
    assert set(kept_as(days(0, 400), {"daily": 0}).values()) == {("always",)}


def test_the_newest_of_each_of_the_last_days_is_kept():
    moments = [*days(0, 1, 2, 3), TODAY - timedelta(hours=2)]
    kept = kept_as(moments, {"daily": 2})
    assert [moment for moment, names in kept.items() if names] == days(0, 1)


def test_a_day_without_a_copy_is_not_counted():
    kept = kept_as(days(0, 5, 9), {"daily": 2})
    assert [moment for moment, names in kept.items() if names] == days(0, 5)


def test_days_weeks_and_months_are_kept_side_by_side():
    kept = kept_as(days(*range(120)), {"daily": 3, "weekly": 2, "monthly": 3})
    assert kept[TODAY] == ("daily", "weekly", "monthly")
    by_period = {name: [m for m, names in kept.items() if name in names] for name in ("daily", "weekly", "monthly")}
    assert {name: len(found) for name, found in by_period.items()} == {"daily": 3, "weekly": 2, "monthly": 3}
    assert [moment.day for moment in by_period["monthly"][1:]] == [31, 30]
    assert [moment.isoweekday() for moment in by_period["weekly"][1:]] == [7]


def test_a_week_across_new_year_is_one_week():
    monday, friday = datetime(2026, 12, 28, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    assert kept_as([monday, friday], {"weekly": 5}) == {friday: ("weekly",), monday: ()}


def test_the_newest_is_kept_whatever_the_rule_says():
    assert kept_as([TODAY], {"yearly": 3})[TODAY] == ("newest",)


@pytest.mark.django_db
def test_page_and_command_say_which_copies_may_go_and_in_a_pool_none_for_they_share_objects(capsys):
    plan = make_plan(keep={"daily": 1}, destination="s3a://acme-vault-{date}/")
    for hours in (6, 30):
        make_run(plan, cut_off=NOW - timedelta(hours=hours))
    viewer, page = signed_in(Role.VIEWER), f"/backups/plans/{plan.name}/"

    html = viewer.get(page).content.decode()
    assert (html.count("kept, daily"), html.count("<small>may go</small>")) == (1, 1)
    assert "Levee deletes none" in html
    assert kept_by(plan, capsys) == [["daily"], []]

    Plan.objects.update(destination="s3a://acme-vault/warehouse/")
    assert "may go</small>" not in viewer.get(page).content.decode()
    assert kept_by(plan, capsys) == [["always"]] * 2


def kept_by(plan: Plan, capsys) -> list[list[str]]:
    call_command("backup", "plan", plan.name, "--json")
    return [one["kept_as"] for one in json.loads(capsys.readouterr().out)["copies"]]
