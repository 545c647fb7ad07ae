"""A table's newest commits, while something is changing it and afterwards."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lake.spark.jobs.report import Report

LOOK_EVERY_SECONDS = 1.0
"""A look reads the newest commits, which costs about as much as a whole drop: a quick one is told at its end."""

Then = tuple[str, str]
"""A step that begins: its name, and what it does that long."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One row of DESCRIBE HISTORY; `at` is ISO 8601 in UTC."""

    version: int
    operation: str
    at: str


def newest_commits(spark: Any, table: str, limit: int) -> list[HistoryEntry]:
    """Read the newest commits, newest first; `table` is quoted already."""
    history = spark.sql(f"DESCRIBE HISTORY {table} LIMIT {int(limit)}")
    rows = history.selectExpr("version", "operation", "unix_millis(timestamp)").collect()
    return [HistoryEntry(int(row[0]), str(row[1]), _utc(row[2])) for row in rows]


def _utc(epoch_ms: int) -> str:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).isoformat(timespec="milliseconds")


def reporting_commits(
    spark: Any, table: str, work: Callable[[], object], report: Report, then: Then | None = None
) -> list[HistoryEntry]:
    """Do the work in a thread and note each commit as it appears; return the commits made meanwhile, oldest first.

    `then` names the step that begins with the first commit, and says what it does.
    """
    before = newest_commits(spark, table, 1)[0].version
    seen: dict[int, HistoryEntry] = {}
    with ThreadPoolExecutor(1, "work") as pool:
        doing = pool.submit(work)
        while not wait([doing], LOOK_EVERY_SECONDS).done:
            # What goes wrong in the work is raised by the work; a look in between may fail as the table changes.
            with suppress(*spark_errors()):
                _tell_new(_since(spark, table, before), seen, report, then)
        doing.result()
    _tell_new(_since(spark, table, before), seen, report, then)
    return [seen[version] for version in sorted(seen)]


def _since(spark: Any, table: str, version: int) -> Iterator[HistoryEntry]:
    return reversed([entry for entry in newest_commits(spark, table, 10) if entry.version > version])


def _tell_new(
    entries: Iterator[HistoryEntry], seen: dict[int, HistoryEntry], report: Report, then: Then | None
) -> None:
    for entry in entries:
        if entry.version not in seen:
            seen[entry.version] = entry
            report.note(f"Version {entry.version} is committed: {entry.operation}")
            if then and len(seen) == 1:
                since = datetime.now(UTC) - datetime.fromisoformat(entry.at)
                report.step(*then, since_seconds=since.total_seconds())


def spark_errors() -> tuple[type[Exception], ...]:
    """What a statement raises, where pyspark is there."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return (Py4JError, PySparkException)
