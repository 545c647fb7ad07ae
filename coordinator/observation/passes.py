"""One look at one connection: stores first, then the watched prefixes, then every table, many at once."""

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from coordinator.models import CommitStore, DeltaTable, ObservationPass, Watch
from coordinator.observation.discovery import MOST_FOLDERS, find_tables
from coordinator.observation.reading import Reading, read_table
from coordinator.observation.saving import CHUNK, save_readings, save_unchanged
from coordinator.observation.settings_of_aws import observe_buckets, observe_stores
from coordinator.observation.surveys import (
    CoordinatorSurvey,
    LogStoreSurvey,
    Survey,
    scan_coordinator,
    scan_log_store,
)
from coordinator.observation.targets import Target, TargetBook, known_tables
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.uri import TableUri

logger = logging.getLogger(__name__)

SMALL_STORE_ITEMS = 5_000
"""A store of up to this many items (about 1 MB) is scanned in every pass: cheaper than a query for each table."""
SCAN_EVERY = timedelta(hours=1)
"""How often a larger store is scanned for tables that nobody named."""

Progress = Callable[[str, int, int | None], None]
"""Called as (step, done, total) from the thread that runs the pass; it may raise to stop it."""


@dataclass(frozen=True, slots=True)
class PassResult:
    """What a pass did. `requests` counts every request to AWS."""

    tables_seen: int
    tables_changed: int
    tables_failed: int
    requests: int
    read_units: float
    problems: tuple[str, ...]


def observe_connection(
    connection: Connection, lake: Lake, *, threads: int, in_full: bool = False, progress: Progress | None = None
) -> PassResult:
    """Read all of one connection and store it. A failure of one part is stored with that part; the rest goes on."""
    started = timezone.now()
    say = progress or (lambda step, done, total: None)
    record = ObservationPass.objects.create(connection=connection, started_at=started)
    with ThreadPoolExecutor(threads, thread_name_prefix="observe") as executor:
        say("Read the commit stores", 0, None)
        survey = _survey(connection, lake, started, in_full=in_full)
        say("Find the tables", 0, None)
        book, problems = _targets(connection, lake, survey, executor)
        readings = _read_all(lake, survey, tuple(book.targets.values()), started, executor, in_full=in_full)
        counts = _save_all(connection, readings, len(book.targets), say)
        say("Read store and bucket settings", 0, None)
        observe_stores(connection, lake, started)
        observe_buckets(connection, lake, started)
    result = PassResult(
        len(book.targets), counts.changed, counts.failed, lake.requests.total, lake.requests.read_units, tuple(problems)
    )
    _finish(record, result)
    return result


def observe_one_table(connection: Connection, lake: Lake, uri: TableUri) -> Reading:
    """Read one table in full, known or not, and store it."""
    now = timezone.now()
    known = known_tables(
        DeltaTable.objects.filter(connection=connection, bucket=uri.bucket, prefix=uri.key).select_related("store")
    )
    survey = _survey(connection, lake, now, in_full=False)
    reading = read_table(lake, survey, Target(uri, known.get((uri.bucket, uri.key))), now, in_full=True)
    save_readings(connection, [reading])
    return reading


def _stores(connection: Connection, kind: CommitStore.Kind) -> Iterable[CommitStore]:
    return CommitStore.objects.filter(connection=connection, kind=kind).order_by("name")


def _survey(connection: Connection, lake: Lake, now: datetime, *, in_full: bool) -> Survey:
    log_stores = []
    for store in _stores(connection, CommitStore.Kind.LOG_STORE):
        due = in_full or _scan_is_due(store, now)
        survey = scan_log_store(lake.dynamodb, store.name) if due else LogStoreSurvey(store.name)
        if survey.partitions is not None:
            _note_scan(store, sum(partition.count for partition in survey.partitions.values()), now)
        log_stores.append(survey)
    coordinators = []
    for store in _stores(connection, CommitStore.Kind.COMMIT_COORDINATOR):
        due = in_full or _scan_is_due(store, now)
        found = scan_coordinator(lake.dynamodb, store.name) if due else CoordinatorSurvey(store.name)
        if found.registrations is not None:
            _note_scan(store, len(found.registrations), now)
        coordinators.append(found)
    return Survey(tuple(log_stores), tuple(coordinators))


