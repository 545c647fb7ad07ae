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
class WriterTestRow:
    """One test: `look` is a state's name, `job` the look that is under way."""

    test: WriterTest
    look: str
    word: str
    job: Job | None


@dataclass(frozen=True, slots=True)
class WriterTestList:
    """Tests of one store: `more` are older ones that are not shown, `places` where a scratch table may lie."""

    rows: tuple[WriterTestRow, ...]
    more: int
    places: tuple[str, ...]


def tests_of(store: CommitStore) -> WriterTestList:
    tests = WriterTest.objects.filter(connection=store.connection_id, store_name=store.name)
    shown = list(tests[:MOST_SHOWN])
    jobs = _looks_under_way(shown)
    return WriterTestList(
        tuple(_row(test, jobs) for test in shown),
        max(0, tests.count() - len(shown)),
        tuple(usual_places(store.connection)),
    )


def row_of(test: WriterTest) -> WriterTestRow:
    return _row(test, _looks_under_way([test]))


def _row(test: WriterTest, jobs: dict[str, Job]) -> WriterTestRow:
    look, word = LOOKS[WriterTestState(test.state)]
    return WriterTestRow(test, look, word, jobs.get(test.token))


def _looks_under_way(tests: list[WriterTest]) -> dict[str, Job]:
    tokens = [test.token for test in tests]
    jobs = Job.objects.filter(kind=CHECK_KIND, target_type="writer-test", target_id__in=tokens, state__in=ACTIVE)
    return {job.target_id: job for job in jobs}
