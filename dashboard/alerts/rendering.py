"""What a message says: subject, plain text and HTML, made at the moment it is sent."""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.template.loader import render_to_string

from dashboard.alerts.models import Alert, Message
from dashboard.web.states import look_of
from dashboard.web.text import duration, shortened, utc

SHOWN_MEMBERS = 20
SHOWN_ALERTS = 50
LONGEST_SUBJECT = 89
_TONES = {"critical": "#b0241c", "warning": "#8a5a00", "info": "#42484e", "resolved": "#1f6b3a"}
_MARKS = {"critical": "✕", "warning": "!", "info": "i", "resolved": "✓"}
_PREFIXES: dict[str, str] = {
    Message.Reason.OPENED: "",
    Message.Reason.WORSE: "Worse: ",
    Message.Reason.REMINDER: "Still: ",
    Message.Reason.ESCALATED: "Not taken up: ",
    Message.Reason.RESOLVED: "Resolved: ",
}
TEST_SENTENCE = "This is a test of Levee's mails. It arrived: nothing has to be done."


def render(messages: Sequence[Message], now: datetime) -> None:
    """Put subject, text and HTML into the first of the messages that are one mail; it is not saved.

    They tell of all their alerts, worst first. Digests come with their text.
    """
    message = messages[0]
    if message.reason == Message.Reason.TEST:
        message.subject, message.text, message.html = "[Levee] A test", f"{TEST_SENTENCE}\n", ""
    told = {one.alert: one.reason for one in messages if one.alert is not None}
    if not told:
        return
    worst_first = sorted(told, key=lambda alert: (alert.is_resolved, alert.rank, alert.since, alert.pk))
    contents = [content_of(alert, told[alert], now) for alert in worst_first[:SHOWN_ALERTS]]
    first = worst_first[0]
    head = f"[Levee] {look_of(first.severity).word}: "
    if len(told) == 1:
        message.subject = shortened(f"{head}{contents[0]['prefix']}{first.name}", LONGEST_SUBJECT)
        message.text = render_to_string("alerts/mail.txt", {"mail": contents[0]})
        message.html = render_to_string("alerts/mail.html", {"mail": contents[0]})
        return
    message.subject = shortened(f"{head}{len(told):,} alerts, first: {first.name}", LONGEST_SUBJECT)
    more, url = len(told) - len(contents), f"{settings.PUBLIC_URL}/alerts/"
    several = {"mails": contents, "count": len(told), "more": more, "alerts_url": url}
    message.text = render_to_string("alerts/several.txt", several)
    message.html = render_to_string("alerts/several.html", several)


def content_of(alert: Alert, reason: str, now: datetime) -> dict[str, object]:
    """Return what the templates of mails show of an alert now; of one that is over nothing is to be done."""
    look = "resolved" if alert.is_resolved else alert.severity
    members = alert.members.values_list("headline", flat=True)[:SHOWN_MEMBERS] if alert.count > 1 else ()
    hours = alert.rule.remind_hours if alert.rule else 0
    todo = {name: "" if alert.is_resolved else getattr(alert, name) for name in ("advice", "next_step", "warning")}
    return todo | {
        "alert": alert,
        "status": status_line(alert, now),
        "tone": _TONES[look],
        "mark": _MARKS[look],
        "prefix": _PREFIXES.get(reason, ""),
        "place": f"{alert.connection.name}, {alert.connection.region}" if alert.connection else "",
        "members": tuple(members),
        "more": max(alert.count - len(members), 0) if members else 0,
        "url": f"{settings.PUBLIC_URL}{alert.path or f'/alerts/{alert.pk}/'}",
        "alert_url": f"{settings.PUBLIC_URL}/alerts/{alert.pk}/",
        "stop_url": f"{settings.PUBLIC_URL}/me/alerts/",
        "remind": f"One reminder every {hours} hours while it is active, one mail when it is over." if hours else "",
    }


def status_line(alert: Alert, now: datetime) -> str:
    """Say the state, since when and for how long: "Critical since 09:01 UTC, 41 min"."""
    length = duration((alert.resolved_at or now) - alert.since)
    if alert.is_resolved:
        return f"Resolved after {length}"
    since = utc(alert.since)
    day = "" if since.date() == utc(now).date() else f"{since:%d %b} "
    again = " again" if alert.returned_from else ""
    return f"{look_of(alert.severity).word}{again} since {day}{since:%H:%M} UTC, {length}"
