"""`levee audit`: what was done, newest first."""

from typing import Any

from django.core.management.base import CommandParser

from dashboard.audit.models import AuditEntry
from dashboard.audit.queries import OUTCOMES, AuditFilter, as_document, audit_page
from dashboard.commands import JsonCommand, UsageError, columns

LARGEST_LIMIT = 10_000


class Command(JsonCommand):
    """Print the newest entries."""

    help = "Show the audit log, newest first."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--limit", type=int, default=50, help="how many entries; 50 by default")
        parser.add_argument(
            "--action", default="", help="one action, such as lake.observe; lake. means all of the lake"
        )
        parser.add_argument("--actor", default="", help="one person's name, command or schedule")
        parser.add_argument("--outcome", default="", choices=OUTCOMES)

    def handle(self, *args: Any, **options: Any) -> None:
        limit: int = options["limit"]
        if not 1 <= limit <= LARGEST_LIMIT:
            raise UsageError(f"--limit is {limit}: write a number from 1 to {LARGEST_LIMIT:,}.")
        wanted = AuditFilter(actor=options["actor"], action=options["action"], outcome=options["outcome"])
        entries = audit_page(wanted, "", limit).rows
        self.emit([as_document(entry) for entry in entries], _as_text(entries))


def _as_text(entries: tuple[AuditEntry, ...]) -> list[str]:
    rows = [
        (
            f"{entry.at:%Y-%m-%d %H:%M:%S}",
            entry.actor_name,
            entry.action,
            entry.outcome,
            entry.target_label,
            entry.detail,
        )
        for entry in entries
    ]
    return columns(("AT (UTC)", "ACTOR", "ACTION", "OUTCOME", "TARGET", "DETAIL"), rows) if rows else ["No entries."]
