"""`levee doctor`: what is wrong with the settings of a writer, and the lines to write instead."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from coordinator.lookup import find_store, find_table
from coordinator.protocols.verdict import Severity
from coordinator.queries.writers import observed_of_store, observed_of_table
from coordinator.writers.doctor import Examination, WriterFinding, examine
from coordinator.writers.pairs import MOST_BYTES, PasteRefused
from coordinator.writers.session import ObservedPlace
from dashboard.commands import Failed, JsonCommand, UsageError
from dashboard.connections.lookup import connection_named


class Command(JsonCommand):
    """Examine a text without running or keeping it; exit 1 where a finding is worse than a note."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", nargs="?", default="", metavar="FILE", help="the text; - reads standard input")
        parser.add_argument("--table", metavar="URI", default="", help="compare with what was observed of a table")
        parser.add_argument("--store", metavar="NAME", default="", help="compare with a commit store")
        parser.add_argument("--connection", metavar="NAME", help="where several connections see the same")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["file"]:
            raise UsageError("Name a file with a writer's settings, or - for standard input.")
        observed = _observed(options)
        try:
            found = examine(_text_of(options["file"]), observed)
        except PasteRefused as refused:
            raise Failed(str(refused)) from None
        self.emit(found, list(_as_text(found)))
        worse = sum(one.severity is not Severity.INFO for one in found.findings)
        if worse:
            raise Failed(f"{worse} finding{'s' if worse > 1 else ''}: see above.")


def _observed(options: dict[str, Any]) -> ObservedPlace:
    if options["table"] and options["store"]:
        raise UsageError("Compare with a table or with a store, not with both.")
    if options["table"]:
        named = connection_named(options["connection"]) if options["connection"] else None
        return observed_of_table(find_table(options["table"], named))
    if options["store"]:
        return observed_of_store(find_store(options["store"], options["connection"]))
    return ObservedPlace()


def _text_of(name: str) -> str:
    """The file's text, at most a little more than may be examined, so that a larger one is refused unread."""
    try:
        if name == "-":
            return sys.stdin.read(MOST_BYTES + 1)
        with Path(name).open(encoding="utf-8", newline="") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{name} is no UTF-8 text.") from None


def _as_text(found: Examination) -> Iterator[str]:
    yield f"Read as {found.syntax}."
    for one in found.findings:
        yield from _finding(one)
    yield from ("", *(f"Not judged: {sentence}" for sentence in found.not_judged))
    if not found.findings:
        yield "No rule found anything."


def _finding(one: WriterFinding) -> Iterator[str]:
    yield ""
    yield f"{one.severity.value.upper():8}  {one.key}"
    yield f"  {one.wrong} {one.effect}"
    if one.lines:
        yield from ("  Write:", *(f"    {line}" for line in one.lines))
    else:
        yield f"  Write: {one.instead}"
    yield f"  Rule {one.rule}, from {one.source}."
