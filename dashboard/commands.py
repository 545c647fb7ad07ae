"""What every command shares: `--json`, one document on stdout, diagnostics on stderr, exit codes 0, 1 and 2."""

import argparse
import fcntl
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar, cast

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import OperationalError, ProgrammingError, connection
from django.db.migrations.executor import MigrationExecutor

from dashboard.command_names import help_of
from dashboard.refusals import Refused
from dashboard.web.text import visible

_DJANGOS_OWN = frozenset(
    {"version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"}
)
"""Options that every command of Django has, which help nobody here."""
Options = Mapping[str, Any]
"""The arguments of a command as they were read."""


class Failed(CommandError):
    """The command was understood and did not succeed: its sentence goes to stderr, exit code 1."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, returncode=1)


class UsageError(CommandError):
    """The command was asked for something that makes no sense: its sentence goes to stderr, exit code 2."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, returncode=2)


class DocumentEncoder(DjangoJSONEncoder):
    """JSON of times (ISO 8601, UTC), UUIDs, decimals, sets and dataclasses."""

    def default(self, o: Any) -> Any:
        if is_dataclass(o) and not isinstance(o, type):
            return asdict(o)
        if isinstance(o, set | frozenset):
            return sorted(o)
        return super().default(o)


class JsonCommand(BaseCommand):
    """A command that prints text for people or, with `--json`, one document for machines.

    A subclass extends `add_arguments` (calling super) and in `handle` calls `emit` once. `Failed`, `UsageError`, a
    refused permission, a target that another job holds, Ctrl-C and an unreachable database end in one sentence on
    stderr; `call_command` sees a CommandError.
    """

    requires_system_checks: Sequence[str] = []  # type: ignore[assignment]  # the checks need templates and cost 0.3 s
    brings_database_up_to_date = True
    as_json = False
    _called_from_command_line: bool = False  # set by BaseCommand; its stubs do not know it

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        self.help = help_of(subcommand)
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        for action in parser._actions:
            if action.dest in _DJANGOS_OWN:
                action.help = argparse.SUPPRESS
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")

    def execute(self, *args: Any, **options: Any) -> str | None:
        self.as_json = bool(options.get("json"))
        try:
            return self._execute(*args, **options)
        except CommandError as error:
            if not self._called_from_command_line or options.get("traceback"):
                raise
            self.note(str(error))
            sys.exit(error.returncode)

    def _execute(self, *args: Any, **options: Any) -> str | None:
        try:
            if self.brings_database_up_to_date:
                ensure_migrated()
            return super().execute(*args, **options)
        except (PermissionDenied, Refused) as error:
            raise Failed(str(error)) from error
        except KeyboardInterrupt as error:
            raise Failed("Interrupted.") from error
        except (OperationalError, ProgrammingError) as error:
            reason = str(error).strip().splitlines()[0]
            raise Failed(
                f"The database cannot be used ({reason}). Run `levee migrate`, and check DATABASE_URL."
            ) from error

    def emit(self, data: Any, text: str | Iterable[str]) -> None:
        """Print `data` as JSON if asked to, else `text`: one string or lines.

        What would move a terminal's cursor or turn its lines is written as its number; in JSON that means the same.
        """
        if self.as_json:
            text = json.dumps(data, cls=DocumentEncoder, ensure_ascii=False, indent=2)
        self.stdout.write(visible(text if isinstance(text, str) else "\n".join(text)))

    def note(self, sentence: str) -> None:
        """Say something about the work on stderr, where it cannot spoil the document."""
        self.stderr.write(visible(sentence), self.style.NOTICE if self.stderr.isatty() else None)


Document = TypeVar("Document")


def document_of(kind: type[Document], row: object, **given: object) -> Document:
    """A document of the type `kind`, a TypedDict: what is given, and for its other names what the row has there."""
    return cast(Document, {name: given[name] if name in given else getattr(row, name) for name in kind.__annotations__})


def columns(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Lay rows out under their headers, two blanks between columns; None becomes a hyphen."""
    cells = [list(headers), *(["-" if cell is None else str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(headers))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def ensure_migrated() -> None:
    """Create or update the tables of the embedded database; two commands at once wait for each other.

    A command must work in a new LEVEE_HOME without a server ever having run there. Any other database is left alone.
    """
    if connection.vendor != "sqlite" or not _is_behind():
        return
    with migrating_alone():
        if _is_behind():
            call_command("migrate", interactive=False, verbosity=0)


@contextmanager
def migrating_alone() -> Iterator[None]:
    """Wait until no other process of this LEVEE_HOME migrates, and let none begin."""
    with open(settings.LEVEE_HOME / "migrate.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_behind() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
