"""Two looks at once, and threads that never stop a pass from ending."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections

from coordinator.models import Commit, DeltaTable, Entry, ProvenanceRow, TableFinding
from coordinator.observation import passes
from coordinator.observation.passes import observe_connection, observe_one_table
from coordinator.observation.workers import TICK_SECONDS, Stopped, Workers
from lake.delta.uri import TableUri
from tests.builders.delta import commit_bytes, commit_info
from tests.waiting import scaled

pytestmark = pytest.mark.postgres("upserts")


class Stop(Exception):
    """Somebody cancelled."""


@pytest.mark.skipif(
    connections["default"].vendor == "sqlite", reason="SQLite in memory refuses a second writer instead of waiting"
)
@pytest.mark.django_db(transaction=True)
def test_a_table_and_its_lake_may_be_looked_at_at_once(written, connection, lake):
    uri = written.table("sales/orders", commits=5, log_store=True)
    written.pending("sales/orders", 5)
    together = threading.Barrier(3)

    def look(work) -> None:
        try:
            for _ in range(4):
                together.wait(timeout=scaled(30))
                work()
        finally:
            connections.close_all()

    def one() -> None:
        reading = observe_one_table(connection, lake, TableUri.parse(uri))
        assert reading.error is None

    with ThreadPoolExecutor(3) as threads:
        looks = [
            threads.submit(look, work) for work in (one, one, lambda: observe_connection(connection, lake, threads=2))
        ]
        for each in looks:
            each.result(timeout=scaled(120))

    table = DeltaTable.objects.get()
    assert (table.published_version, table.error_code) == (4, "")
    assert (Commit.objects.count(), Entry.objects.count()) == (5, 6)
    assert TableFinding.objects.filter(code="C2", resolved_at=None).count() == 1


def test_two_first_readings_are_one_table_and_keep_what_the_first_one_saw(written, connection, lake):
    uri = TableUri.parse(written.table("sales/orders", commits=3, log_store=True))
    written.pending("sales/orders", 3)
    survey = passes.survey_for_one_table(connection, lake)
    target = passes.target_of(connection, uri)
    first = passes.read_table(lake, survey, target)
    written.commit("sales/orders", 2, commit_bytes(commit_info("MERGE")))
    second = passes.read_table(lake, survey, target)
    kept = []

    for reading in (first, second):
        assert passes.save_readings(connection, [reading]) == 0
        kept.append(list(ProvenanceRow.objects.order_by("version").values()))

    assert kept[0] == kept[1]
    assert (DeltaTable.objects.count(), Entry.objects.count()) == (1, 4)
    assert TableFinding.objects.filter(code="C2").count() == 1


def test_a_failed_first_reading_does_not_undo_a_good_one(written, connection, lake, guard, guarded):
    uri = TableUri.parse(written.table("sales/orders", commits=3))
    unknown = passes.target_of(connection, uri)
    observe_one_table(connection, lake, uri)
    guard.deny("ListObjectsV2")
    failed = passes.read_table(guarded, passes.survey_for_one_table(connection, guarded), unknown)

    passes.save_readings(connection, [failed])

    table = DeltaTable.objects.get()
    assert (table.published_version, table.reader_version, table.error_code) == (2, 1, "AccessDenied")


def test_an_older_reading_does_not_replace_a_newer_one(written, connection, lake):
    uri = TableUri.parse(written.table("sales/orders", commits=3))
    observe_one_table(connection, lake, uri)
    survey = passes.survey_for_one_table(connection, lake)
    old = passes.read_table(lake, survey, passes.target_of(connection, uri), in_full=True)
    written.commit("sales/orders", 3)
    observe_one_table(connection, lake, uri)

    passes.save_readings(connection, [old])

    assert DeltaTable.objects.get().published_version == 3


def test_a_clock_that_was_put_back_does_not_stop_observation(written, connection, lake):
    uri = TableUri.parse(written.table("sales/orders", commits=3))
    observe_one_table(connection, lake, uri)
    DeltaTable.objects.update(observed_at=datetime.now(UTC) + timedelta(days=1))
    written.commit("sales/orders", 3)

    observe_one_table(connection, lake, uri)

    assert DeltaTable.objects.get().published_version == 3


def test_a_place_that_cannot_be_read_and_was_never_known_gets_no_row(connection, lake):
    reading = observe_one_table(connection, lake, TableUri.parse("s3a://no-such-bucket-anywhere/t"))

    assert reading.error is not None
    assert reading.error.code == "NoSuchBucket"
    assert not DeltaTable.objects.exists()


def test_workers_tell_of_themselves_while_a_request_hangs():
    ticks: list[float] = []
    release = threading.Event()

    def tick() -> None:
        ticks.append(time.monotonic())
        if len(ticks) == 3:
            release.set()

    with Workers(1, tick) as workers:
        assert workers.run(lambda: release.wait(scaled(10)))

    assert len(ticks) >= 3


def test_work_asks_the_thread_of_the_pass_and_hears_what_it_raises():
    def refuse() -> None:
        raise LookupError

    def ask() -> int:
        with pytest.raises(LookupError):
            workers.ask(refuse)
        return workers.ask(threading.get_ident)

    with Workers(1, lambda: None) as workers:
        assert workers.run(ask) == threading.get_ident()


def test_nobody_waits_for_an_answer_once_the_pass_has_ended():
    told = threading.Event()

    def stop() -> None:
        raise Stop

    def ask(_: int) -> None:
        try:
            workers.ask(lambda: None)
        except Stopped:
            told.set()

    numbers = iter([1])
    with pytest.raises(Stop), Workers(1, lambda: None) as workers:
        for _ in workers.each(ask, lambda: next(numbers, None) or stop()):
            pass

    assert told.wait(10 * TICK_SECONDS)


def test_work_that_has_not_begun_is_dropped_when_the_pass_ends():
    begun: list[int] = []
    release = threading.Event()

    def work(number: int) -> int:
        begun.append(number)
        release.wait(scaled(10))
        return number

    def tick() -> None:
        if begun:
            raise Stop

    numbers = iter(range(100))
    with pytest.raises(Stop), Workers(1, tick) as workers:
        list(workers.each(work, lambda: next(numbers, None)))
    release.set()

    assert len(begun) <= 2
