"""One look at everything that is wrong: alerts open, change, are reminded of, escalate and end.

Two looks at once do no harm: an alert is opened by an INSERT that a constraint guards, every other change is an UPDATE
that names what it found, and a message is queued once. Nothing is sent here.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, Q

from dashboard.alerts import outbox
from dashboard.alerts.matching import ProblemGroup, groups_of
from dashboard.alerts.models import Alert, AlertState, Member, Message, MessageState, Rule
from dashboard.alerts.problems import SEVERITIES, Problem, ProblemReport, look

SETTLES_AFTER = timedelta(minutes=5)
"""An alert is over when none of its problems was seen for this long: what flickers is one alert."""
MOST_NAMED = 5
"""So many of an alert's problems are named where it is listed."""

logger = logging.getLogger(__name__)


def evaluate(now: datetime) -> None:
    """Compare what is wrong with what is open, and queue what people are to be told."""
    seen = look(now)
    for kind, reason in seen.failed.items():
        logger.error("What is wrong of the kind %s could not be read: %s", kind, reason)
    groups = groups_of(seen.problems, list(Rule.objects.all()))
    for group in groups:
        alert = Alert.objects.filter(rule=group.rule, cause=group.cause, resolved_at=None).first()
        if alert is None:
            _open(group, now)
        else:
            _refresh(alert, group, now)
    _settle(groups, seen, now)
    _end_acknowledgements(now)
    _remind(now)
    _escalate(now)


def _open(group: ProblemGroup, now: datetime) -> None:
    first = group.first
    alert = Alert(
        rule=group.rule,
        kind=first.kind,
        cause=group.cause,
        connection_id=first.connection,
        since=first.since,
        opened_at=now,
        told_at=now,
        unattended_since=now,
        **_texts(group),
    )
    with suppress(IntegrityError), transaction.atomic():  # another look may be faster
        alert.save(force_insert=True)
        Member.objects.bulk_create([_member(alert, problem) for problem in group.problems], batch_size=500)
        outbox.queue(alert, Message.Reason.OPENED, 1, now)


def _refresh(alert: Alert, group: ProblemGroup, now: datetime) -> None:
    """Bring texts and members up to date; worse than it was is told at once."""
    is_worse = SEVERITIES.index(group.severity) > SEVERITIES.index(alert.severity)
    with transaction.atomic():
        changed = Alert.objects.filter(pk=alert.pk, resolved_at=None).update(quiet_since=None, **_texts(group))
        if not changed:
            return
        _refresh_members(alert, group.problems, now)
        if is_worse:
            Alert.objects.filter(pk=alert.pk).update(state=AlertState.OPEN, acknowledged_until=None, told_at=now)
            alert.refresh_from_db()
            outbox.queue(alert, Message.Reason.WORSE, SEVERITIES.index(group.severity), now)


def _refresh_members(alert: Alert, problems: Sequence[Problem], now: datetime) -> None:
    known = dict(alert.members.values_list("key", "gone_at"))
    present = {problem.key for problem in problems}
    fresh = [_member(alert, problem) for problem in problems if problem.key not in known]
    Member.objects.bulk_create(fresh, batch_size=500, ignore_conflicts=True)
    back = [key for key, gone_at in known.items() if gone_at is not None and key in present]
    gone = [key for key, gone_at in known.items() if gone_at is None and key not in present]
    for keys, gone_at in ((back, None), (gone, now)):
        for start in range(0, len(keys), 500):
            alert.members.filter(key__in=keys[start : start + 500]).update(gone_at=gone_at)


def _settle(groups: Sequence[ProblemGroup], seen: ProblemReport, now: datetime) -> None:
    """End the alerts whose problems are gone for long enough. A source that failed ends none."""
    present = {(group.rule.pk, group.cause) for group in groups}
    for alert in Alert.objects.filter(resolved_at=None).exclude(kind__in=seen.failed):
        if (alert.rule_id, alert.cause) in present:
            continue
        if alert.quiet_since is None:
            Alert.objects.filter(pk=alert.pk, quiet_since=None, resolved_at=None).update(quiet_since=now)
        elif now - alert.quiet_since >= SETTLES_AFTER:
            _resolve(alert, now)


