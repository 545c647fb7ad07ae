"""`levee store NAME`: one commit store."""

from typing import Any

from django.core.management.base import CommandParser

from coordinator.documents import store_document
from coordinator.lookup import find_store
from dashboard.commands import JsonCommand


class Command(JsonCommand):
    """Print what the database holds of one commit store; reads no AWS."""

    help = "Show one commit store: key schema, capacity, TTL, recovery, findings."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name")
        parser.add_argument("--connection", metavar="NAME", help="where several connections have a store of this name")

    def handle(self, *args: Any, **options: Any) -> None:
        document = store_document(find_store(options["name"], options["connection"]))
        lines = [f"{document['name']} ({document['kind']}): {document['state']}", document["summary"], ""]
        lines += [f"{key:24} {value}" for key, value in document["settings"].items() if key != "findings"]
        self.emit(document, lines)
