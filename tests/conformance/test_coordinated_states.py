"""Each state of the commit coordinator, planted under a table of real Spark: what Levee says, and what Spark does."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from coordinator.models import CommitStore
from sandbox.client import Client
from sandbox.ground import DELTA_COMMITS
from sandbox.spark_tables import SparkLake
from tests.conformance import coordinated as befall
from tests.conformance.conftest import BUCKET
from tests.conformance.coordinated import ROWS, Coordinated
from tests.conformance.levee import Levee

pytestmark = [pytest.mark.spark, pytest.mark.django_db]

SPIN = "DELTA_MAX_COMMIT_RETRIES_EXCEEDED"
FILE_LOST = "FAILED_READ_FILE"
ITEM_LOST = "CommitCoordinatorGetCommitsFailedException"
BEHIND = r"Commit version 3 is not valid\. Expected version: 2\."


@dataclass(frozen=True)
class Planted:
    """A state and what is claimed of it: `stale` rows that readers miss, or the error that they or writers get.

    `heals` says that the next commit ends the state by itself. The table has two appends before `plant`.
    """

    code: str
    plant: Callable[[Coordinated], None]
    state: str
    stale: int = 0
    reading: str = ""
    writing: str = ""
    heals: bool = False
    offers: str = ""

    @property
    def name(self) -> str:
        return f"{self.code}-{self.plant.__name__}"


STATES = (
    Planted("K0", befall.orphaned_registration, "healthy", offers="remove-orphans"),
    Planted("K2", befall.staged_and_dead, "healthy"),
    Planted("K3", befall.unbackfilled, "unbackfilled", heals=True, offers="backfill"),
    Planted("K4", befall.list_left, "attention", heals=True, offers="clear-entries"),
    Planted(
        "K6",
        befall.cleared_too_early,
        "blocked",
        stale=ROWS,
        writing=SPIN,
        offers="publish-accepted-staged-file",
    ),
    Planted("K7", befall.staged_lost, "blocked", reading=FILE_LOST, writing=FILE_LOST),
    Planted("K8", befall.item_lost, "blocked", reading=ITEM_LOST, writing=ITEM_LOST, offers="re-register"),
    Planted("K9", befall.item_restored, "blocked", writing=BEHIND, offers="raise-coordinator-version"),
    Planted(
        "K12",
        befall.staged_by_other_release,
        "blocked",
        reading=FILE_LOST,
        writing=FILE_LOST,
        offers="backfill",
    ),
)


@pytest.fixture
def table(lake: SparkLake, stores: Client, key: str) -> Coordinated:
    return Coordinated(lake, BUCKET, key)


@pytest.fixture
def levee(table: Coordinated) -> Levee:
    return Levee(table.client, DELTA_COMMITS, CommitStore.Kind.COMMIT_COORDINATOR, table.uri)


@pytest.mark.parametrize("planted", STATES, ids=lambda planted: planted.name)
def test_spark_does_what_the_diagnosis_says(planted: Planted, table: Coordinated, levee: Levee) -> None:
    table.create()
    table.append(2)
    planted.plant(table)
    seen = levee.look(table.uri)
    assert planted.code in seen.codes, seen
    assert (seen.state, seen.accepted) == (planted.state, table.version), seen
    assert seen.repairs == ({planted.offers} if planted.offers else set()), seen
    if planted.reading:
        with pytest.raises(Exception, match=planted.reading):
            table.count()
    else:
        assert table.count() == table.rows - planted.stale
    if planted.writing:
        with pytest.raises(Exception, match=planted.writing):
            table.append()
        assert planted.code in levee.look(table.uri).codes
        return
    table.append()
    assert (table.count(), table.published()) == (table.rows, list(range(table.version + 1)))
    assert (planted.code in levee.look(table.uri).codes) is not planted.heals


@dataclass(frozen=True)
class Repaired:
    """A state, what a person does first, and the repair of the finding `code`; `leaves` is the state afterwards.

    `path_scheme` is what a person chooses where Levee has not seen the table before.
    """

    plant: Callable[[Coordinated], None]
    code: str
    repair: str
    by_hand: Callable[[Coordinated], None] = Coordinated.forget
    leaves: str = "healthy"
    path_scheme: str = ""

    @property
    def name(self) -> str:
        return f"{self.plant.__name__}-{self.repair}"


def try_to_write(table: Coordinated) -> None:
    """What writers do meanwhile: it fails, and leaves staged files of versions that nobody accepted."""
    with pytest.raises(Exception, match=f"{SPIN}|{BEHIND}"):
        table.append()


REPAIRS = (
    Repaired(befall.orphaned_registration, "K0", "remove-orphans"),
    Repaired(befall.staged_and_dead, "K2", "remove-orphans", by_hand=Coordinated.append),
    Repaired(befall.unbackfilled, "K3", "backfill"),
    Repaired(befall.list_left, "K4", "clear-entries"),
    Repaired(befall.cleared_too_early, "K6", "publish-accepted-staged-file", by_hand=try_to_write),
    Repaired(befall.staged_lost, "K3", "backfill", by_hand=Coordinated.bring_back),
    Repaired(befall.item_lost, "K8", "re-register", path_scheme="s3a"),
    Repaired(befall.item_restored, "K9", "raise-coordinator-version", by_hand=try_to_write),
    Repaired(befall.staged_by_other_release, "K3", "backfill", leaves="attention"),
)


@pytest.mark.parametrize("case", REPAIRS, ids=lambda case: case.name)
def test_spark_reads_and_writes_what_was_repaired(case: Repaired, table: Coordinated, levee: Levee) -> None:
    table.create()
    table.append(2)
    case.plant(table)
    case.by_hand(table)
    levee.look(table.uri)
    levee.repair(table.uri, case.repair, case.code, case.path_scheme)
    seen = levee.look(table.uri)
    assert case.code not in seen.codes or case.repair not in seen.repairs, seen
    assert (seen.state, seen.published, seen.accepted) == (case.leaves, table.version, table.version), seen
    assert table.version_seen_outside() == table.version
    assert table.count() == table.rows
    table.append()
    assert (table.count(), table.published()) == (table.rows, list(range(table.version + 1)))
    assert table.version_seen_outside() == table.version


def test_a_lost_item_is_made_again_under_the_path_that_spark_accepts(table: Coordinated, levee: Levee) -> None:
    table.create()
    table.append(2)
    levee.look(table.uri)
    befall.item_lost(table)
    levee.look(table.uri)
    levee.repair(table.uri, "re-register", "K8")
    table.append()
    assert table.count() == table.rows


def test_writers_under_another_scheme_than_the_items_are_refused(table: Coordinated, levee: Levee) -> None:
    table.create()
    table.append(2)
    befall.item_lost(table)
    levee.look(table.uri)
    levee.repair(table.uri, "re-register", "K8", path_scheme="s3")
    with pytest.raises(Exception, match="registered at"):
        table.append()


def test_a_table_registers_works_leaves_and_comes_back(table: Coordinated, levee: Levee) -> None:
    table.create()
    registered = levee.look(table.uri)
    assert (registered.codes, registered.state) == ({"K1"}, "healthy")
    table.append(2)
    working = levee.look(table.uri)
    assert (working.codes, working.state, working.accepted) == (set(), "healthy", 2)
    table.drop()
    table.append()
    left = levee.look(table.uri)
    assert (left.codes, left.state, left.published) == ({"K10", "single-driver"}, "healthy", 5)
    table.enable()
    table.append()
    back = levee.look(table.uri)
    assert (back.codes, back.state, back.accepted) == ({"K10", "K11"}, "healthy", 7)
    assert (table.count(), table.published()) == (table.rows, list(range(8)))