def _scan_is_due(store: CommitStore, now: datetime) -> bool:
    if store.scanned_at is None or store.scanned_items is None:
        return True
    return store.scanned_items <= SMALL_STORE_ITEMS or now - store.scanned_at > SCAN_EVERY


def _note_scan(store: CommitStore, items: int, now: datetime) -> None:
    CommitStore.objects.filter(pk=store.pk).update(scanned_at=now, scanned_items=items)


def _targets(
    connection: Connection, lake: Lake, survey: Survey, executor: ThreadPoolExecutor
) -> tuple[TargetBook, list[str]]:
    book = TargetBook(known_tables(DeltaTable.objects.filter(connection=connection).select_related("store")))
    problems: list[str] = []
    for watch in Watch.objects.filter(connection=connection):
        problems += _look_below(watch, lake, book, executor)
    for store in survey.log_stores:
        for path, uri in store.places().items():
            if uri is None:
                problems.append(f"{store.name} holds entries of {path!r}, which is no place in S3.")
            else:
                book.add(uri)
    for coordinator in survey.coordinators:
        for registration in coordinator.registrations or ():
            try:
                book.add(TableUri.parse(registration.path))
            except ValueError as error:
                problems.append(f"{coordinator.name} holds registration {registration.table_id!r}: {error}")
    book.add_known()
    return book, problems


def _look_below(watch: Watch, lake: Lake, book: TargetBook, executor: ThreadPoolExecutor) -> list[str]:
    prefix = TableUri.parse(watch.uri)
    known_keys = {key for bucket, key in book.known if bucket == prefix.bucket}
    try:
        discovery = find_tables(lake.s3, prefix, known_keys, executor)
    except AwsError as error:
        _note_watch(watch, error.code, str(error))
        return [f"{watch.uri} cannot be listed: {error}"]
    for root in discovery.roots:
        book.add(root)
    cut_off = f"More than {MOST_FOLDERS:,} folders lie below it: watch its parts." if discovery.cut_off else ""
    _note_watch(watch, "TooManyFolders" if cut_off else "", cut_off)
    return [f"{watch.uri}: {cut_off}"] if cut_off else []


def _note_watch(watch: Watch, code: str, text: str) -> None:
    Watch.objects.filter(pk=watch.pk).update(listed_at=timezone.now(), error_code=code, error_text=text)


def _read_all(
    lake: Lake,
    survey: Survey,
    targets: tuple[Target, ...],
    now: datetime,
    executor: ThreadPoolExecutor,
    *,
    in_full: bool,
) -> Iterator[Reading]:
    """Yield readings as they come; few are under way at once, so a stopped pass has little left to wait for."""
    waiting = iter(targets)
    running: set[Future[Reading]] = set()
    try:
        while True:
            while len(running) < 4 * CHUNK and (target := next(waiting, None)) is not None:
                running.add(executor.submit(read_table, lake, survey, target, now, in_full=in_full))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        for future in running:
            future.cancel()


@dataclass(slots=True)
class _Counts:
    changed: int = 0
    failed: int = 0


def _save_all(connection: Connection, readings: Iterator[Reading], total: int, say: Progress) -> _Counts:
    counts = _Counts()
    unchanged: list[int] = []
    pending: list[Reading] = []
    newest = timezone.now()
    for done, reading in enumerate(readings, start=1):
        newest = reading.observed_at
        if reading.unchanged and reading.target.known is not None:
            unchanged.append(reading.target.known.id)
        else:
            pending.append(reading)
            counts.failed += reading.error is not None
            counts.changed += reading.error is None
        if len(pending) >= CHUNK:
            save_readings(connection, pending)
            pending = []
        say("Read the tables", done, total)
    save_readings(connection, pending)
    save_unchanged(unchanged, newest)
    return counts


def _finish(record: ObservationPass, result: PassResult) -> None:
    ObservationPass.objects.filter(pk=record.pk).update(
        finished_at=timezone.now(),
        tables_seen=result.tables_seen,
        tables_changed=result.tables_changed,
        tables_failed=result.tables_failed,
        requests=result.requests,
        error_text=" ".join(result.problems),
    )
