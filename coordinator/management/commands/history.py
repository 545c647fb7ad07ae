"""`levee history URI`: what happened to one table."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from coordinator.contract import HistoryJson
from coordinator.history_chart import Window, moment
from coordinator.lookup import find_table
from coordinator.protocols.deadlines import read_moment
from coordinator.queries.history import MOST, document, events_of, listed
from dashboard.commands import JsonCommand, UsageError, columns
from dashboard.connections.lookup import connection_named


class Command(JsonCommand):
    """Print what the database holds of the time until now; reads no AWS."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("uri", help="s3a://bucket/path; s3:// and s3n:// name the same table")
        parser.add_argument("--since", metavar="MOMENT", help="ISO 8601, UTC without a zone; 7 days ago by default")
        parser.add_argument("--connection", metavar="NAME", help="where several connections see the same bucket")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        since = read_moment(options["since"]) if options["since"] else now - timedelta(days=7)
        if since is None or since >= now:
            raise UsageError(f"--since is {options['since']!r}: write a moment of the past, such as 2026-11-20T09:00.")
        table = find_table(options["uri"], connection_named(options["connection"]) if options["connection"] else None)
        window = Window(since, now)
        events = events_of(table, window, sees_audit=True)
        rows, cut = listed(events, window, "all"), [kind for kind, same in events.items() if len(same) == MOST]
        data = HistoryJson(uri=table.uri, since=since, until=now, cut=cut, events=[document(event) for event in rows])
        lines = columns(
            ("AT (UTC)", "KIND", "STATE", "WHAT HAPPENED", "BY"),
            [(f"{moment(row.at)}", row.kind, row.state, row.says, row.by) for row in rows],
        )
        text = lines if rows else [f"Nothing is known to have happened to {table.uri} since {moment(since)} UTC."]
        self.emit(data, [*text, *(f"Only the newest {MOST:,} of the kind {kind}." for kind in cut)])
