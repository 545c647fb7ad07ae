"""What a message says: subject, plain text and HTML, made at the moment it is sent."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.template.loader import render_to_string

from dashboard.alerts.models import Alert, Message
from dashboard.web.text import duration, utc

SHOWN_MEMBERS = 20
_WORDS = {"critical": "Critical", "warning": "Attention", "info": "Note"}
_TONES = {"critical": "#b0241c", "warning": "#8a5a00", "info": "#42484e", "resolved": "#1f6b3a"}
_MARKS = {"critical": "✕", "warning": "!", "info": "i", "resolved": "✓"}
_PREFIXES = {
    Message.Reason.OPENED: "",
    Message.Reason.WORSE: "Worse: ",
    Message.Reason.REMINDER: "Still: ",
    Message.Reason.ESCALATED: "Nobody has taken this up: ",
    Message.Reason.RESOLVED: "Over: ",
}
TEST_SENTENCE = "This is a test of Levee's mails. It arrived: nothing has to be done."


@dataclass(frozen=True)
class Content:
    """What the two templates show of an alert."""

    alert: Alert
    status: str
    tone: str
    mark: str
    prefix: str
    place: str
    members: tuple[str, ...]
    more: int
    url: str
    alert_url: str
    stop_url: str
    remind: str

    @property
    def advice(self) -> str:
        return "" if self.alert.is_resolved else self.alert.advice

    @property
    def warning(self) -> str:
        return "" if self.alert.is_resolved else self.alert.warning


def render(message: Message, now: datetime) -> None:
    """Put subject, text and HTML into the message; it is not saved. Digests come with their text."""
    if message.reason == Message.Reason.TEST:
        message.subject, message.text, message.html = "[Levee] A test", f"{TEST_SENTENCE}\n", ""
    if message.alert is None:
        return
    content = content_of(message.alert, message.reason, now)
    word = _WORDS.get(message.alert.severity, "Note")
    message.subject = f"[Levee] {word}: {content.prefix}{message.alert.headline}"[:400]
    message.text = render_to_string("alerts/mail.txt", {"mail": content})
    message.html = render_to_string("alerts/mail.html", {"mail": content})


def content_of(alert: Alert, reason: str, now: datetime) -> Content:
    """Return what a message about the alert shows now."""
    look = "resolved" if alert.is_resolved else alert.severity
    headlines = alert.members.values_list("headline", flat=True)[:SHOWN_MEMBERS]
    shown = tuple(headlines) if alert.count > 1 else ()
    hours = alert.rule.remind_hours if alert.rule else 0
    return Content(
        alert=alert,
        status=status_line(alert, now),
        tone=_TONES.get(look, _TONES["info"]),
        mark=_MARKS.get(look, "i"),
        prefix=_PREFIXES.get(Message.Reason(reason), ""),
        place=f"{alert.connection.name}, {alert.connection.region}" if alert.connection else "",
        members=shown,
        more=max(alert.count - len(shown), 0) if shown else 0,
        url=f"{settings.PUBLIC_URL}{alert.path}" if alert.path else "",
        alert_url=f"{settings.PUBLIC_URL}/alerts/{alert.pk}/",
        stop_url=f"{settings.PUBLIC_URL}/me/alerts/",
        remind=f"One reminder every {hours} hours while it is open, one mail when it is over." if hours else "",
    )


def status_line(alert: Alert, now: datetime) -> str:
    """Say the state, since when and for how long: "Critical since 09:01 UTC, 41 min"."""
    length = duration((alert.resolved_at or now) - alert.since)
    if alert.is_resolved:
        return f"Over after {length}"
    since = utc(alert.since)
    day = "" if since.date() == utc(now).date() else f"{since:%d %b} "
    again = " again" if alert.returned_from_id else ""
    return f"{_WORDS.get(alert.severity, 'Note')}{again} since {day}{since:%H:%M} UTC, {length}"
