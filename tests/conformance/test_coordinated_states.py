"""Each state of the commit coordinator, planted under a table of real Spark: what Levee says, and what Spark does."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from sandbox.client import Client
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

    `offers` says whether the page offers `repair` at once. `by_hand` is what a person does after the writers' attempt,
    and `repair` then ends the finding `of`; `leaves` is the state afterwards. The table has two appends before `plant`.
    """

    code: str
    plant: Callable[[Coordinated], None]
    state: str
    repair: str
    stale: int = 0
    reading: str = ""
    writing: str = ""
    offers: bool = True
    by_hand: Callable[[Coordinated], None] = Coordinated.forget
    of: str = ""
    leaves: str = "healthy"
    path_scheme: str = ""

    @property
    def name(self) -> str:
        return f"{self.code}-{self.plant.__name__}"


STATES = (
    Planted("K0", befall.orphaned_registration, "healthy", "remove-orphans"),
    Planted("K2", befall.staged_and_dead, "healthy", "remove-orphans", offers=False, by_hand=Coordinated.append),
    Planted("K3", befall.unbackfilled, "unbackfilled", "backfill"),
    Planted("K4", befall.list_left, "attention", "clear-entries"),
    Planted("K6", befall.cleared_too_early, "blocked", "publish-accepted-staged-file", stale=ROWS, writing=SPIN),
    Planted(
        "K7",
        befall.staged_lost,
        "blocked",
        "backfill",
        reading=FILE_LOST,
        writing=FILE_LOST,
        offers=False,
        by_hand=Coordinated.bring_back,
        of="K3",
    ),
    Planted("K8", befall.item_lost, "blocked", "re-register", reading=ITEM_LOST, writing=ITEM_LOST, path_scheme="s3a"),
    Planted("K9", befall.item_restored, "blocked", "raise-coordinator-version", writing=BEHIND),
    Planted(
        "K12",
        befall.staged_by_other_release,
        "blocked",
        "backfill",
        reading=FILE_LOST,
        writing=FILE_LOST,
        of="K3",
        leaves="attention",
    ),
)


@pytest.fixture
def table(lake: SparkLake, stores: Client, key: str) -> Coordinated:
    return Coordinated(lake, BUCKET, key)


@pytest.fixture
def levee(table: Coordinated) -> Levee:
    return Levee(table.client, table.uri)


@pytest.mark.parametrize("planted", STATES, ids=lambda planted: planted.name)
def test_spark_does_what_the_diagnosis_says_until_it_is_repaired(
    planted: Planted, table: Coordinated, levee: Levee
) -> None:
    table.create()
    table.append(2)
    planted.plant(table)
    seen = levee.look(table.uri)
    assert planted.code in seen.codes, seen
    assert (seen.state, seen.accepted) == (planted.state, table.version), seen
    assert seen.repairs == ({planted.repair} if planted.offers else set()), seen
    if planted.reading:
        with pytest.raises(Exception, match=planted.reading):
            table.count()
    else:
        assert table.count() == table.rows - planted.stale
    if planted.writing:
        with pytest.raises(Exception, match=planted.writing):
            table.append()
        assert planted.code in levee.look(table.uri).codes

    planted.by_hand(table)
    levee.look(table.uri)
    levee.repair(table.uri, planted.repair, planted.of or planted.code, planted.path_scheme)
    seen = levee.look(table.uri)
    assert planted.code not in seen.codes or planted.repair not in seen.repairs, seen
    assert (seen.state, seen.published, seen.accepted) == (planted.leaves, table.version, table.version), seen
    assert table.version_seen_outside() == table.version
    assert table.count() == table.rows
    table.append()
    assert (table.count(), table.published()) == (table.rows, list(range(table.version + 1)))
    assert table.version_seen_outside() == table.version


@pytest.mark.parametrize(("code", "plant"), [("K3", befall.unbackfilled), ("K4", befall.list_left)])
def test_the_next_commit_ends_by_itself_what_a_dead_writer_left(
    code: str, plant: Callable[[Coordinated], None], table: Coordinated, levee: Levee
) -> None:
    table.create()
    table.append(2)
    plant(table)
    assert code in levee.look(table.uri).codes
    table.append()
    assert (table.count(), table.published()) == (table.rows, list(range(table.version + 1)))
    assert code not in levee.look(table.uri).codes


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
