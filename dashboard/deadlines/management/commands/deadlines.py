"""`levee deadlines`: what will be lost or break, and by when."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Q
from django.utils import timezone

from dashboard.commands import JsonCommand, UsageError, columns
from dashboard.deadlines.judging import JUDGED_FOR, judge
from dashboard.deadlines.queries import as_document, dues
from dashboard.web.states import look_of


class Command(JsonCommand):
    """Judge what is known now and print it, soonest first; what could not be read comes last."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--days", type=int, default=JUDGED_FOR.days, help="how far ahead; 90, the most, by default")

    def handle(self, *args: Any, **options: Any) -> None:
        now, days = timezone.now(), options["days"]
        if not 1 <= days <= JUDGED_FOR.days:
            raise UsageError(f"--days is {days}: write a number from 1 to {JUDGED_FOR.days}.")
        judge(now)
        until = now + timedelta(days=days)
        rows = list(dues().filter(Q(at=None) | Q(at__lt=until)).select_related("connection"))
        cells = [
            (f"{due.at:%F %H:%M}" if due.at else None, look_of(due.state).word, due.happens, due.subject, due.stops)
            for due in rows
        ]
        headers = ("BY (UTC)", "STATE", "WHAT HAPPENS", "WHERE", "WHAT STOPS IT")
        none = f"Nothing that Levee has read is lost by waiting, up to {until:%Y-%m-%d}."
        self.emit([as_document(due) for due in rows], columns(headers, cells) if rows else none)
