"""The digest: once a day or a week, what is active, what ended, and what was sent, in one mail to each who wants it."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count
from django.template.loader import render_to_string

from dashboard.alerts.models import Alert, Message, Recipient
from dashboard.alerts.outbox import destinations_of, message_to

LISTED = 25
DigestSection = Callable[[datetime, datetime], str]
_sections: dict[str, DigestSection] = {}


def register_section(name: str, section: DigestSection) -> None:
    """Let an app say its own in each digest: plain text of what happened between two moments, "" for nothing."""
    _sections[name] = section


def queue_digests(now: datetime) -> int:
    """Queue the digests of today, and on Mondays of the week, to whoever wants them; returns how many.

    Called often: the number of a digest is its date, and the row of a message is queued once. Nothing is queued before
    settings.DIGEST_HOUR (UTC).
    """
    if now.hour < settings.DIGEST_HOUR:
        return 0
    queued = _queue(Recipient.Digest.DAILY, timedelta(days=1), now)
    return queued + (_queue(Recipient.Digest.WEEKLY, timedelta(days=7), now) if now.weekday() == 0 else 0)


def _queue(often: Recipient.Digest, length: timedelta, now: datetime) -> int:
    wanting = Recipient.objects.filter(digest=often, is_stopped=False).select_related("user")
    places = [(recipient, place) for recipient in wanting for place in destinations_of(recipient)]
    number = f"{often}:{now:%Y-%m-%d}"
    known = set(
        Message.objects.filter(alert=None, reason=Message.Reason.DIGEST, number=number).values_list(
            "channel", "address"
        )
    )
    places = [(recipient, place) for recipient, place in places if (place.channel, place.address) not in known]
    if not places:
        return 0
    subject, text = digest_of(now - length, now)
    messages = [
        message_to(place, Message.Reason.DIGEST, number, now, recipient=recipient, subject=subject, text=text)
        for recipient, place in places
    ]
    return len(Message.objects.bulk_create(messages, ignore_conflicts=True))


def digest_of(since: datetime, now: datetime) -> tuple[str, str]:
    """Return subject and text of a digest about what happened since."""
    is_open = Alert.objects.filter(resolved_at=None)
    ended = Alert.objects.filter(resolved_at__gte=since).order_by("resolved_at")
    sent = Message.objects.filter(finished_at__gte=since).order_by().values_list("state").annotate(number=Count("pk"))
    content = {
        "since": since,
        "open": is_open.order_by("rank", "opened_at")[:LISTED],
        "open_count": is_open.count(),
        "ended": ended[:LISTED],
        "ended_count": ended.count(),
        "sent": dict(sent),
        "sections": [text for section in _sections.values() if (text := section(since, now))],
        "url": settings.PUBLIC_URL,
    }
    subject = "[Levee] {open_count:,} active, {ended_count:,} resolved since {since:%d %b %H:%M} UTC"
    return subject.format(**content), render_to_string("alerts/digest.txt", content)
