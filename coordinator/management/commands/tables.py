"""`levee tables`: the list."""

from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Q

from coordinator.contract import TableLine
from coordinator.documents import table_lines
from coordinator.models import DeltaTable
from coordinator.protocols.verdict import State
from dashboard.commands import JsonCommand, columns
from dashboard.connections.lookup import connection_named


class Command(JsonCommand):
    """Print what the database holds, worst first; reads no AWS."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--state", choices=[state.value for state in State], help="only tables in this state")
        parser.add_argument("--search", metavar="TEXT", help="only tables whose name, path or id holds this text")
        parser.add_argument("--connection", metavar="NAME", help="only tables of this connection")
        parser.add_argument("--gone", action="store_true", help="also tables that have vanished")

    def handle(self, *args: Any, **options: Any) -> None:
        tables = DeltaTable.objects.all()
        if not options["gone"]:
            tables = tables.filter(gone_at=None)
        if options["state"]:
            tables = tables.filter(state=options["state"])
        if options["connection"]:
            tables = tables.filter(connection=connection_named(options["connection"]))
        if text := options["search"]:
            tables = tables.filter(Q(uri__icontains=text) | Q(name__icontains=text) | Q(delta_id__iexact=text))
        lines = list(table_lines(tables.order_by("state_rank", "name", "pk")))
        self.emit(lines, _as_text(lines))


def _as_text(lines: list[TableLine]) -> list[str]:
    if not lines:
        return ["No table matches. `levee observe` looks at the lake, `levee apply` declares where to look."]
    rows = [
        (one["state"], one["published_version"], one["accepted_version"], one["store"] or one["mechanism"], one["uri"])
        for one in lines
    ]
    return columns(("STATE", "PUBLISHED", "ACCEPTED", "THROUGH", "TABLE"), rows)
