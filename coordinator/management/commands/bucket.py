"""`levee bucket NAME`: one bucket."""

from typing import Any

from django.core.management.base import CommandParser

from coordinator.documents import bucket_document
from coordinator.lookup import find_bucket
from dashboard.commands import JsonCommand


class Command(JsonCommand):
    """Print what the database holds of one bucket; reads no AWS."""

    help = "Show one bucket: lifecycle rules, versioning, findings."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name")
        parser.add_argument("--connection", metavar="NAME", help="where several connections see a bucket of this name")

    def handle(self, *args: Any, **options: Any) -> None:
        document = bucket_document(find_bucket(options["name"], options["connection"]))
        lines = [f"{document['name']}: {document['state']}", document["summary"], ""]
        lines += [f"{key:24} {value}" for key, value in document["settings"].items() if key != "findings"]
        self.emit(document, lines)
