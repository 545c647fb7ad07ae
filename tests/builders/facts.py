"""TableFacts in one line, for every test that needs a Delta table that was read.

Ages are seconds before `NOW`, the moment of observation. Names are relative to `_delta_log/`.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from lake.delta.facts import (
    CommitInfo,
    CoordinatorCommit,
    LockDomain,
    LogListing,
    LogObject,
    LogStoreEntry,
    Mechanism,
    Provenance,
    Registration,
    TableFacts,
    TableProtocol,
)

NOW = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
URI = "s3a://lake/orders"
STORE = "delta_log"
COORDINATOR = "commits"
TABLE_ID = "7426cd0a-31b2-4c44-9c3e-0d8f4e1f6a55"
DAY = 86_400


def commit_name(version: int) -> str:
    return f"{version:020d}.json"


def temp_name(version: int, uid: str = "7f3c9b52") -> str:
    return f".tmp/{commit_name(version)}.{uid}"


def staged_name(version: int, uid: str = "c02e88d1", folder: str = "_staged_commits") -> str:
    return f"{folder}/{version:020d}.{uid}.json"


def log_object(name: str, *, size: int = 1_000, age: float = 3_600, etag: str = "e") -> LogObject:
    return LogObject(name=name, size=size, modified_at=NOW - timedelta(seconds=age), etag=etag)


def listing(
    commits: Iterable[int] = range(4),
    *,
    age: float = 3_600,
    ages: Mapping[int, float] | None = None,
    temp: Iterable[LogObject | str] | None = (),
    staged: Iterable[LogObject | str] | None = (),
    checkpoints: Iterable[int] = (),
    from_version: int = 0,
) -> LogListing:
    """A listing with `<v>.json` for each of `commits`; `temp` or `staged` of None: folders that were not listed."""
    by_version = {v: log_object(commit_name(v), age=(ages or {}).get(v, age)) for v in commits}
    return LogListing(
        from_version=from_version,
        commits=by_version,
        checkpoints={v: (log_object(f"{v:020d}.checkpoint.parquet"),) for v in checkpoints},
        temp_files=_objects(temp),
        staged=_objects(staged),
    )


def _objects(given: Iterable[LogObject | str] | None) -> tuple[LogObject, ...] | None:
    if given is None:
        return None
    return tuple(log_object(one) if isinstance(one, str) else one for one in given)


def entry(
    version: int | None,
    *,
    complete: bool | None = True,
    temp: str | None = None,
    path: str = URI,
    expire_time: int | None = -1,
    commit_time: int | None = None,
    problems: tuple[str, ...] = (),
) -> LogStoreEntry:
    """A log store entry; a complete one expires a day after the usual age of its file unless told otherwise."""
    if expire_time == -1:
        expire_time = int(NOW.timestamp()) - 3_600 + DAY if complete else None
    return LogStoreEntry(
        table_path=path,
        file_name=commit_name(version or 0),
        version=version,
        temp_path=temp if temp is not None else temp_name(version or 0),
        complete=complete,
        expire_time=expire_time,
        commit_time=commit_time,
        problems=problems,
    )


def coordinator_commit(version: int, *, name: str | None = None, size: int | None = 1_000) -> CoordinatorCommit:
    """An element of a registration's list whose staged file is `staged_name(version)`."""
    stamp = int(NOW.timestamp() * 1_000) - 3_600_000
    file_name = name if name is not None else staged_name(version).partition("/")[2]
    return CoordinatorCommit(version, file_name, size, stamp, stamp)


def registration(
    table_version: int | None,
    *commits: CoordinatorCommit,
    table_id: str = TABLE_ID,
    path: str = URI,
    accepting: bool | None = True,
    accepted: bool | None = True,
    schema_version: int | None = 1,
    problems: tuple[str, ...] = (),
    store: str = COORDINATOR,
) -> Registration:
    stamp = int(NOW.timestamp() * 1_000) - 3_600_000 if accepted else None
    return Registration(
        table_id, path, table_version, stamp, accepting, accepted, schema_version, tuple(commits), problems, store
    )


def said(version: int, *, age: float | None = 3_600, etag: str = "e", **more: Any) -> CommitInfo:
    """What a published file says of itself; `age` is how long ago by its writer's clock, None where it does not say."""
    stamp = int((NOW.timestamp() - age) * 1_000) if age is not None else None
    return CommitInfo(version, timestamp=stamp, etag=etag, **more)


