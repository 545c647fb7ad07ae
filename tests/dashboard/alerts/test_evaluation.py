"""How alerts open, change and end."""

from datetime import time, timedelta
from typing import Any

import pytest

from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.alerts import problems as registry
from dashboard.alerts.models import Alert, Message
from dashboard.alerts.stopping import stop_mails
from dashboard.connections.models import Connection
from tests.builders.people import person
from tests.dashboard.alerts.week import MONDAY, World, address, problem, rule

pytestmark = pytest.mark.postgres("queries")
OWNER = "owner@acme.example"


def told(lake: World) -> list[str]:
    return [f"{to} {subject}" for _, to, subject in lake.received]


@pytest.fixture
def ops(lake: World) -> Any:
    """One rule that tells one address, without reminders."""
    found = rule(remind_hours=0)
    found.recipients.add(address())
    return found


@pytest.mark.parametrize(("days", "is_told"), [(14, True), (3, True), (15, False)])
def test_a_countdown_is_told_when_little_is_left(lake: World, days: float, is_told: bool) -> None:
    rule(kind="bite", name="Bites", threshold=14)
    lake.problems = [problem(kind="bite", measure=days)]
    lake.tick()
    assert Alert.objects.exists() is is_told


def test_forty_tables_of_one_cause_are_one_mail(lake: World, ops: Any) -> None:
    lake.problems = [problem(f"t{n:02}", subject=f"lake.t{n:02}") for n in range(40)]
    lake.tick()
    assert told(lake) == ["ops opened: A commit is pending: lake.t00, lake.t01, lake.t02 and 37 more."]
    found = Alert.objects.get()
    assert (found.members.count(), len(found.subjects), found.unnamed) == (40, 5, 35)


def test_one_more_table_joins_without_a_mail(lake: World, ops: Any) -> None:
    lake.problems = [problem("a")]
    lake.tick()
    lake.problems.append(problem("b"))
    lake.tick()
    assert len(lake.received) == 1
    assert Alert.objects.get().headline == "A commit is pending: a has a pending commit, b has a pending commit."
    lake.problems.pop()
    lake.tick()
    assert list(Alert.objects.get().members.order_by("key").values_list("gone_at", flat=True)) == [None, lake.now]


def test_one_problem_has_a_button_and_several_have_their_own(lake: World, ops: Any) -> None:
    lake.problems = [problem("a", subject="lake.a", path="/tables/1/#steps", link="See the steps", next_step="Stop.")]
    lake.tick()
    found = Alert.objects.get()
    assert (found.path, found.link, found.next_step) == ("/tables/1/#steps", "See the steps", "Stop.")
    assert found.subjects == [["lake.a", "/tables/1/"]]
    lake.problems.append(problem("b", subject="lake.b", path="/tables/2/", next_step="Publish commit 3."))
    lake.tick()
    found = Alert.objects.get()
    assert (found.path, found.next_step, found.name) == ("", "lake.a: Stop.", "A commit is pending: lake.a and 1 more")


def test_worse_is_told_at_once_even_if_acknowledged(lake: World, ops: Any) -> None:
    lake.problems = [problem()]
    lake.tick()
    Alert.objects.update(state="acknowledged", acknowledged_until=lake.now + timedelta(days=1))
    lake.problems = [problem(severity="critical", headline="orders has lost a commit.")]
    lake.tick()
    lake.tick()
    assert told(lake)[1:] == ["ops worse: orders has lost a commit."]
    assert Alert.objects.get().state == "open"


def test_over_is_told_five_minutes_after_the_last_sight(lake: World, ops: Any) -> None:
    lake.problems = [problem()]
    lake.tick()
    lake.problems = []
    for _ in range(5):
        lake.tick()
    assert Alert.objects.get().state == "open"
    lake.tick()
    assert told(lake)[1:] == ["ops resolved: orders has a pending commit."]
    assert Alert.objects.get().resolved_at == lake.now


def test_what_flickers_is_one_alert(lake: World, ops: Any) -> None:
    for n in range(20):
        lake.problems = [problem()] if n % 3 == 0 else []
        lake.tick()
    assert Alert.objects.count() == 1
    assert len(lake.received) == 1


def test_what_returns_within_a_day_says_so(lake: World, ops: Any) -> None:
    lake.problems = [problem()]
    lake.tick()
    lake.problems = []
    lake.run(lake.now + timedelta(minutes=30))
    lake.problems = [problem()]
    lake.tick()
    second, first = Alert.objects.all()
    assert second.returned_from == first


def test_a_source_that_fails_ends_nothing(lake: World, ops: Any, caplog: pytest.LogCaptureFixture) -> None:
    lake.problems = [problem()]
    lake.tick()
    lake.is_broken = True
    lake.run(lake.now + timedelta(hours=2))
    assert Alert.objects.get().state == "open"
    assert "of the kind pending could not be read: ConnectionError: Redis is gone" in caplog.text


def test_a_source_that_fails_silences_no_other(lake: World, ops: Any) -> None:
    lake.problems = [problem()]
    registry.register_source("broken", lambda now: 1 / 0, registry.ProblemKind("other", "Other", "count", 0))
    lake.tick()
    assert len(lake.received) == 1


@pytest.mark.postgres("locks")
def test_two_beats_at_once_tell_once(lake: World, ops: Any) -> None:
    lake.problems = [problem()]
    lake.tick(beats=2)
    lake.problems = []
    for _ in range(7):
        lake.tick(beats=2)
    assert told(lake) == [f"ops {reason}: orders has a pending commit." for reason in ("opened", "resolved")]


