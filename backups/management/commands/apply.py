"""`levee apply FILE`: declare connections, watched prefixes, commit stores and backup plans."""

import tomllib
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from backups.declaration import plan_changes, read_plans, store_plans
from coordinator.declaration import Change, lake_changes, read_declaration, store_declaration
from dashboard.accounts.actor import Actor
from dashboard.audit.log import record
from dashboard.commands import JsonCommand
from dashboard.declarations import DeclarationError

_SECTIONS = ("connections", "watch", "stores", "plans")


class Command(JsonCommand):
    """Print what the file would change; `--apply` stores it."""

    help = "Declare connections, watched prefixes, commit stores and backup plans from a TOML file."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)
        parser.add_argument("--apply", action="store_true", help="store the declaration; without it nothing changes")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        try:
            document = read_document(file)
            changes = _apply(document, file) if options["apply"] else _changes(document)
        except DeclarationError as error:
            raise CommandError(f"{file}: {error}") from error
        self.emit(
            {"applied": options["apply"], "changes": [_as_json(change) for change in changes]},
            _as_text(changes, applied=options["apply"]),
        )


def read_document(file: Path) -> dict[str, Any]:
    """Parse the TOML file. Raises DeclarationError with the line of a mistake or the name of an unknown section."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DeclarationError(f"it cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise DeclarationError(f"it is not UTF-8 at byte {error.start}.") from error
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError(f"it is not valid TOML: {error}.") from error
    if unknown := sorted(set(document) - set(_SECTIONS)):
        raise DeclarationError(f"it has an unknown section {unknown[0]!r}. Known sections: {', '.join(_SECTIONS)}.")
    return document


def _changes(document: dict[str, Any]) -> list[Change]:
    lake = read_declaration(document)
    return lake_changes(lake) + plan_changes(read_plans(document, lake.connection_names()))


@transaction.atomic
def _apply(document: dict[str, Any], file: Path) -> list[Change]:
    lake = read_declaration(document)
    plans = read_plans(document, lake.connection_names())
    changes = store_declaration(lake) + store_plans(plans)
    if changes:
        record(
            Actor.command(),
            "lake.declare",
            target_label=str(file),
            before={f"{change.what} {change.name}": change.before for change in changes},
            after={f"{change.what} {change.name}": change.after for change in changes},
        )
    return changes


def _as_json(change: Change) -> dict[str, Any]:
    return {"what": change.what, "name": change.name, "before": change.before, "after": change.after}


def _as_text(changes: list[Change], *, applied: bool) -> str:
    if not changes:
        return "Nothing to change: the declaration is stored already."
    lines = [f"  {change}" for change in changes]
    last = "Stored." if applied else "Nothing is stored yet: add --apply."
    return "\n".join([*lines, last])
