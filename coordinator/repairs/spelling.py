"""How a registration that is made again has to spell its table's path: the coordinator compares it as text.

Source: `DynamoDBCommitCoordinatorClient` of Delta 3.3 to 4.4 expects `path` to be the writer's own, letter for letter,
so that writers under another scheme are refused. What the lost item said is gone; what remains shows it or does not.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from coordinator.protocols.lock_domains import domains_in_use
from coordinator.protocols.names import is_moved_temp
from coordinator.protocols.wording import counted, joined
from coordinator.repairs.table_under_repair import TableUnderRepair
from lake.delta.uri import SCHEMES, TableUri, same_table

PATH_SCHEME = "path-scheme"
"""Name of the choice that decides it where nothing shows it."""

_CHOOSE = "The coordinator compares the path letter for letter and refuses writers under another scheme: choose one."


@dataclass(frozen=True, slots=True)
class Spelling:
    """The path to be stored and the sentence that says why; without a path, `because` says what is missing."""

    path: str
    because: str


@dataclass(frozen=True, slots=True)
class _Witness:
    """Who spells the path how; `shows` is the sentence where it is one spelling."""

    who: str
    shows: str
    paths: tuple[str, ...]


def spelling_of(table: TableUnderRepair) -> Spelling:
    """What the strongest witness shows; where that one shows two, no weaker one decides between them."""
    if table.given.path_scheme:
        return Spelling(_spelled(table.place, table.given.path_scheme), "Its scheme was chosen by hand.")
    for witness in _witnesses(table):
        found = sorted({path for path in witness.paths if same_table(path, table.place)})
        if len(found) == 1:
            return Spelling(found[0], witness.shows)
        if found:
            return Spelling("", f"{witness.who} spell the path {joined(found)}. {_CHOOSE}")
    return Spelling("", f"Nothing that was read shows the scheme under which writers spell the path. {_CHOOSE}")


def _witnesses(table: TableUnderRepair) -> Iterator[_Witness]:
    """The strongest first: the lost item itself, the table's other items, Levee's own act, the coordinator's others."""
    given = table.given
    yield _Witness("", "The lost item had it when Levee last read it.", (given.registered_path,))
    registered = tuple(one.path for one in table.registrations)
    yield _Witness("Other registrations of this table", "Another registration of this table has it.", registered)
    entries = f"Entries of this table in {joined(sorted({one.store for one in table.lock_domains}))}"
    yield _Witness(entries, f"{entries} have it.", tuple(_entry_paths(table)))
    enabled = "Levee gave it to Spark when it put the table under the coordinator."
    yield _Witness("", enabled, (given.enabled_as,))
    yield from _siblings(table)


def _entry_paths(table: TableUnderRepair) -> list[str]:
    """Paths of entries that Hadoop's writers made; delta-rs, which cannot write such a table, spells its own."""
    by_hadoop = {one.domain for one in table.entries if not is_moved_temp(one.entry.temp_path or "")}
    held = by_hadoop or {one for one in table.lock_domains if one not in domains_in_use(table.view)}
    return [domain.path.rstrip("/") if table.place.key else domain.path for domain in held]


def _siblings(table: TableUnderRepair) -> Iterator[_Witness]:
    """The scheme of the coordinator's other registrations, where it is one."""
    schemes = Counter(scheme for path in table.given.sibling_paths if (scheme := _scheme(path)))
    if len(schemes) == 1:
        [(scheme, number)] = schemes.items()
        others = f"{counted(number, 'other registration')} in {table.given.coordinator}"
        shows = f"{others} {'has' if number == 1 else 'have'} its scheme, and none another."
        yield _Witness(others, shows, (_spelled(table.place, scheme),))


def _scheme(path: str) -> str:
    try:
        return TableUri.parse(path).scheme
    except ValueError:
        return ""


def _spelled(place: TableUri, scheme: str) -> str:
    return dict(zip(SCHEMES, place.spellings(), strict=True))[scheme]
