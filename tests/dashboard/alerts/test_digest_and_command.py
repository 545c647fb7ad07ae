"""The digest, and the alerts on the command line."""

from datetime import timedelta

import pytest
from django.core.management import CommandError

from dashboard.alerts.digest import digest_of, queue_digests
from dashboard.alerts.models import Alert, Message
from dashboard.alerts.queries import AlertJson
from tests.dashboard.alerts.test_mail import HOSTILE, alert
from tests.dashboard.alerts.week import MONDAY, address
from tests.json_types import missing, printed

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def test_each_digest_is_queued_once_a_day_or_a_week() -> None:
    address("daily", digest="daily")
    address("weekly", digest="weekly")
    address("never")
    now = MONDAY - timedelta(hours=8)
    while now < MONDAY + 8 * DAY:
        queue_digests(now)
        now += timedelta(hours=1)
    queued = [message.address.partition("@")[0] for message in Message.objects.all()]
    assert (queued.count("daily"), queued.count("weekly"), queued.count("never")) == (9, 2, 0)


def test_nothing_is_queued_before_its_hour() -> None:
    address("daily", digest="daily")
    assert queue_digests(MONDAY.replace(hour=5, minute=59)) == 0


def test_a_digest_lists_the_worst_first_and_what_ended() -> None:
    alert(cause="a", severity="warning", headline="A warning.")
    alert(cause="b", severity="critical", headline="A loss.")
    alert(cause="c", headline="An end.", resolved_at=MONDAY)
    subject, text = digest_of(MONDAY - DAY, MONDAY)
    assert subject == "[Levee] 2 active, 1 resolved since 15 Nov 08:00 UTC"
    assert text.index("A loss.") < text.index("A warning.") < text.index("An end.")


def test_hostile_text_adds_no_line() -> None:
    alert(headline=HOSTILE)
    assert "\nBcc:" not in digest_of(MONDAY - DAY, MONDAY)[1]


def test_the_command_lists_what_is_not_over() -> None:
    alert(cause="a", headline="Open.")
    alert(cause="b", headline="Over.", state="resolved", resolved_at=MONDAY)
    assert [row["headline"] for row in printed("alerts")] == ["Open."]
    assert not missing(printed("alerts"), list[AlertJson])
    assert [row["headline"] for row in printed("alerts", "--state", "resolved")] == ["Over."]


def test_the_command_acknowledges() -> None:
    done = printed("alerts", "--acknowledge", str(alert().pk), "--reason", "We know.", "--hours", "2")
    assert done["state"] == "acknowledged"
    assert Alert.objects.get().acknowledged_by == "command"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--acknowledge", "999", "--reason", "x"), 1),
        (("--acknowledge", "1"), 2),
        (("--acknowledge", "1", "--reason", "x", "--hours", "0"), 2),
        (("--limit", "0"), 2),
    ],
)
def test_a_mistake_is_said_with_its_exit_code(words: tuple[str, ...], code: int) -> None:
    with pytest.raises(CommandError) as caught:
        printed("alerts", *words)
    assert caught.value.returncode == code
