"""One look at one connection: stores first, then the watched prefixes, then every table, many at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from coordinator.coordination.rehearsal_places import rehearsal_places
from coordinator.models import Bucket, CommitStore, DeltaTable, ObservationPass, Watch
from coordinator.observation.commit_rows import recall_engines
from coordinator.observation.discovery import find_tables
from coordinator.observation.elsewhere import held_elsewhere, rows_elsewhere
from coordinator.observation.provenance_rows import recall_provenance
from coordinator.observation.reading import Reading
from coordinator.observation.saving import CHUNK, save_readings, save_unchanged
from coordinator.observation.second_look import MOST_SECOND_LOOKS, SecondLooks, read_table
from coordinator.observation.settings_of_aws import judge_bucket_again, observe_buckets, observe_stores
from coordinator.observation.surveys import Survey, survey_for_one_table, survey_stores
from coordinator.observation.targets import Engines, TableTarget, TargetBook, known_tables
from coordinator.observation.workers import Workers
from coordinator.writer_tests.places import scratch_places
from dashboard.connections.models import Connection
from dashboard.storable import clean_text
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.facts import Provenance
from lake.delta.uri import TableUri, table_uri

__all__ = ["PassResult", "observe_connection", "observe_one_table", "survey_for_one_table", "target_of"]

UNCHANGED_CHUNK = 500
"""Unchanged tables noted in one statement."""

Progress = Callable[[str, int, int | None], None]
"""Called as (step, done, total) from the thread that runs the pass; it may raise to stop it."""


def looked_at() -> QuerySet[Connection]:
    """Connections that watch a prefix, have a commit store, or hold a table that has not vanished.

    What is said of a table gets old whether or not its prefix is still watched.
    """
    here = OuterRef("pk")
    watched = Exists(Watch.objects.filter(connection=here))
    stored = Exists(CommitStore.objects.filter(connection=here))
    known = Exists(DeltaTable.objects.filter(connection=here, gone_at=None))
    return Connection.objects.filter(watched | stored | known).order_by("pk")


@dataclass(slots=True)
class PassResult:
    """What a pass did. `requests` counts every request to AWS; `problems` are sentences on what no table shows."""

    tables_seen: int = 0
    tables_changed: int = 0
    tables_failed: int = 0
    requests: int = 0
    read_units: float = 0.0
    problems: tuple[str, ...] = ()


class _PassProgress:
    """Where the pass is; told anew each time somebody waits, so that a cancelled pass hears of it."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._at: tuple[str, int, int | None] = ("", 0, None)

    def __call__(self, step: str, done: int = 0, total: int | None = None) -> None:
        self._at = (step, done, total)
        self.again()

    def again(self) -> None:
        if self._progress is not None:
            self._progress(*self._at)


def observe_connection(
    connection: Connection, lake: Lake, *, threads: int, in_full: bool = False, progress: Progress | None = None
) -> PassResult:
    """Read all of one connection and store it. A failure of one part is stored with that part; the rest goes on.

    What `progress` raises ends the pass within a moment; what was stored until then stays.
    """
    record = ObservationPass.objects.create(connection=connection, started_at=timezone.now())
    try:
        result = _observe(connection, lake, record.started_at, threads, in_full, _PassProgress(progress))
    except BaseException as error:
        _finish(record, error_code=type(error).__name__[:128], error_text="The pass was ended before it was done.")
        raise
    _finish(
        record,
        tables_seen=result.tables_seen,
        tables_changed=result.tables_changed,
        tables_failed=result.tables_failed,
        requests=result.requests,
        error_text=clean_text(" ".join(result.problems)),
    )
    return result


def _observe(
    connection: Connection, lake: Lake, started: datetime, threads: int, in_full: bool, progress: _PassProgress
) -> PassResult:
    progress("Read the commit stores")
    with Workers(threads, progress.again) as workers:
        observe_stores(connection, lake, started, workers)
        survey = survey_stores(connection, lake, started, workers, in_full=in_full)
        progress("Find the tables")
        book, problems = _targets(connection, lake, survey, workers)
        targets = tuple(book.targets.values())
        result = PassResult(len(targets))
        progress("Read the tables", 0, len(targets))
        looks = SecondLooks()
        waiting = iter(targets)
        read = partial(read_table, lake, survey, in_full=in_full, looks=looks)
        readings = workers.each(read, lambda: next(waiting, None))
        _save_all(connection, readings, result, progress)
        progress("Read bucket settings")
        any_changed = result.tables_changed + result.tables_failed > 0
        observe_buckets(connection, lake, started, workers, tables_changed=any_changed)
    result.problems = (*problems, *_left_to_check(looks))
    result.requests, result.read_units = lake.requests.total, lake.requests.read_units
    return result


