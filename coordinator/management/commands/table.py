"""`levee table URI`: one table."""

from typing import Any

from django.core.management.base import CommandParser

from coordinator.contract import EntryDocument, TableJson
from coordinator.documents import table_document
from coordinator.lookup import find_table
from dashboard.commands import JsonCommand, columns
from dashboard.connections.lookup import connection_named


class Command(JsonCommand):
    """Print what the database holds of one table; reads no AWS."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("uri", help="s3a://bucket/path; s3:// and s3n:// name the same table")
        parser.add_argument("--connection", metavar="NAME", help="where several connections see the same bucket")

    def handle(self, *args: Any, **options: Any) -> None:
        named = connection_named(options["connection"]) if options["connection"] else None
        document = table_document(find_table(options["uri"], named))
        self.emit(document, _as_text(document))


def _as_text(document: TableJson) -> list[str]:
    through = document["store"] or "no commit store"
    lines = [
        f"{document['uri']}: {document['state']}",
        document["summary"],
        "",
        f"commits through  {document['mechanism']} ({through})",
        f"accepted         {_or_unknown(document['accepted_version'])}",
        f"published        {_or_unknown(document['published_version'])}",
        f"observed         {_or_unknown(document['observed_at'])}",
    ]
    for finding in document["findings"]:
        lines += ["", f"{finding['code']} ({finding['severity']}): {finding['summary']}", finding["meaning"]]
        if finding["repairs"]:
            lines.append(f"repairs: {', '.join(finding['repairs'])}")
    if document["entries"]:
        lines += ["", *_entry_lines(document["entries"])]
    return lines


def _entry_lines(entries: list[EntryDocument]) -> list[str]:
    rows = [(e["version"], e["state"], e["complete"], e["published"], e["file"]) for e in entries]
    return columns(("VERSION", "STATE", "COMPLETE", "PUBLISHED", "FILE"), rows)


def _or_unknown(value: object) -> object:
    return "unknown" if value is None else value
