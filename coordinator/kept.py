"""What the database keeps with each write of a Delta table: the counts of tables, and the index they are searched by.

Triggers do it, so that no way of writing misses it. They are made where they are missing, after `migrate` and after
each pass: SQLite drops them with the table that a migration makes anew.
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from django.db import DatabaseError, transaction
from django.db import connection as database
from django.db.models.expressions import RawSQL

from coordinator.models import TableCount

KEY = ("connection_id", "store_id", "bucket", "mechanism", "state_rank", "is_gone", "is_waiting")
SEARCHED = ("name", "uri", "delta_id")
COMPACT_FROM = 5_000
"""Rows of TableCount from which on those that are alike are put together."""

logger = logging.getLogger(__name__)

_TABLE, _COUNTS, _INDEX = "coordinator_deltatable", "coordinator_tablecount", "coordinator_tablesearch"
_COUNTED = ("connection_id", "store_id", "bucket", "mechanism", "state_rank", "gone_at", "unpublished_count")

_TRIGGERS = ("table_added", "table_removed", "table_moved", "table_renamed")
"""Those of SQLite; PostgreSQL has one that does all, of the name of the first."""


def keep() -> int:
    """Make the triggers and the index where they are missing, and the counts right; return how many were not.

    May run any number of times.
    """
    if _COUNTS not in database.introspection.table_names():
        return 0
    were_there = _are_there()
    if not were_there:
        _execute({"sqlite": _sqlite, "postgresql": _postgresql}[database.vendor]())
    if database.vendor == "postgresql":
        _index_for_searching()
    differing = recount()
    if differing and were_there:
        logger.error("%d counts of tables differed from the tables, and are right again: a defect of Levee.", differing)
    return differing


def let_go() -> None:
    """Take the triggers off while a migration alters tables: SQLite refuses it under them, and they may be outdated."""
    on = f" ON {_TABLE}" if database.vendor == "postgresql" else ""
    _execute(f"DROP TRIGGER IF EXISTS {name}{on}" for name in _TRIGGERS)


def _are_there() -> bool:
    asked = {
        "sqlite": (
            "SELECT COUNT(*) = 4 FROM sqlite_master WHERE name IN (%s, %s, %s, %s)",
            _TRIGGERS,
        ),
        "postgresql": ("SELECT COUNT(*) = 1 FROM pg_trigger WHERE tgname = %s", _TRIGGERS[:1]),
    }
    with database.cursor() as cursor:
        cursor.execute(*asked[database.vendor])
        return bool(cursor.fetchone()[0])


def _index_for_searching() -> None:
    """PostgreSQL's; who may not make its extension searches without it."""
    columns = ", ".join(f"upper({column}) gin_trgm_ops" for column in SEARCHED)
    try:
        _execute(
            (
                "CREATE EXTENSION IF NOT EXISTS pg_trgm",
                f"CREATE INDEX IF NOT EXISTS {_INDEX} ON {_TABLE} USING gin ({columns})",
            )
        )
    except DatabaseError as error:
        logger.warning("Searches for tables go without an index: pg_trgm could not be made (%s).", error)


def _execute(statements: Iterable[str]) -> None:
    with transaction.atomic(), database.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def found_by_index(texts: Collection[str]) -> RawSQL | None:
    """The numbers of the tables whose name, path or Delta id holds one of these texts, by the index of SQLite.

    None where that index does not find it: it keeps three characters at a time. PostgreSQL uses its own unasked.
    """
    if database.vendor != "sqlite" or any(len(text) < 3 for text in texts):
        return None
    phrases = " OR ".join('"{}"'.format(text.replace('"', '""')) for text in sorted(texts))
    return RawSQL(f"SELECT rowid FROM {_INDEX} WHERE {_INDEX} MATCH %s", [phrases])


@transaction.atomic
def recount() -> int:
    """Put the counts right from the tables themselves; return in how many of them they differed.

    One statement looks at both: between two, another transaction could change a table and its count.
    """
    key = ", ".join(KEY)
    of_counts = f"SELECT {key}, -number AS number FROM {_COUNTS}"
    of_tables = f"SELECT {_values(_TABLE)}, 1 FROM {_TABLE}"
    with database.cursor() as cursor:
        cursor.execute(
            f"SELECT {key}, SUM(number) FROM ({of_counts} UNION ALL {of_tables}) AS told "
            f"GROUP BY {key} HAVING SUM(number) <> 0"
        )
        differing = cursor.fetchall()
    TableCount.objects.bulk_create(_row(row[:-1], row[-1]) for row in differing)
    return len(differing)