def _resolve(alert: Alert, now: datetime) -> None:
    as_seen = Q(resolved_at=None, quiet_since=alert.quiet_since)
    with transaction.atomic():
        if not Alert.objects.filter(as_seen, pk=alert.pk).update(state=AlertState.RESOLVED, resolved_at=now):
            return
        alert.members.filter(gone_at=None).update(gone_at=now)
        # Who has not heard of it yet need not hear of it any more.
        waiting = alert.messages.filter(state=MessageState.WAITING)
        waiting.update(state=MessageState.DROPPED, finished_at=now, error="It was over before this was due.")
        alert.refresh_from_db()
        outbox.queue(alert, Message.Reason.RESOLVED, 1, now)


def _end_acknowledgements(now: datetime) -> None:
    """An acknowledgement that has ended leaves its alert open, and due for a reminder."""
    over = Q(state=AlertState.ACKNOWLEDGED, acknowledged_until__lte=now, resolved_at=None)
    for alert in Alert.objects.filter(over):
        as_seen = over & Q(acknowledged_until=alert.acknowledged_until)
        again = {"reminders": F("reminders") + 1, "state": AlertState.OPEN, "unattended_since": now}
        _tell_once(alert, as_seen, Message.Reason.REMINDER, now, again)


def _remind(now: datetime) -> None:
    """Remind of what is open, is still seen and was last told of a rule's `remind_hours` ago."""
    open_alerts = Alert.objects.filter(state=AlertState.OPEN, quiet_since=None, rule__remind_hours__gt=0)
    for alert in open_alerts.select_related("rule"):
        if alert.rule and now - alert.told_at >= timedelta(hours=alert.rule.remind_hours):
            as_seen = Q(state=AlertState.OPEN, told_at=alert.told_at)
            _tell_once(alert, as_seen, Message.Reason.REMINDER, now, {"reminders": F("reminders") + 1})


def _escalate(now: datetime) -> None:
    """Tell others of what nobody has taken up for a rule's `escalate_hours`. Once an alert."""
    waiting = Q(state=AlertState.OPEN, escalated_at=None)
    for alert in Alert.objects.filter(waiting, quiet_since=None, rule__escalate_hours__gt=0).select_related("rule"):
        if alert.rule and now - alert.unattended_since >= timedelta(hours=alert.rule.escalate_hours):
            _tell_once(alert, waiting, Message.Reason.ESCALATED, now, {"escalated_at": now})


def _tell_once(alert: Alert, as_seen: Q, reason: Message.Reason, now: datetime, changes: Mapping[str, object]) -> None:
    """Change the alert and queue what tells of it, unless another look was faster: it is no more `as_seen` then."""
    with transaction.atomic():
        if Alert.objects.filter(as_seen, pk=alert.pk).update(told_at=now, **changes):
            alert.refresh_from_db()
            outbox.queue(alert, reason, alert.reminders if reason is Message.Reason.REMINDER else 1, now)


def _texts(group: ProblemGroup) -> dict[str, object]:
    first, is_one = group.first, len(group.problems) == 1
    return {
        "severity": group.severity,
        "rank": SEVERITIES[::-1].index(group.severity),
        "title": group.title[:100],
        "code": first.code[:60],
        "headline": group.headline,
        "next_step": group.next_step[:400],
        "subjects": [
            [one.subject, one.subject_path or one.path.partition("#")[0]] for one in group.problems[:MOST_NAMED]
        ],
        "meaning": first.meaning,
        "advice": first.advice or first.next_step,
        "warning": first.warning,
        "facts": [list(fact) for fact in first.facts],
        "path": first.path[:400] if is_one else "",
        "link": first.link[:100] if is_one else "",
        "also_tell": sorted({address for problem in group.problems for address in problem.also_tell}),
        "count": len(group.problems),
    }


def _member(alert: Alert, problem: Problem) -> Member:
    return Member(
        alert=alert,
        key=problem.key[:300],
        severity=problem.severity,
        headline=problem.headline[:400],
        path=problem.path[:400],
        since=problem.since,
    )
