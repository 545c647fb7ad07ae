"""What `make test` runs of the suite: which tests it keeps, which schedules a seed draws, and the part of each test."""

import pytest
from django.conf import settings

from tests import choosing
from tests.tools.items import Item
from tools.test import PARTS

SPARK, BROWSER, PROCESS = pytest.mark.spark, pytest.mark.browser, pytest.mark.process
SCENES = [f"tests/schedules/test_looks.py::test_a_sound_lake[{number}]" for number in range(200)]


def left_out(items: list[Item]) -> set[str]:
    choosing.choose(items)
    return {item.nodeid for item in items if item.get_closest_marker("slow")}


@pytest.mark.parametrize(
    ("item", "part"),
    [
        (Item("tests/coordinator/test_pages.py::test_it"), "plain"),
        (Item("tests/processes/test_run.py::test_it", PROCESS), "processes"),
        (Item("tests/schedules/test_lake.py::test_it", PROCESS), "schedules"),
        (Item("tests/browser/test_phone.py::test_it", BROWSER), "browser"),
        (Item("tests/lake/spark/test_session.py::test_it", SPARK), "spark"),
        (Item("tests/browser/test_enable.py::test_it", BROWSER, SPARK), "spark"),
        (Item("tests/conformance/test_names.py::test_it", SPARK), "tables"),
        (Item("tests/conformance/test_soak.py::test_it", SPARK), "soaks"),
        (Item("tests/lake/spark/test_worker_places.py::test_it", SPARK), "clusters"),
    ],
)
def test_every_test_is_in_one_part_of_make_test_all(item, part):
    assert [name for name in PARTS if choosing.of_part([item], name)] == [part]


def test_what_can_differ_on_postgresql_is_in_its_part_too():
    item = Item("tests/coordinator/test_pages.py::test_it", pytest.mark.postgres("locks"))
    assert [name for name in PARTS if choosing.of_part([item], name)] == ["plain", "postgres"]


def test_of_what_is_dear_only_what_is_named_is_kept():
    kept = Item(f"{choosing.KEPT[0]}", SPARK)
    other = Item("tests/lake/spark/test_backup_copy.py::test_it", SPARK)
    assert left_out([kept, other, Item("tests/test_cheap.py::test_it", PROCESS)]) == {other.nodeid}


@pytest.mark.parametrize("name", choosing.KEPT)
def test_each_name_that_is_kept_is_one_of_a_test(name):
    file, _, test = name.partition("[")[0].partition("::")
    text = (settings.BASE_DIR / file).read_text()
    assert not test or f"\ndef {test}(" in text


def test_the_seed_draws_the_schedules_and_another_draws_others(monkeypatch):
    def drawn(seed: str) -> set[str]:
        monkeypatch.setenv(choosing.SEED, seed)
        return set(SCENES) - left_out([Item(name, uses=("theatre",)) for name in SCENES])

    assert drawn("1") == drawn("1") != drawn("2")
    assert len(drawn("1")) == choosing.DRAWN_SCENES


@pytest.mark.parametrize(("reason", "is_kept"), [("locks", True), ("triggers", True), ("search", False)])
def test_on_postgresql_what_differs_by_constraint_lock_or_trigger_is_kept(monkeypatch, reason, is_kept):
    monkeypatch.setattr(choosing.connection, "vendor", "postgresql")
    item = Item("tests/test_it.py::test_it", pytest.mark.postgres(reason))
    assert bool(left_out([item])) is not is_kept


def test_every_test_has_a_limit_and_keeps_its_own():
    own, other = Item("a", pytest.mark.timeout(7)), Item("b")
    choosing.choose([own, other])
    assert [item.get_closest_marker("timeout").args for item in (own, other)] == [(7,), (choosing.LIMIT,)]
