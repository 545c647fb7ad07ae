"""Reading alerts, rules, recipients and messages for pages and commands."""

from datetime import datetime
from typing import Annotated, Any, TypedDict

from django.db.models import Count, Q, QuerySet

from dashboard.alerts.models import Alert, Message, Recipient, Rule
from dashboard.web.navigation import NavCount
from dashboard.web.paging import Column, Page, Sort, keyset_page

NEWEST = Sort("newest", (Column("opened_at", descending=True), Column("id", descending=True)))
NEWEST_MESSAGE = Sort("newest", (Column("id", descending=True),))
MEMBERS_SHOWN = 50


def alerts(state: str, connection: int | None) -> QuerySet[Alert]:
    """Return alerts of a state, or of `active`: open and acknowledged; of a connection they or none belong to."""
    rows = Alert.objects.select_related("connection", "rule")
    if state == "active":
        rows = rows.filter(resolved_at=None)
    elif state:
        rows = rows.filter(state=state)
    return rows.filter(Q(connection=connection) | Q(connection=None)) if connection is not None else rows


def alert_page(state: str, connection: int | None, after: str, size: int) -> Page[Alert]:
    return keyset_page(alerts(state, connection), NEWEST, after, size)


def message_page(state: str, after: str, size: int) -> Page[Message]:
    rows = Message.objects.select_related("alert", "recipient")
    return keyset_page(rows.filter(state=state) if state else rows, NEWEST_MESSAGE, after, size)


def counts(connection: int | None) -> dict[str, int]:
    """Return how many alerts are in each state."""
    rows = alerts("", connection).order_by().values_list("state").annotate(number=Count("pk"))
    return dict(rows)


def rules() -> QuerySet[Rule]:
    return Rule.objects.select_related("connection").prefetch_related("recipients").order_by("kind", "name")


def recipients() -> QuerySet[Recipient]:
    return Recipient.objects.select_related("user").annotate(number_of_rules=Count("rules"))


def nav_count(connection: int | None) -> NavCount | None:
    """Return the number of open alerts, in the state of the worst."""
    found = dict(alerts("open", connection).order_by().values_list("severity").annotate(number=Count("pk")))
    total = sum(found.values())
    return NavCount("critical" if "critical" in found else "attention", total) if total else None


class AlertJson(TypedDict):
    """An alert in `alerts --json`."""

    id: int
    kind: Annotated[str, "table-finding"]
    state: str
    severity: Annotated[str, "info | warning | critical"]
    headline: str
    count: Annotated[int, 1]
    connection: Annotated[str | None, "prod"]
    since: datetime
    opened_at: datetime
    resolved_at: datetime | None
    acknowledged_by: str
    acknowledged_until: datetime | None
    reason: str


def as_document(alert: Alert) -> AlertJson:
    """Return an alert as the command prints it."""
    return {
        "id": alert.pk,
        "kind": alert.kind,
        "state": alert.state,
        "severity": alert.severity,
        "headline": alert.headline,
        "count": alert.count,
        "connection": alert.connection.name if alert.connection else None,
        "since": alert.since,
        "opened_at": alert.opened_at,
        "resolved_at": alert.resolved_at,
        "acknowledged_by": alert.acknowledged_by,
        "acknowledged_until": alert.acknowledged_until,
        "reason": alert.reason,
    }


def lasted(alert: Alert, now: datetime) -> Any:
    return (alert.resolved_at or now) - alert.since
