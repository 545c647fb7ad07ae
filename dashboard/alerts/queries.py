"""Reading alerts, rules, recipients and messages for pages and commands."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, TypedDict

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from dashboard.accounts.scope import seen
from dashboard.accounts.search import Search
from dashboard.alerts.models import Alert, AlertState, Member
from dashboard.commands import document_of
from dashboard.web.navigation import Counted
from dashboard.web.paging import Column, Page, Sort, keyset_page

WORST = Sort("worst", (Column("rank"), Column("since"), Column("id")))
NEWEST = Sort("newest", (Column("opened_at", descending=True), Column("id", descending=True)))
MEMBERS_SHOWN = 50
MOST_COUNTED = 1_000


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """Which alerts a list shows: of a state, or `active` (open and acknowledged); of `connection` and of none.

    Empty fields do not narrow. `q` is a part of a title, headline or name, or the code of a finding.
    """

    state: str = "active"
    q: str = ""
    severity: str = ""
    kind: str = ""
    connection: int | None = None

    @property
    def narrows(self) -> bool:
        return bool(self.q or self.severity or self.kind)


def alerts(chosen: AlertFilter) -> QuerySet[Alert]:
    """Return the alerts that `chosen` lets through, in no order."""
    rows = Alert.objects.select_related("connection", "rule")
    if chosen.state == "active":
        rows = rows.filter(state__in=[AlertState.OPEN, AlertState.ACKNOWLEDGED])
    elif chosen.state:
        rows = rows.filter(state=chosen.state)
    if chosen.connection is not None:
        rows = rows.filter(Q(connection=chosen.connection) | Q(connection=None))
    exact = {"severity": chosen.severity, "kind": chosen.kind}
    rows = rows.filter(**{field: value for field, value in exact.items() if value})
    if not chosen.q:
        return rows
    of_a_member = Member.objects.filter(alert=OuterRef("pk"), headline__icontains=chosen.q)
    words = Q(title__icontains=chosen.q) | Q(headline__icontains=chosen.q) | Q(code__iexact=chosen.q)
    return rows.filter(words | Exists(of_a_member))


def alert_page(chosen: AlertFilter, after: str, size: int) -> Page[Alert]:
    """One page: worst first, then longest open; what is resolved newest first."""
    sort = NEWEST if chosen.state == AlertState.RESOLVED else WORST
    return keyset_page(alerts(chosen), sort, after, size)


def counts(chosen: AlertFilter) -> dict[str, int]:
    """Return how many alerts that the other filters let through are in each state, and of `active`; of the resolved
    ones, which only grow, no more than MOST_COUNTED + 1."""
    active = alerts(replace(chosen, state="active"))
    found = dict(active.order_by().values_list("state").annotate(number=Count("pk")))
    resolved = alerts(replace(chosen, state=AlertState.RESOLVED)).order_by()[: MOST_COUNTED + 1].count()
    return {**found, "active": sum(found.values()), AlertState.RESOLVED.value: resolved}


def find_alerts(search: Search) -> QuerySet[Alert]:
    """Those that the list finds and that are not resolved, worst first; without words only those that are open."""
    connection = search.connection.pk if search.connection else None
    rows = alerts(AlertFilter("active" if search.words else "open", search.words, connection=connection))
    return (rows & seen(search.request, Alert)).order_by("rank", "since", "id")


def _open_by_severity(connection: int | None) -> QuerySet[Alert, Any]:
    still_open = alerts(AlertFilter("open", connection=connection))
    return still_open.order_by().values(key=F("severity")).annotate(number=Count("pk"))


COUNTED = Counted(_open_by_severity, {"critical": "critical", "warning": "attention", "info": "attention"}, in_all=True)


class AlertJson(TypedDict):
    """An alert in `alerts --json`."""

    id: int
    kind: Annotated[str, "table-finding"]
    state: str
    severity: Annotated[str, "info | warning | critical"]
    title: str
    code: Annotated[str, "C7"]
    headline: str
    next_step: str
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
    return document_of(AlertJson, alert, connection=alert.connection.name if alert.connection else None)