@transaction.atomic
def compact() -> None:
    """Put rows that are alike together, where there are many. Changes made meanwhile keep their own rows.

    Where the triggers are gone, counts and index are made again first: what they say would only get older.
    """
    if not _are_there():
        keep()
    number = TableCount.objects.count()
    if number < COMPACT_FROM or number < 2 * TableCount.objects.values(*KEY).distinct().count():
        return
    sums: Counter[tuple[Any, ...]] = Counter()
    with database.cursor() as cursor:
        cursor.execute(f"DELETE FROM {_COUNTS} RETURNING {', '.join(KEY)}, number")
        for *key, number in cursor.fetchall():
            sums[tuple(key)] += number
    TableCount.objects.bulk_create(_row(key, number) for key, number in sums.items() if number)


def _row(key: tuple[Any, ...], number: int) -> TableCount:
    return TableCount(**dict(zip(KEY, key, strict=True)), number=number)


def _sqlite() -> list[str]:
    columns = ", ".join(SEARCHED)
    unindex = f"INSERT INTO {_INDEX} ({_INDEX}, rowid, {columns}) VALUES ('delete', OLD.id, {_of('OLD', SEARCHED)});"
    index = f"INSERT INTO {_INDEX} (rowid, {columns}) VALUES (NEW.id, {_of('NEW', SEARCHED)});"
    on = f"ON {_TABLE}"
    changed = f"WHEN ({_of('OLD', _COUNTED)}) IS NOT ({_of('NEW', _COUNTED)})"
    return [
        f"CREATE TRIGGER table_added AFTER INSERT {on} BEGIN {_more('NEW', 1)} {index} END",
        f"CREATE TRIGGER table_removed AFTER DELETE {on} BEGIN {_more('OLD', -1)} {unindex} END",
        f"CREATE TRIGGER table_moved AFTER UPDATE OF {', '.join(_COUNTED)} {on} {changed} "
        f"BEGIN {_more('OLD', -1)} {_more('NEW', 1)} END",
        f"CREATE TRIGGER table_renamed AFTER UPDATE OF {columns} {on} "
        f"WHEN ({_of('OLD', SEARCHED)}) IS NOT ({_of('NEW', SEARCHED)}) BEGIN {unindex} {index} END",
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {_INDEX} USING fts5({columns}, content='{_TABLE}', content_rowid='id', "
        "tokenize='trigram')",
        f"INSERT INTO {_INDEX} ({_INDEX}) VALUES ('rebuild')",
    ]


def _postgresql() -> list[str]:
    function = f"""CREATE OR REPLACE FUNCTION count_tables() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP = 'UPDATE' AND ({_of("OLD", _COUNTED)}) IS NOT DISTINCT FROM ({_of("NEW", _COUNTED)}) THEN
            RETURN NULL;
        END IF;
        IF TG_OP <> 'INSERT' THEN {_more("OLD", -1)} END IF;
        IF TG_OP <> 'DELETE' THEN {_more("NEW", 1)} END IF;
        RETURN NULL; END $$"""
    return [
        function,
        f"CREATE TRIGGER {_TRIGGERS[0]} AFTER INSERT OR UPDATE OR DELETE ON {_TABLE} "
        "FOR EACH ROW EXECUTE FUNCTION count_tables()",
    ]


def _of(row: str, columns: tuple[str, ...]) -> str:
    return ", ".join(f"{row}.{column}" for column in columns)


def _more(row: str, number: int) -> str:
    """The statement that counts a row of the trigger."""
    return f"INSERT INTO {_COUNTS} ({', '.join(KEY)}, number) VALUES ({_values(row)}, {number});"


def _values(row: str) -> str:
    """The key of a table's count, in the order of KEY."""
    return f"{_of(row, _COUNTED[:5])}, {row}.gone_at IS NOT NULL, {row}.unpublished_count > 0"
