"""`levee apply FILE`: declare connections, watched prefixes, commit stores and backup plans."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from dashboard.accounts.actor import Actor
from dashboard.commands import JsonCommand
from dashboard.declaration.declaring import declare, difference
from dashboard.declaration.differences import ApplyJson, Difference, read_declaration
from dashboard.declaration.files import read_document
from dashboard.declaration.reading import DeclarationError


class Command(JsonCommand):
    """Print what the file would change; `--apply` stores it."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)
        parser.add_argument("--apply", action="store_true", help="store the declaration; without it nothing changes")
        parser.add_argument(
            "--prune", action="store_true", help="remove what the file's sections no longer name; else it stays"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file, prune, applied = options["file"], options["prune"], options["apply"]
        try:
            declared = read_declaration(read_document(file))
            found = (
                declare(Actor.command(), declared, str(file), prune=prune)
                if applied
                else difference(declared, prune=prune)
            )
        except DeclarationError as error:
            raise CommandError(f"{file}: {error}") from error
        document: ApplyJson = {"applied": applied, "changes": found.changes, "kept": found.kept}
        self.emit(document, _as_text(found, applied=applied))


def _as_text(found: Difference, *, applied: bool) -> list[str]:
    kept = [f"  {one}" for one in found.kept]
    if not found.changes:
        return [*kept, "Nothing to change: the declaration is stored already."]
    last = "Stored." if applied else "Nothing is stored yet: add --apply."
    return [*(f"  {change}" for change in found.changes), *kept, last]
