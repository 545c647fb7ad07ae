"""What is due, soonest first, of one connection or of all: for pages, mails and the command."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, TypedDict

from django.conf import settings
from django.db.models import F, Min, Q, QuerySet
from django.urls import reverse

from dashboard.commands import document_of
from dashboard.deadlines.models import Due, DueKind, DueSource
from dashboard.web.states import look_of
from dashboard.web.text import one_line

SOON = timedelta(days=7)
DAYS = 30
MOST_COUNTED = 100
"""How many of what is due soon are counted on other pages."""
LINES = 10


class DueJson(TypedDict):
    """A deadline in `deadlines --json`; `at` is null where the moment is not known."""

    key: Annotated[str, "table:7:entry"]
    kind: Annotated[str, "entry | file | backup | unknown"]
    at: datetime | None
    state: Annotated[str, "blocked | unsafe | attention | not_checked | info"]
    happens: str
    lost: str
    stops: str
    subject: Annotated[str, "sales.orders"]
    path: Annotated[str, "/tables/7/"]
    act_path: Annotated[str, "/tables/7/#steps"]
    connection: Annotated[str | None, "prod"]


@dataclass(frozen=True, slots=True)
class DueSoon:
    """What needs somebody within 7 days: how many, counted up to MOST_COUNTED, the first, and the worst state."""

    count: int
    first: Due
    worst: str

    @property
    def number(self) -> str:
        return f"At least {self.count}" if self.count == MOST_COUNTED else str(self.count)


def dues(connection: int | None = None, *, q: str = "", kind: str = "", day: str = "") -> QuerySet[Due]:
    """Return what is of a connection and what is everybody's, soonest first; what is not known comes last.

    `q` is a part of what is said, `day` is 2026-11-24 in UTC; empty texts do not narrow.
    """
    rows = Due.objects.order_by(F("at").asc(nulls_last=True), "key")
    if connection is not None:
        rows = rows.filter(Q(connection=connection) | Q(vault_connection=connection) | Q(connection=None))
    rows = rows.filter(**{name: value for name, value in (("kind", kind), ("at__date", day)) if value})
    words = ("happens", "lost", "stops", "subject")
    return rows.filter(Q.create([(f"{word}__icontains", q) for word in words], connector=Q.OR)) if q else rows


def due_soon(connection: int | None, now: datetime) -> DueSoon | None:
    """Return what needs somebody within 7 days, None for nothing: one query."""
    rows = list(_soon(connection, now)[:MOST_COUNTED])
    return DueSoon(len(rows), rows[0], _worst(due.state for due in rows)) if rows else None


def _soon(connection: int | None, now: datetime) -> QuerySet[Due]:
    return dues(connection).filter(at__lt=now + SOON).exclude(state="info")


def _worst(states: Iterable[str]) -> str:
    return min(states, key=lambda state: look_of(state).rank, default="")


def day_marks(rows: QuerySet[Due], now: datetime) -> list[tuple[date, int, str]]:
    """Return the 30 days from today on, with how many are due on each and the worst of their states."""
    by_day: defaultdict[date, list[str]] = defaultdict(list)
    for due in rows.filter(at__gte=now, at__lt=now + timedelta(days=DAYS)).only("at", "state"):
        if due.at is not None:
            by_day[due.at.date()].append(due.state)
    days = [now.date() + timedelta(days=place) for place in range(DAYS)]
    return [(day, len(by_day[day]), _worst(by_day[day])) for day in days]


def judged_at() -> datetime | None:
    """Return when the source that was judged longest ago was; None where none ever was."""
    found: datetime | None = DueSource.objects.aggregate(at=Min("judged_at"))["at"]
    return found


def digest_section(_since: datetime, now: datetime) -> str:
    """Return lines of plain text about the next 7 days; "" where nothing needs somebody."""
    rows = _soon(None, now)
    lines = [f"  {due.at:%d %b %H:%M} UTC  {one_line(due.happens)}: {one_line(due.subject)}" for due in rows[:LINES]]
    if not lines:
        return ""
    if more := rows.count() - len(lines):
        lines.append(f"  and {more:,} more")
    if unknown := dues(kind=DueKind.UNKNOWN).count():
        lines.append(f"  {unknown:,} more could not be read or judged")
    return "\n".join(["DUE WITHIN 7 DAYS", *lines, f"  {settings.PUBLIC_URL}{reverse('deadlines')}", ""])


def as_document(due: Due) -> DueJson:
    """Return a deadline as the command prints it."""
    return document_of(DueJson, due, connection=due.connection.name if due.connection else None)
