"""Diagnosing 100,000 tables from facts in memory: Levee's diagnosis against a plain loop that looks for one state.

The facts are those of four kinds of tables in equal parts: a healthy log store table of 60 entries, one with a pending
commit, a coordinated table at rest and one with three commits that are not backfilled.
"""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from benchmarks.harness import run_lap
from coordinator.protocols.diagnosis import diagnose
from lake.delta.facts import (
    CoordinatorCommit,
    LockDomain,
    LogListing,
    LogObject,
    LogStoreEntry,
    Mechanism,
    Registration,
    TableFacts,
    TableProtocol,
)

TABLES = 100_000
KEPT = 2_000
"""Tables that are in memory at once; each is diagnosed again and again, never with what was found before."""
COMMITS = 60
NOW = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
COORDINATED = "delta.coordinatedCommits"


def main() -> None:
    """LEVEE_BENCH_TABLES sets another number of tables."""
    count = int(os.environ.get("LEVEE_BENCH_TABLES", TABLES))
    tables = [KINDS[number % len(KINDS)](number) for number in range(min(KEPT, count))]
    every_state, one_state = run_lap(lambda: _diagnose_all(tables, count)), run_lap(lambda: _look_at_all(tables, count))
    print(f"\nDiagnosing {count:,} tables of {COMMITS} commits on one core")
    for name, lap in (("levee, every state", every_state), ("plain loop, pending commits", one_state)):
        print(f"{name:28} {lap.wall:8.2f} s  CPU {lap.cpu:8.2f} s  {count / lap.wall:10,.0f} tables/s")
    print(f"states found by levee: {every_state.result}")


def _diagnose_all(tables: Sequence[TableFacts], count: int) -> dict[str, int]:
    return dict(Counter(diagnose(tables[number % len(tables)]).state.value for number in range(count)))


def _look_at_all(tables: Sequence[TableFacts], count: int) -> int:
    """What the shortest script of an operator does: is an entry without its file?"""
    found = 0
    for number in range(count):
        facts = tables[number % len(tables)]
        entries = (entry for domain in facts.entries.values() for entry in domain)
        found += any(entry.complete is False and entry.version not in facts.listing.commits for entry in entries)
    return found


def healthy(number: int) -> TableFacts:
    return _log_store_table(number, COMMITS, COMMITS)


def pending(number: int) -> TableFacts:
    return _log_store_table(number, COMMITS - 1, COMMITS)


def coordinated(number: int) -> TableFacts:
    return _coordinated_table(number, COMMITS, [])


def unbackfilled(number: int) -> TableFacts:
    return _coordinated_table(number, COMMITS - 3, range(COMMITS - 3, COMMITS))


KINDS: tuple[Callable[[int], TableFacts], ...] = (healthy, pending, coordinated, unbackfilled)


def _log_store_table(number: int, published: int, accepted: int) -> TableFacts:
    uri = f"s3a://lake/warehouse/t{number}"
    entries = tuple(_entry(uri, version, complete=version < published) for version in range(accepted))
    temp = tuple(_object(entry.temp_path or "", version) for version, entry in enumerate(entries))
    listing = LogListing(0, _commits(published), temp_files=temp, staged=())
    return TableFacts(
        uri, Mechanism.LOG_STORE, NOW, listing, entries={LockDomain("delta_log", uri): entries}, protocol=_protocol({})
    )


def _coordinated_table(number: int, published: int, listed: Sequence[int]) -> TableFacts:
    uri, table_id = f"s3a://lake/warehouse/t{number}", f"id-{number}"
    names = [f"{version:020d}.{version:08x}-2b7c-4f0e-9d55-6a1f0c3e7b21.json" for version in range(COMMITS)]
    stamp = int(NOW.timestamp() * 1000)
    commits = tuple(CoordinatorCommit(version, names[version], 1_000, stamp, stamp) for version in listed)
    registration = Registration(table_id, uri, COMMITS - 1, stamp, True, True, 1, commits, ())
    staged = tuple(_object(f"_staged_commits/{name}", version) for version, name in enumerate(names))
    properties = {
        f"{COORDINATED}.commitCoordinator-preview": "dynamodb",
        f"{COORDINATED}.commitCoordinatorConf-preview": '{"dynamoDBTableName": "commits"}',
        f"{COORDINATED}.tableConf-preview": f'{{"tableId": "{table_id}"}}',
    }
    return TableFacts(
        uri,
        Mechanism.COORDINATED_COMMITS,
        NOW,
        LogListing(0, _commits(published), temp_files=(), staged=staged),
        registrations=(registration,),
        protocol=_protocol(properties),
    )


def _commits(published: int) -> dict[int, LogObject]:
    return {version: _object(f"{version:020d}.json", version) for version in range(published)}


def _object(name: str, version: int) -> LogObject:
    return LogObject(name, 1_000, NOW - timedelta(minutes=COMMITS + 10 - version), f"{version:032x}")


def _entry(uri: str, version: int, *, complete: bool) -> LogStoreEntry:
    name = f"{version:020d}.json"
    expires = int(NOW.timestamp()) + 86_400 if complete else None
    return LogStoreEntry(uri, name, version, f".tmp/{name}.{version:08x}-2b7c", complete, expires, None, ())


def _protocol(properties: dict[str, str]) -> TableProtocol:
    return TableProtocol(0, 3, 7, (), tuple(properties), properties=properties)


if __name__ == "__main__":
    main()
