"""A table that is written before every request of a look, in memory: what is sound is never called critical."""

from collections.abc import Callable

import pytest

from coordinator.observation.reading import Reading, read_once
from coordinator.observation.second_look import read_table
from coordinator.observation.surveys import LogStoreSurvey, Survey, scan_coordinator, scan_log_store
from coordinator.observation.targets import TableTarget
from coordinator.protocols.needed_facts import MOST_LOOKUPS
from coordinator.protocols.verdict import Severity, State
from lake.aws.access import Lake
from lake.delta.uri import TableUri
from tests.builders.delta import registration_item
from tests.builders.guard import Call
from tests.builders.memory_aws import BUCKET, ENDPOINT, MemoryAws
from tests.builders.moto_lake import MotoLake
from tests.builders.writers import Writer, coordinated_writer, log_store_writer, meanwhile

ROOT = "sales/orders"
COORDINATOR = "commits"
MOST_REQUESTS = 200
MOST_COMMITS = 2 * MOST_LOOKUPS
"""Then a writer rests: the log has become long."""

Pace = Callable[[Writer], object]
PACES: dict[str, Pace] = {
    "one request": lambda writer: writer.step(),
    "a commit": lambda writer: writer.commit(),
    "a commit and a half": lambda writer: (writer.commit(), writer.step(), writer.step()),
    "five commits": lambda writer: [writer.commit() for _ in range(5)],
    "more commits than are looked up": lambda writer: [writer.commit() for _ in range(MOST_LOOKUPS)],
    "commits, a checkpoint and clean-up": lambda writer: (writer.commit(), writer.commit(), writer.clean()),
}


class Scene:
    """A lake in memory with one table and its writer."""

    def __init__(self, protocol: str) -> None:
        self.aws = MemoryAws()
        self.written = MotoLake(self.aws, self.aws, BUCKET, ENDPOINT)
        self.written.store(COORDINATOR, tableId="HASH")
        make = {"log store": log_store_writer, "coordinated": self._coordinated}[protocol]
        self.writer: Writer = make(self.written, ROOT)

    def _coordinated(self, written: MotoLake, root: str) -> Writer:
        return coordinated_writer(written, root, COORDINATOR)

    def before_requests(self, pace: Pace, is_chosen: Callable[[int], object]) -> None:
        """Let the writer act before each chosen request, counted from 1."""

        def act(call: Call) -> None:
            if is_chosen(len(self.aws.calls)) and self.writer.version < MOST_COMMITS:
                pace(self.writer)

        self.aws.before = act

    def survey(self, lake: Lake, *, scanned: bool) -> Survey:
        """The stores as a pass has them: scanned before the table is read, or not."""
        log_store = LogStoreSurvey(self.written.log_store)
        if scanned:
            log_store = scan_log_store(lake.dynamodb, self.written.log_store)
        return Survey((log_store,), (scan_coordinator(lake.dynamodb, COORDINATOR),))

    def look(self, read: Callable[..., Reading], *, scanned: bool = True) -> Reading:
        lake = self.aws.lake()
        target = TableTarget(TableUri.parse(self.written.uri(ROOT)))
        reading = read(lake, self.survey(lake, scanned=scanned), target, in_full=True)
        assert reading.verdict is not None, reading.error
        return reading


def critical(reading: Reading) -> list[tuple[str, int | None]]:
    assert reading.verdict is not None
    return [(one.code, one.version) for one in reading.verdict.findings if one.severity is Severity.CRITICAL]


@pytest.mark.slow
@pytest.mark.parametrize("scanned", [True, False])
@pytest.mark.parametrize("pace", PACES.values(), ids=PACES.keys())
@pytest.mark.parametrize("protocol", ["log store", "coordinated"])
def test_a_writer_before_every_request_is_never_called_critical(protocol, pace: Pace, scanned):
    scene = Scene(protocol)
    scene.before_requests(pace, lambda number: True)

    reading = scene.look(read_table, scanned=scanned)

    assert critical(reading) == []


@pytest.mark.parametrize("pace", PACES.values(), ids=PACES.keys())
@pytest.mark.parametrize("protocol", ["log store", "coordinated"])
def test_a_burst_before_any_one_request_is_healthy_in_one_pass(protocol, pace: Pace):
    """Whichever request it comes before, the second look settles it."""
    for number in range(1, MOST_REQUESTS):
        scene = Scene(protocol)
        scene.before_requests(pace, number.__eq__)

        reading = scene.look(read_table)

        assert critical(reading) == []
        assert reading.verdict.state in (State.HEALTHY, State.PENDING, State.UNBACKFILLED)
        if len(scene.aws.calls) < number:
            return
    raise AssertionError("a look takes more requests than this test makes room for")


@pytest.mark.parametrize("pace", list(PACES.values())[:4], ids=list(PACES)[:4])
@pytest.mark.parametrize("protocol", ["log store", "coordinated"])
def test_a_file_lost_under_a_fast_writer_is_found_in_one_pass(protocol, pace: Pace):
    scene = Scene(protocol)
    scene.written.delete(scene.writer.file(1))
    scene.before_requests(pace, lambda number: True)

    reading = scene.look(read_table)

    assert ("version-hole", 1) in critical(reading)
    assert reading.verdict.state is State.BLOCKED


def listings(scene: Scene) -> int:
    return scene.aws.count("s3:List")


@pytest.mark.parametrize("protocol", ["log store", "coordinated"])
def test_a_commit_that_waits_takes_no_second_look(protocol):
    scene = Scene(protocol)
    scene.writer.step()
    scene.writer.step()

    assert scene.look(read_table).verdict.state in (State.PENDING, State.UNBACKFILLED)
    assert listings(scene) == 1


def test_a_table_made_anew_after_the_scan_has_not_lost_the_commits_of_the_old_one():
    scene = Scene("log store")
    scene.written.pending(ROOT, 3)

    def make_anew() -> None:
        scene.aws.memory.buckets[BUCKET].clear()
        scene.aws.memory.table(scene.written.log_store).items.clear()
        log_store_writer(scene.written, ROOT, commits=1)

    scene.aws.before = meanwhile(make_anew, "s3:List")

    reading = scene.look(read_table)

    assert (critical(reading), reading.verdict.published_version) == ([], 0)


def test_a_closed_registration_that_was_removed_after_the_scan_has_lost_nothing():
    scene = Scene("log store")
    closed = registration_item(9, [9], path={"S": scene.written.uri(ROOT)}, acceptingCommits={"BOOL": False})
    scene.aws.put_item(TableName=COORDINATOR, Item=closed)
    scene.aws.before = meanwhile(scene.aws.memory.table(COORDINATOR).items.clear, "s3:List")

    reading = scene.look(read_table)

    assert (critical(reading), listings(scene)) == ([], 2)


@pytest.mark.parametrize(("protocol", "asked"), [("log store", "Query"), ("coordinated", "GetItem")])
def test_one_look_alone_would_raise_what_is_not_so(protocol, asked: str):
    """The writers above are fast enough to deceive a single look."""
    scene = Scene(protocol)
    burst = PACES["more commits than are looked up"]
    scene.before_requests(burst, lambda number: scene.aws.calls[-1].operation == f"dynamodb:{asked}")

    assert critical(scene.look(read_once, scanned=False)) != []