def test_reminders_come_every_few_hours(lake: World, ops: Any) -> None:
    ops.remind_hours = 4
    ops.save()
    lake.problems = [problem()]
    lake.run(MONDAY + timedelta(hours=13), beats=2)
    assert [(when, subject.partition(":")[0]) for when, _, subject in lake.received] == [
        ("Mon 08:10", "opened"),
        ("Mon 12:10", "reminder"),
        ("Mon 16:10", "reminder"),
        ("Mon 20:10", "reminder"),
    ]


def test_an_acknowledgement_silences_until_its_end(lake: World, ops: Any) -> None:
    ops.remind_hours = 1
    ops.save()
    lake.problems = [problem()]
    lake.tick()
    Alert.objects.update(state="acknowledged", acknowledged_until=MONDAY + timedelta(hours=6))
    lake.run(MONDAY + timedelta(hours=6, minutes=30))
    assert [(when, subject.partition(":")[0]) for when, _, subject in lake.received] == [
        ("Mon 08:01", "opened"),
        ("Mon 14:01", "reminder"),
    ]


def test_what_nobody_takes_up_escalates_once(lake: World, ops: Any) -> None:
    ops.escalate_hours = 2
    ops.save()
    ops.escalate_to.add(address("boss"))
    lake.problems = [problem()]
    lake.run(MONDAY + timedelta(hours=9), beats=2)
    assert [(when, to) for when, to, subject in lake.received if subject.startswith("escalated")] == [
        ("Mon 10:10", "ops"),
        ("Mon 10:10", "boss"),
    ]


def test_quiet_hours_hold_back_what_is_not_critical(lake: World, ops: Any) -> None:
    ops.quiet_from, ops.quiet_until = time(20), time(7)
    ops.save()
    lake.run(MONDAY + timedelta(hours=13))
    lake.problems = [problem(), problem("ledger", cause="lost", severity="critical", headline="ledger lost a commit.")]
    lake.run(MONDAY + timedelta(hours=24))
    assert lake.received == [
        ("Mon 21:10", "ops", "opened: ledger lost a commit."),
        ("Tue 07:00", "ops", "opened: orders has a pending commit."),
    ]


def test_the_narrowest_rule_decides(lake: World, ops: Any) -> None:
    narrow = rule(name="Finance", threshold=60, prefix="s3a://lake/finance/", remind_hours=0)
    narrow.recipients.add(address("finance"))
    lake.problems = [problem("finance/ledger"), problem("finance/slow", measure=61, cause="slow"), problem("orders")]
    lake.tick()
    assert sorted(to for _, to, _ in lake.received) == ["finance", "ops"]


def test_a_rule_switched_off_silences_what_it_covers(lake: World, ops: Any) -> None:
    rule(name="Lab", prefix="s3a://lake/lab/", is_enabled=False)
    lake.problems = [problem("lab/x")]
    lake.tick()
    assert not Alert.objects.exists()


def test_a_rule_of_one_connection_leaves_the_others(lake: World) -> None:
    prod = Connection.objects.create(name="prod", region="eu-west-1")
    rule(connection=prod)
    lake.problems = [problem("a", connection=prod.pk), problem("b", connection=None, cause="other")]
    lake.tick()
    assert [alert.headline for alert in Alert.objects.all()] == ["a has a pending commit."]


def test_what_a_problem_names_is_told_beside_the_recipients_of_the_rule(lake: World, ops: Any) -> None:
    lake.problems = [problem(also_tell=(OWNER, "ops@acme.example"))]
    lake.tick()
    assert sorted(to for _, to, _ in lake.received) == ["ops", "owner"]


def test_without_recipients_the_operators_are_told_and_what_a_problem_names(lake: World) -> None:
    operator = person(Role.OPERATOR)
    operator.email = "op@acme.example"
    operator.save()
    rule()
    lake.problems = [problem(also_tell=(OWNER,))]
    lake.tick()
    assert sorted(to for _, to, _ in lake.received) == ["op", "owner"]


def test_who_stopped_mails_gets_none_although_named(lake: World) -> None:
    rule(remind_hours=1)
    lake.problems = [problem(also_tell=(OWNER,))]
    lake.tick()
    assert stop_mails(Actor.command(), OWNER.upper())
    lake.tick(minutes=120)
    assert [to for _, to, _ in lake.received] == ["owner"]
    assert not stop_mails(Actor.command(), "stranger@acme.example")


def test_whoever_heard_of_the_beginning_hears_of_the_end(lake: World, ops: Any) -> None:
    ops.escalate_hours = 1
    ops.save()
    ops.escalate_to.add(address("boss"))
    lake.problems = [problem()]
    lake.run(MONDAY + timedelta(hours=2))
    lake.problems = []
    lake.run(MONDAY + timedelta(hours=3))
    assert sorted(to for _, to, subject in lake.received if subject.startswith("resolved")) == ["boss", "ops"]


def test_what_is_over_before_the_quiet_hours_is_never_told(lake: World, ops: Any) -> None:
    ops.quiet_from, ops.quiet_until = time(20), time(7)
    ops.save()
    lake.run(MONDAY + timedelta(hours=13))
    lake.problems = [problem()]
    lake.tick()
    lake.problems = []
    lake.run(MONDAY + timedelta(hours=26))
    assert lake.received == []
    assert Message.objects.get().state == "dropped"
