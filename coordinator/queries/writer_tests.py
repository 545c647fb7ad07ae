"""Self-tests of writers as the page of a store shows them, newest first."""

from dataclasses import dataclass

from coordinator.models import CommitStore, WriterTest
from coordinator.writer_tests.actions import CHECK_KIND
from coordinator.writer_tests.judging import WriterTestState
from coordinator.writer_tests.places import usual_places
from dashboard.jobs.models import ACTIVE, Job

MOST_SHOWN = 20
LOOKS = {
    WriterTestState.NOT_SEEN: ("not_checked", "Not seen yet"),
    WriterTestState.UNFINISHED: ("not_checked", "Not whole yet"),
    WriterTestState.LOCK_TAKEN: ("healthy", "Lock taken"),
    WriterTestState.NO_LOCK: ("unsafe", "No lock taken"),
    WriterTestState.NOT_KNOWN: ("not_checked", "Not known"),
}
"""The state whose shape and tone each outcome is shown with, and its word."""


@dataclass(frozen=True, slots=True)
class WriterTestList:
    """Tests of one store, each with its look and word: `more` are older ones that are not shown, `places` where a
    scratch table may lie.
    """

    rows: tuple[tuple[WriterTest, str, str], ...]
    more: int
    places: tuple[str, ...]


def tests_of(store: CommitStore) -> WriterTestList:
    tests = WriterTest.objects.filter(connection=store.connection_id, store_name=store.name)
    rows = tuple((test, *look_of(test)) for test in tests[:MOST_SHOWN])
    return WriterTestList(rows, max(0, tests.count() - len(rows)), tuple(usual_places(store)))


def look_of(test: WriterTest) -> tuple[str, str]:
    """The look and the word of its outcome."""
    return LOOKS[WriterTestState(test.state)]


def look_under_way(test: WriterTest) -> Job | None:
    return Job.objects.filter(
        kind=CHECK_KIND, target_type="writer-test", target_id=test.token, state__in=ACTIVE
    ).first()
