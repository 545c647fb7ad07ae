"""The largest tables of a run, as its page lists them; all else of it the templates read from its rows."""

from dataclasses import dataclass
from typing import Any

from backups.models import Run


@dataclass(frozen=True, slots=True)
class RunTableRow:
    """One table: objects to be copied, those there already, and the size of all of it; None is not known.

    `path` is a part of where it is, "" for all others together.
    """

    name: str
    path: str
    objects: int
    share: str
    there: int | None
    bytes: int | None


def table_rows(run: Run) -> list[RunTableRow]:
    """The largest tables by what is to be copied of them, and the rest in one row."""
    rows = sorted((_table_row(one, run) for one in run.tables.get("largest", [])), key=lambda row: -row.objects)
    rest = run.objects_planned - sum(row.objects for row in rows)
    if rows and rest > 0:
        rows.append(RunTableRow("All others", "", rest, _share(rest, run), None, None))
    return rows


def _table_row(one: dict[str, Any], run: Run) -> RunTableRow:
    number, path = one["copy"] + one["multipart"], one["table"].strip("/")
    name = ".".join(path.split("/")[-2:])
    return RunTableRow(name, path, number, _share(number, run), one["already_there"], one["bytes"])


def _share(number: int, run: Run) -> str:
    return f"{100 * number / run.objects_planned:.1f} %" if run.objects_planned else ""
