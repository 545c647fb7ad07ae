"""Paths that deltalake 1.6.0 percent-encodes: one table, and a lock that Spark's writers do not share."""

from collections.abc import Iterator

import pytest

from coordinator.models import CommitStore, DeltaTable
from sandbox.client import Client
from sandbox.ground import DELTA_LOG
from tests.conformance import logged as befall
from tests.conformance.conftest import BUCKET
from tests.conformance.levee import Levee
from tests.conformance.logged import ROWS, Logged
from tests.conformance.old_deltalake import OldDeltalake

pytestmark = [pytest.mark.xdist_group("dynamodb-local"), pytest.mark.django_db]

ENCODED = {"my table": "my%20table", "größe": "gr%C3%B6%C3%9Fe", 'a"b<c>{d}`e': "a%22b%3Cc%3E%7Bd%7D%60e"}


@pytest.fixture(scope="module")
def deltalake(ground: Client) -> Iterator[OldDeltalake]:
    with OldDeltalake(ground) as process:
        yield process


@pytest.fixture(params=ENCODED, ids=ENCODED.values())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def table(stores: Client, key: str, name: str) -> Logged:
    return Logged(stores, BUCKET, f"{key}/{name}")


@pytest.fixture
def levee(table: Logged) -> Levee:
    return Levee(table.client, DELTA_LOG, CommitStore.Kind.LOG_STORE, table.uri)


@pytest.fixture
def encoded(table: Logged, name: str) -> str:
    return f"{table.uri.removesuffix(name)}{ENCODED[name]}"


def test_a_table_of_delta_rs_alone_is_one_healthy_table(
    table: Logged, encoded: str, levee: Levee, deltalake: OldDeltalake
) -> None:
    for _ in range(3):
        deltalake.append(table.uri, ROWS)
    seen = levee.look(table.uri)
    assert (seen.state, seen.codes, seen.published) == ("healthy", set(), 2)
    assert seen.lock_domains == (encoded,)
    assert [one.uri for one in DeltaTable.objects.filter(gone_at=None)] == [table.uri]


def test_delta_rs_takes_the_version_that_sparks_log_store_has_accepted(
    table: Logged, encoded: str, levee: Levee, deltalake: OldDeltalake
) -> None:
    table.create()
    table.append()
    befall.unpublished(table)
    assert deltalake.append(table.uri, ROWS) == table.version, "two writers won one version"
    seen = levee.look(table.uri)
    assert seen.state == "unsafe"
    assert {"two-lock-domains", "accepted-twice"} <= seen.codes
    assert "publish-commit" not in seen.repairs
    assert {*seen.lock_domains} == {table.uri, encoded}
    assert DeltaTable.objects.filter(gone_at=None).count() == 1
    twice = levee.finding(table.uri, "accepted-twice")
    assert twice.version == table.version
