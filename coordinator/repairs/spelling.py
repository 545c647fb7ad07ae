"""How a registration that is made again has to spell its table's path: the coordinator compares it as text.

Source: `DynamoDBCommitCoordinatorClient` of Delta 3.3 to 4.4 expects `path` to be the writer's own, letter for letter,
so that writers under another scheme are refused. What the lost item said is gone; what remains shows it or does not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from coordinator.protocols.lock_domains import domains_in_use
from coordinator.protocols.names import is_moved_temp
from coordinator.protocols.wording import joined
from coordinator.repairs.table_under_repair import TableUnderRepair
from lake.delta.uri import SCHEMES, same_table

PATH_SCHEME = "path-scheme"
"""Name of the choice that decides it where nothing shows it."""

_CHOOSE = "The coordinator compares the path letter for letter and refuses writers under another scheme: choose one."


@dataclass(frozen=True, slots=True)
class Spelling:
    """The path to be stored and the sentence that says why; without a path, `because` says what is missing."""

    path: str
    because: str


def spelling_of(table: TableUnderRepair) -> Spelling:
    """What the strongest witness shows; where that one shows two, no weaker one decides between them."""
    if table.given.path_scheme:
        by_scheme = dict(zip(SCHEMES, table.place.spellings(), strict=True))
        return Spelling(by_scheme[table.given.path_scheme], "Its scheme was chosen by hand.")
    for who, paths in _witnesses(table):
        found = sorted({path for path in paths if same_table(path, table.place)})
        if len(found) == 1:
            return Spelling(found[0], f"{who} had it when last read.")
        if found:
            return Spelling("", f"{who} spell the path {joined(found)}. {_CHOOSE}")
    return Spelling("", f"Nothing that was read shows the scheme under which writers spell the path. {_CHOOSE}")


def _witnesses(table: TableUnderRepair) -> Iterator[tuple[str, list[str]]]:
    """Who spells the path how, the strongest first: the lost item itself, then the table's other items."""
    yield "The lost item", [table.given.registered_path]
    yield "Other registrations of this table", [one.path for one in table.registrations]
    yield f"Entries of this table in {joined(sorted({one.store for one in table.lock_domains}))}", _entry_paths(table)


def _entry_paths(table: TableUnderRepair) -> list[str]:
    """Paths of entries that Hadoop's writers made; delta-rs, which cannot write such a table, spells its own."""
    by_hadoop = {one.domain for one in table.entries if not is_moved_temp(one.entry.temp_path or "")}
    held = by_hadoop or {one for one in table.lock_domains if one not in domains_in_use(table.view)}
    return [domain.path.rstrip("/") if table.place.key else domain.path for domain in held]
