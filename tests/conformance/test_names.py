"""Tables whose paths have the characters that people really use, from enabling to dropping, on real Spark."""

import pytest

from coordinator.coordination.checks import Operation
from sandbox.coordinated import take_back_backfill
from tests.conformance.conftest import BUCKET
from tests.conformance.console import Console, SparkOfLevee
from tests.conformance.coordinated import Coordinated
from tests.conformance.test_enable_and_drop import succeeded

pytestmark = [pytest.mark.spark, pytest.mark.django_db(transaction=True)]

NAMES = {
    "letters beyond ASCII": "Kundenaufträge 雪🧊",
    "letters of two code points": "Kundenauftra\u0308ge",
    "quotes": "it's \"quoted\" ''twice''",
    "backticks": "back`tick``s`",
    "the end of a statement": "semi;colon -- no comment /* none",
    "per cent": "50% %2F %20 %25",
    "an equals sign and a plus": "day=2026-01-01/a+b=c",
    "patterns": "{a,b}[c]*.d",
    "the parts of an address": "a#b?c&d:e@f",
    "substitutions": "a\\b $x ${spark.app.name}",
    "what is left of ASCII": "!(~^|<>),_-.",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_table_of_any_name_is_enabled_repaired_and_dropped(
    table: Coordinated, console: Console, spark_of_levee: SparkOfLevee, name: str
) -> None:
    table = Coordinated(table.lake, BUCKET, f"names/{name}")
    table.create(coordinated=False)
    table.append()
    succeeded(console.enable(table.uri, probe=True))
    table.version += 2
    table.append()
    take_back_backfill(table.client, BUCKET, table.key, [table.version])
    console.observe(table.uri)
    console.repair(table.uri, "backfill", "K3")
    page = console.page(table.uri)
    assert (page.table.mechanism, page.table.accepted_version) == ("coordinated_commits", table.version)
    succeeded(console.drop(table.uri))
    table.version += 2
    table.append()
    assert table.count() == table.rows
    assert table.published() == list(range(table.version + 1))


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_table_of_any_name_is_made(table: Coordinated, console: Console, name: str) -> None:
    fresh = Coordinated(table.lake, BUCKET, f"names/new/{name}")
    succeeded(console.act(Operation.CREATE, fresh.uri, store="delta_commits", columns="id BIGINT"))
    fresh.version = 0
    fresh.append()
    assert fresh.count() == fresh.rows
    assert fresh.item()["path"]["S"] == fresh.uri
