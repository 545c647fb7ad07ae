"""Each state of the log store, planted by our writer: what Levee says, and what deltalake 1.6.0 makes of it."""

from dataclasses import dataclass

import pytest

from coordinator.models import DeltaTable
from sandbox.client import Client
from tests.conformance import logged as befall
from tests.conformance.conftest import BUCKET
from tests.conformance.levee import Levee
from tests.conformance.logged import ROWS, Logged, Mishap
from tests.conformance.old_deltalake import OldDeltalake, OldDeltalakeError, Read, storage_options

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def deltalake(ground: Client) -> OldDeltalake:
    return OldDeltalake(ground)


@pytest.fixture
def table(stores: Client, key: str) -> Logged:
    return Logged(stores, BUCKET, key)


@pytest.fixture
def levee(table: Logged) -> Levee:
    return Levee(table.client, table.uri)


def grown(table: Logged) -> None:
    table.create()
    table.append(2)


def test_deltalake_and_our_writer_share_one_lock(table: Logged, levee: Levee, deltalake: OldDeltalake) -> None:
    deltalake.append(table.uri, ROWS)
    table.accepted(ROWS)
    table.append()
    assert deltalake.append(table.uri, ROWS) == 2
    table.accepted(ROWS)
    table.append()
    seen = levee.look(table.uri)
    assert (seen.state, seen.codes, seen.published, seen.lock_domains) == ("healthy", set(), 3, (table.uri,))
    assert deltalake.read(table.uri) == table.read_by_newest() == Read(3, table.rows)


def test_deltalake_publishes_a_pending_commit_on_opening(table: Logged, levee: Levee, deltalake: OldDeltalake) -> None:
    grown(table)
    befall.unpublished(table)
    pending = levee.look(table.uri)
    assert (pending.codes, pending.state, pending.published, pending.accepted) == ({"C2"}, "pending", 2, 3)
    assert table.read_by_newest().version == 2
    assert deltalake.read(table.uri) == Read(3, table.rows)
    seen = levee.look(table.uri)
    assert (seen.codes, seen.state, seen.published) == (set(), "healthy", 3)
    assert table.entry(3).complete


def test_deltalake_wounds_a_table_whose_temp_file_is_gone(table: Logged, levee: Levee, deltalake: OldDeltalake) -> None:
    grown(table)
    befall.temp_file_lost(table)
    assert "C11" in levee.look(table.uri).codes
    deltalake.read(table.uri)
    assert table.entry(3).complete
    seen = levee.look(table.uri)
    assert (seen.codes, seen.state) == ({"C7"}, "blocked")
    assert not seen.repairs
    with pytest.raises(OldDeltalakeError, match="Invalid table version"):
        deltalake.append(table.uri, ROWS)


def test_the_newest_deltalake_is_seen_as_a_foreign_writer(table: Logged, levee: Levee) -> None:
    import pyarrow as pa
    from deltalake import write_deltalake

    grown(table)
    one_row = pa.table({"id": [1]})
    write_deltalake(table.uri, one_row, mode="append", storage_options=storage_options(table.client))
    assert table.read_by_newest() == Read(3, table.rows + 1)
    seen = levee.look(table.uri)
    assert (seen.codes, seen.state) == ({"foreign-writer"}, "unsafe")


ENCODED = {"my table": "my%20table", "größe": "gr%C3%B6%C3%9Fe", 'a"b<c>{d}`e': "a%22b%3Cc%3E%7Bd%7D%60e"}
"""Names as deltalake 1.6.0 spells them in the paths of its entries: a lock that Spark's writers do not share."""


@pytest.mark.parametrize("name", ENCODED, ids=ENCODED.values())
def test_a_path_that_delta_rs_encodes_is_one_table_and_another_lock(
    name: str, table: Logged, levee: Levee, deltalake: OldDeltalake
) -> None:
    alone = f"{table.uri}/alone/{name}"
    for _ in range(3):
        deltalake.append(alone, ROWS)
    seen = levee.look(alone)
    assert (seen.state, seen.codes, seen.published) == ("healthy", set(), 2)
    assert seen.lock_domains == (alone.replace(name, ENCODED[name]),)

    table.key = f"{table.key}/{name}"
    grown(table)
    befall.unpublished(table)
    assert deltalake.append(table.uri, ROWS) == table.version, "two writers won one version"
    seen = levee.look(table.uri)
    assert seen.state == "unsafe"
    assert {"two-lock-domains", "accepted-twice"} <= seen.codes
    assert "publish-commit" not in seen.repairs
    assert {*seen.lock_domains} == {table.uri, table.uri.replace(name, ENCODED[name])}
    assert {one.uri for one in DeltaTable.objects.filter(gone_at=None)} == {alone, table.uri}


@dataclass(frozen=True)
class Planted:
    """A state and the repair that is offered; `loses` rows that nobody can bring back.

    Where none is offered, `by_hand` is what a person does first, and `later` the repair that then is, of finding `of`.
    """

    code: str
    plant: Mishap
    state: str
    repair: str = ""
    loses: int = 0
    by_hand: Mishap = Logged.published
    of: str = ""
    later: str = ""

    @property
    def name(self) -> str:
        return f"{self.code}-{self.plant.__name__}"


STATES = (
    Planted("C1", befall.temp_file_of_a_loser, "healthy"),
    Planted("C2", befall.unpublished, "pending", "publish-commit"),
    Planted("C4", befall.not_completed, "attention", "complete-entry"),
    Planted("C6", befall.file_lost, "blocked", "republish-file"),
    Planted("C7", befall.commit_lost, "blocked", by_hand=befall.temp_file_restored, of="C6", later="republish-file"),
    Planted("C9", befall.stale_entry, "attention", "complete-entry"),
    Planted("C11", befall.temp_file_lost, "blocked", "abandon-commit", loses=ROWS),
)


@pytest.mark.parametrize("planted", STATES, ids=lambda planted: planted.name)
def test_each_state_is_recognised_and_every_deltalake_reads_and_the_old_one_writes_what_was_repaired(
    planted: Planted, table: Logged, levee: Levee, deltalake: OldDeltalake
) -> None:
    grown(table)
    planted.plant(table)
    seen = levee.look(table.uri)
    assert (seen.codes, seen.state) == ({planted.code}, planted.state), seen
    assert seen.accepted == table.version
    assert seen.repairs == ({planted.repair} if planted.repair else set())

    planted.by_hand(table)
    levee.look(table.uri)
    if repair := planted.repair or planted.later:
        levee.repair(table.uri, repair, planted.of or planted.code)
        if planted.loses:
            table.gave_up(planted.loses)
        seen = levee.look(table.uri)
        assert (seen.codes, seen.state, seen.published) == (set(), "healthy", table.version), seen
    assert deltalake.read(table.uri) == table.read_by_newest() == Read(table.version, table.rows)
    assert deltalake.append(table.uri, ROWS) == table.version + 1
    table.accepted(ROWS)
    table.append()
    assert deltalake.read(table.uri) == table.read_by_newest() == Read(table.version, table.rows)
    assert table.published() == list(range(table.version + 1))
