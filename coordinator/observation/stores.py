"""The commit stores of a connection in one pass: which are scanned, and which are asked table by table."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from threading import Event
from typing import TypeVar

from coordinator.models import CommitStore
from coordinator.observation.surveys import (
    WRONG_KEYS,
    CoordinatorSurvey,
    LogStoreSurvey,
    Survey,
    scan_coordinator,
    scan_log_store,
)
from coordinator.observation.workers import Workers
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.dynamodb import DynamoDB
from lake.aws.errors import AwsError
from lake.delta import coordinator_items, log_store

Survey_ = TypeVar("Survey_", LogStoreSurvey, CoordinatorSurvey)

SMALL_STORE_ITEMS = 5_000
"""A store of up to this many items (about 1 MB) is scanned in every pass: cheaper than a query for each table."""
SCAN_EVERY = timedelta(hours=1)
"""How often a larger store is scanned for tables that nobody named."""


def survey_stores(connection: Connection, lake: Lake, now: datetime, workers: Workers, *, in_full: bool) -> Survey:
    """Scan the stores that are due; one that cannot be one, by its keys, is not read at all."""
    log_stores = []
    for store in stores_of(connection, CommitStore.Kind.LOG_STORE):
        found = _survey(store, LogStoreSurvey, scan_log_store, lake, now, workers, in_full=in_full)
        if found.partitions is not None:
            _note_scan(store, found.items, now)
        log_stores.append(found)
    coordinators = []
    for store in stores_of(connection, CommitStore.Kind.COMMIT_COORDINATOR):
        survey = _survey(store, CoordinatorSurvey, scan_coordinator, lake, now, workers, in_full=in_full)
        if survey.registrations is not None:
            _note_scan(store, sum(map(len, survey.registrations.values())), now)
        coordinators.append(survey)
    return Survey(tuple(log_stores), tuple(coordinators))


def survey_for_one_table(connection: Connection, lake: Lake) -> Survey:
    """Return the stores of a connection for reading one table: log stores are asked for it, coordinators scanned.

    A table may have several registrations, and only a scan finds those that its properties do not name; a coordinator
    holds one item for each table.
    """
    log_stores = [
        LogStoreSurvey(store.name, error=unfit(store)) for store in stores_of(connection, CommitStore.Kind.LOG_STORE)
    ]
    coordinators = []
    for store in stores_of(connection, CommitStore.Kind.COMMIT_COORDINATOR):
        error = unfit(store)
        coordinators.append(
            CoordinatorSurvey(store.name, error=error) if error else scan_coordinator(lake.dynamodb, store.name)
        )
    return Survey(tuple(log_stores), tuple(coordinators))


def stores_of(connection: Connection, kind: CommitStore.Kind) -> Iterator[CommitStore]:
    return CommitStore.objects.filter(connection=connection, kind=kind).order_by("name").iterator()


def unfit(store: CommitStore) -> AwsError | None:
    """Why the DynamoDB table, as last described, cannot be a store of its kind; scanning it could read anything."""
    read = log_store.expected_keys if store.kind == CommitStore.Kind.LOG_STORE else coordinator_items.expected_keys
    found = store.facts.get("key_schema")
    expected = [list(key) for key in read()]
    if not found or found == expected:
        return None
    names = " and ".join(str(key[0]) for key in found)
    wanted = " and ".join(key[0] for key in expected)
    return AwsError(
        WRONG_KEYS,
        f"its key is {names}, and a {store.get_kind_display().lower()} has {wanted}",
        operation="Reading",
        target=f"DynamoDB table {store.name}",
    )


def _survey(
    store: CommitStore,
    kind: type[Survey_],
    scan: Callable[[DynamoDB, str, Event], Survey_],
    lake: Lake,
    now: datetime,
    workers: Workers,
    *,
    in_full: bool,
) -> Survey_:
    if error := unfit(store):
        return kind(store.name, error=error)
    if not in_full and not _scan_is_due(store, now):
        return kind(store.name)
    return workers.run(partial(scan, lake.dynamodb, store.name, workers.stopping))


def _scan_is_due(store: CommitStore, now: datetime) -> bool:
    if store.scanned_at is None or store.scanned_items is None:
        return True
    return store.scanned_items <= SMALL_STORE_ITEMS or now - store.scanned_at > SCAN_EVERY


def _note_scan(store: CommitStore, items: int, now: datetime) -> None:
    CommitStore.objects.filter(pk=store.pk).update(scanned_at=now, scanned_items=items)
