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
class TestOfAPlan:
    @pytest.fixture
    def plan(self):
        plan = make_plan(keep={"daily": 1}, destination="s3a://acme-vault-{date}/")
        for hours in (6, 30):
            make_run(plan, cut_off=NOW - timedelta(hours=hours))
        return plan

    def test_its_page_says_which_copies_may_go(self, plan):
        html = signed_in(Role.VIEWER).get(f"/backups/plans/{plan.name}/").content.decode()
        assert html.count("kept, daily") == 1
        assert html.count("<small>may go</small>") == 1
        assert "Levee deletes none" in html

    def test_a_command_says_it_too(self, plan, capsys):
        call_command("backup", "plan", plan.name, "--json")
        copies = json.loads(capsys.readouterr().out)["copies"]
        assert [one["kept_as"] for one in copies] == [["daily"], []]

    def test_in_a_pool_none_may_go_for_its_copies_share_objects(self, plan, capsys):
        Plan.objects.update(destination="s3a://acme-vault/warehouse/")

        html = signed_in(Role.VIEWER).get(f"/backups/plans/{plan.name}/").content.decode()
        call_command("backup", "plan", plan.name, "--json")

        assert "may go</small>" not in html
        assert [one["kept_as"] for one in json.loads(capsys.readouterr().out)["copies"]] == [["always"]] * 2
