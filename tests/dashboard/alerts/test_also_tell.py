"""Addresses that a problem itself names, as a backup plan does, besides those of the rules."""

import pytest

from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.alerts.models import Recipient
from dashboard.alerts.stopping import stop_mails
from tests.builders.people import person
from tests.dashboard.alerts.week import World, address, problem, rule

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
OWNER = "owner@acme.example"


def who(lake: World) -> list[str]:
    return [to for _, to, _ in lake.received]


def test_it_is_told_beside_the_recipients_of_the_rule(lake: World) -> None:
    rule().recipients.add(address())
    lake.problems = [problem(also_tell=(OWNER, "ops@acme.example"))]
    lake.tick()
    assert sorted(who(lake)) == ["ops", "owner"]


def test_it_is_told_beside_the_operators(lake: World) -> None:
    operator = person(Role.OPERATOR)
    operator.email = "op@acme.example"
    operator.save()
    rule()
    lake.problems = [problem(also_tell=(OWNER,))]
    lake.tick()
    assert sorted(who(lake)) == ["op", "owner"]


def test_it_hears_of_the_end(lake: World) -> None:
    rule(remind_hours=0)
    lake.problems = [problem(also_tell=(OWNER,))]
    lake.tick()
    lake.problems = []
    lake.tick()
    lake.tick(minutes=6)
    assert [subject.partition(":")[0] for _, _, subject in lake.received] == ["opened", "resolved"]


def test_who_stopped_mails_gets_none_although_named(lake: World) -> None:
    rule(remind_hours=1)
    lake.problems = [problem(also_tell=(OWNER,))]
    lake.tick()
    assert stop_mails(Actor.command(), OWNER.upper())
    lake.tick(minutes=120)
    assert who(lake) == ["owner"]
    assert Recipient.objects.get().is_stopped


def test_an_address_that_was_never_told_has_nothing_to_stop(lake: World) -> None:
    assert not stop_mails(Actor.command(), "stranger@acme.example")
    assert not Recipient.objects.exists()