def provenance(version: int, *, age: float = 3_600, store: str | None = None, **known: Any) -> Provenance:
    """What was seen of a version: a published file as `log_object` has them; with `store`, accepted under `URI`."""
    seen: dict[str, Any] = {"size": 1_000, "etag": "e", "seen_at": NOW - timedelta(seconds=age)}
    if store is not None:
        seen |= {"store": store, "region": "eu-west-1", "lock_domain": URI, "accepted_at": seen["seen_at"]}
    return Provenance(version, **seen | known)


def protocol(
    *, properties: Mapping[str, str] | None = None, features: tuple[str, ...] = (), version: int = 0
) -> TableProtocol:
    return TableProtocol(version, 3, 7, features, features, properties=dict(properties or {}))


def coordinated_protocol(table_id: str = TABLE_ID) -> TableProtocol:
    """Protocol and properties of a table that names the DynamoDB commit coordinator."""
    return protocol(
        properties={
            "delta.coordinatedCommits.commitCoordinator-preview": "dynamodb",
            "delta.coordinatedCommits.commitCoordinatorConf-preview": json.dumps({"dynamoDBTableName": COORDINATOR}),
            "delta.coordinatedCommits.tableConf-preview": json.dumps({"tableId": table_id}),
        },
        features=("coordinatedCommits-preview", "inCommitTimestamp", "vacuumProtocolCheck"),
    )


def table_facts(
    log: LogListing | None = None,
    *,
    mechanism: Mechanism = Mechanism.SINGLE_DRIVER,
    entries: Iterable[LogStoreEntry] = (),
    in_stores: Mapping[str, Iterable[LogStoreEntry]] | None = None,
    table_protocol: TableProtocol | None = None,
    equal_bytes: Mapping[int | str, bool] | None = None,
    infos: Iterable[CommitInfo] = (),
    engines: Mapping[int | str, str] | None = None,
    seen: Iterable[Provenance] = (),
    **more: Any,
) -> TableFacts:
    """Facts of one table. `entries` are those of STORE, `in_stores` of others; both are grouped by their own path.

    `engines` become commit infos of an hour ago, of a version or of a copy's name. `equal_bytes` of a version is that
    of its usual temp and staged file. `more` are further fields of the facts; lists will do.
    """
    domains: dict[LockDomain, tuple[LogStoreEntry, ...]] = {}
    for store, held in {STORE: entries, **(in_stores or {})}.items():
        for one in held:
            domain = LockDomain(store, one.table_path)
            domains[domain] = (*domains.get(domain, ()), one)
    written_by = (engines or {}).items()
    of_versions = [said(name, engine=by) for name, by in written_by if isinstance(name, int)]
    found: dict[str, Any] = {
        "uri": URI,
        "observed_at": NOW,
        "entries": domains,
        "protocol": table_protocol if table_protocol is not None else protocol(),
        "commit_infos": {one.version: one for one in (*infos, *of_versions)},
        "copy_infos": {
            name: CommitInfo(-1, engine=by) for name, by in (engines or {}).items() if isinstance(name, str)
        },
        "equal_bytes": {name: equal for given, equal in (equal_bytes or {}).items() for name in _copies(given)},
        "provenance": {one.version: one for one in seen},
    }
    found |= {name: tuple(value) if isinstance(value, list) else value for name, value in more.items()}
    return TableFacts(mechanism=mechanism, listing=log if log is not None else listing(), **found)


def _copies(given: int | str) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else (temp_name(given), staged_name(given))


def log_store_facts(log: LogListing | None, *entries: LogStoreEntry, **more: Any) -> TableFacts:
    """A table whose commits go through a log store that is known, also where its entries have expired."""
    return table_facts(log, mechanism=Mechanism.LOG_STORE, entries=entries, **{"had_entries": True, **more})


def coordinated_facts(
    log: LogListing | None, *registrations: Registration, table_id: str = TABLE_ID, **more: Any
) -> TableFacts:
    """A table whose newest metadata names the commit coordinator and the registration `table_id`."""
    held = {"mechanism": Mechanism.COORDINATED_COMMITS, "registrations": registrations}
    return table_facts(log, **{**held, "table_protocol": coordinated_protocol(table_id), **more})