def observe_one_table(connection: Connection, lake: Lake, uri: TableUri) -> Reading:
    """Read one table in full, known or not, and store it; a place that was never read and cannot be gets no row."""
    survey = survey_for_one_table(connection, lake)
    reading = read_table(lake, survey, target_of(connection, uri), in_full=True)
    if reading.error is None or reading.target.known is not None:
        save_readings(connection, [reading])
        for bucket in Bucket.objects.filter(connection=connection, name=uri.bucket):
            judge_bucket_again(bucket, timezone.now())
    return reading


class StoredMemory:
    """What rows know. `ask` has a question answered where the database is at home: in the thread that runs the pass."""

    def __init__(self, ask: Callable[[Callable[[], Any]], Any] = lambda question: question()) -> None:
        self._ask = ask

    def versions(self, row_id: int, first: int) -> Mapping[int, Provenance]:
        known: Mapping[int, Provenance] = self._ask(lambda: recall_provenance(row_id, first))
        return known

    def engines(self, row_id: int) -> Engines:
        known: Engines = self._ask(lambda: recall_engines(row_id))
        return known


def target_of(connection: Connection, uri: TableUri) -> TableTarget:
    """Return what a reading of one table starts from, known or not."""
    known = known_tables(DeltaTable.objects.filter(connection=connection, bucket=uri.bucket, prefix=uri.key))
    elsewhere = held_elsewhere(connection, uri), rows_elsewhere(connection, uri)
    return TargetBook(known, *elsewhere, StoredMemory()).target(uri)


def _targets(connection: Connection, lake: Lake, survey: Survey, workers: Workers) -> tuple[TargetBook, list[str]]:
    known = known_tables(DeltaTable.objects.filter(connection=connection))
    scratch = scratch_places() | rehearsal_places(survey.places(), known)
    memory = StoredMemory(workers.ask)
    book = TargetBook(known, held_elsewhere(connection), rows_elsewhere(connection), memory, scratch)
    problems: list[str] = []
    for watch in Watch.objects.filter(connection=connection):
        problems += _look_below(watch, lake, book, workers)
    for bucket, key in sorted(survey.places()):
        book.add(TableUri("s3a", bucket, key))
    problems += survey.strays()
    book.add_known()
    return book, problems


def _look_below(watch: Watch, lake: Lake, book: TargetBook, workers: Workers) -> Sequence[str]:
    prefix = table_uri(watch.uri)
    if prefix is None:
        _note_watch(watch, "InvalidName", "This is no place in S3: declare it anew.")
        return [f"{watch.uri} is no place in S3."]
    try:
        discovery = find_tables(lake.s3, prefix, book.keys_of(prefix.bucket), workers)
    except AwsError as error:
        _note_watch(watch, error.code, str(error))
        return [f"{watch.uri} cannot be listed: {error}"]
    for root in discovery.roots:
        book.add(root)
    _note_watch(watch, "NotAllOfIt" if discovery.problems else "", " ".join(discovery.problems))
    return discovery.problems


def _note_watch(watch: Watch, code: str, text: str) -> None:
    Watch.objects.filter(pk=watch.pk).update(
        listed_at=timezone.now(), error_code=clean_text(code)[:128], error_text=clean_text(text)
    )


def _left_to_check(looks: SecondLooks) -> list[str]:
    if not looks.left_out:
        return []
    many = f"{looks.left_out:,} table{' is' if looks.left_out == 1 else 's are'} still being checked"
    return [f"{many}: a pass takes at most {MOST_SECOND_LOOKS} second looks."]


def _save_all(connection: Connection, readings: Iterator[Reading], result: PassResult, progress: _PassProgress) -> None:
    unchanged: list[Reading] = []
    pending: list[Reading] = []
    for done, reading in enumerate(readings, start=1):
        (unchanged if reading.unchanged and reading.target.known is not None else pending).append(reading)
        if len(unchanged) >= UNCHANGED_CHUNK:
            save_unchanged(unchanged)
            unchanged = []
        if len(pending) >= CHUNK:
            _save_chunk(connection, pending, result)
            pending = []
        progress("Read the tables", done, result.tables_seen)
    _save_chunk(connection, pending, result)
    save_unchanged(unchanged)


def _save_chunk(connection: Connection, readings: list[Reading], result: PassResult) -> None:
    if not readings:
        return
    failed = sum(reading.error is not None for reading in readings) + save_readings(connection, readings)
    result.tables_failed += failed
    result.tables_changed += len(readings) - failed


def _finish(record: ObservationPass, **fields: object) -> None:
    ObservationPass.objects.filter(pk=record.pk).update(finished_at=timezone.now(), **fields)
