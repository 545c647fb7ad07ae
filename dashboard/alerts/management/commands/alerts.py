"""`levee alerts`: what is open, and acknowledging it."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard.accounts.actor import Actor
from dashboard.alerts.actions import NotNow, acknowledge
from dashboard.alerts.forms import MOST_HOURS
from dashboard.alerts.models import Alert, AlertState
from dashboard.alerts.queries import AlertFilter, alerts, as_document
from dashboard.commands import Failed, JsonCommand, UsageError, columns
from dashboard.web.states import look_of


class Command(JsonCommand):
    """Print alerts, newest first; with --acknowledge nobody is reminded of one for a time."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--state", default="active", choices=("active", *AlertState.values))
        parser.add_argument("--limit", type=int, default=50, help="how many; 50 by default")
        parser.add_argument("--acknowledge", type=int, metavar="ALERT", help="the number of the alert to acknowledge")
        parser.add_argument("--reason", default="", help="why nobody is to be reminded")
        parser.add_argument("--hours", type=int, default=24, help=f"for how long, 1 to {MOST_HOURS}")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["acknowledge"] is not None:
            self._acknowledge(options["acknowledge"], options["reason"].strip(), options["hours"])
            return
        if options["limit"] < 1:
            raise UsageError(f"--limit is {options['limit']}: write a number above zero.")
        rows = list(alerts(AlertFilter(options["state"])).order_by("-opened_at", "-pk")[: options["limit"]])
        self.emit([as_document(alert) for alert in rows], _as_text(rows))

    def _acknowledge(self, number: int, reason: str, hours: int) -> None:
        if not reason:
            raise UsageError("Say why with --reason.")
        if not 1 <= hours <= MOST_HOURS:
            raise UsageError(f"--hours is {hours}: write a number from 1 to {MOST_HOURS}.")
        alert = Alert.objects.select_related("connection").filter(pk=number).first()
        if alert is None:
            raise Failed(f"There is no alert {number}.")
        try:
            acknowledge(Actor.command(), alert, reason, timezone.now() + timedelta(hours=hours))
        except NotNow as error:
            raise Failed(str(error)) from error
        alert.refresh_from_db()
        self.emit(as_document(alert), f"Alert {number} is acknowledged for {hours} hours.")


def _as_text(rows: list[Alert]) -> list[str]:
    cells = [
        (row.pk, row.severity, look_of(row.state).word.lower(), f"{row.opened_at:%F %H:%M}", row.count, row.headline)
        for row in rows
    ]
    headers = ("ALERT", "SEVERITY", "STATE", "OPENED (UTC)", "PROBLEMS", "HEADLINE")
    return columns(headers, cells) if rows else ["No alerts."]
