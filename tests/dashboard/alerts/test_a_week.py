"""A week in minutes: problems open, remind, escalate, end and return while parts die; the log is exactly what it should
be, with two beats all along."""

from datetime import timedelta

import pytest

from dashboard.alerts.models import Alert, Message
from tests.dashboard.alerts.week import MONDAY, World, address, problem, rule

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.mark.slow
def test_a_week_is_told_exactly(lake: World) -> None:
    found = rule(remind_hours=12, escalate_hours=20)
    found.recipients.add(address("ops"))
    found.escalate_to.add(address("boss"))

    lake.problems = [problem("orders")]
    lake.run(MONDAY + 26 * HOUR, beats=2)  # opened, a reminder, escalated
    lake.problems = []
    lake.run(MONDAY + 27 * HOUR, beats=2)  # over
    lake.is_broken = True
    lake.run(MONDAY + 2 * DAY, beats=2)  # Redis is away: nothing is seen, nothing ends
    lake.is_broken = False
    lake.problems = [problem("orders")]
    lake.mail_is_down = True
    lake.run(MONDAY + 2 * DAY + 5 * HOUR, beats=2)  # returned, but the mail server is down
    lake.mail_is_down = False
    lake.run(MONDAY + 2 * DAY + 8 * HOUR, beats=2)  # it is told late, and once
    Alert.objects.filter(resolved_at=None).update(
        state="acknowledged", acknowledged_until=MONDAY + 5 * DAY, acknowledged_by="maya"
    )
    lake.run(MONDAY + 6 * DAY, beats=2)  # silent until the acknowledgement ends, then reminded
    lake.problems = []
    lake.run(MONDAY + 7 * DAY, beats=2)

    assert [(when, to, what.partition(":")[0]) for when, to, what in lake.received] == [
        ("Mon 08:10", "ops", "opened"),
        ("Mon 20:10", "ops", "reminder"),
        ("Tue 04:10", "ops", "escalated"),
        ("Tue 04:10", "boss", "escalated"),
        ("Tue 10:20", "ops", "resolved"),
        ("Tue 10:20", "boss", "resolved"),
        ("Wed 13:50", "ops", "opened"),
        ("Sat 08:00", "ops", "reminder"),
        ("Sat 20:00", "ops", "reminder"),
        ("Sun 04:00", "ops", "escalated"),
        ("Sun 04:00", "boss", "escalated"),
        ("Sun 08:20", "ops", "resolved"),
        ("Sun 08:20", "boss", "resolved"),
    ]
    assert set(Message.objects.values_list("state", flat=True)) == {"sent"}
    assert Alert.objects.first().returned_from == Alert.objects.last()
