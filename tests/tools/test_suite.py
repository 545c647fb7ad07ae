"""How the suite runs: which test goes where, what shared JVMs make room for, and how long a wait may be."""

import pytest

from tests import grouping, waiting
from tests.databases import REASONS, check_reasons
from tests.jvms import SparkJvms
from tests.tools.items import Item

SPARK, BROWSER = pytest.mark.spark, pytest.mark.browser


def test_what_needs_an_engine_shares_one_worker_and_what_only_needs_the_console_another():
    items = [
        Item("a journey", BROWSER),
        Item("an enable", SPARK, uses=("spark_lake",)),
        Item("a repair of an item", uses=("dynamodb_local",)),
        Item("a journey on Spark", BROWSER, SPARK),
        Item("a page"),
    ]
    grouping.arrange(items)
    assert {item.nodeid: item.group for item in items} == {
        "a journey": "browser",
        "an enable": "engines",
        "a repair of an item": "engines",
        "a journey on Spark": "engines",
        "a page": "",
    }


def test_tests_of_the_engines_come_in_an_order_in_which_no_shared_jvm_is_started_twice():
    needs = {
        "browser": (),
        "worker": ("warm_worker",),
        "both": ("spark_lake", "warm_worker"),
        "levee": ("spark_lake", "spark_of_levee"),
        "session": ("spark_lake",),
    }
    items = [Item(name, SPARK, *([BROWSER] if name == "browser" else []), uses=uses) for name, uses in needs.items()]
    grouping.arrange(items)
    started, jvms = [], SparkJvms(most=2)
    for item in items:
        for name in item.fixturenames:
            jvms.shared(name, lambda name=name: (started.append(name), lambda: None))
    assert [item.nodeid for item in items] == ["session", "levee", "both", "worker", "browser"]
    assert started == ["spark_lake", "spark_of_levee", "warm_worker"]


def test_a_shared_jvm_makes_room_for_what_a_test_starts_and_is_started_again_later():
    happened, jvms = [], SparkJvms(most=2)

    def start(name):
        happened.append(f"{name} starts")
        return name, lambda: happened.append(f"{name} ends")

    for name in ("one", "two", "one"):
        assert jvms.shared(name, lambda name=name: start(name)) == name
    with jvms.room():
        happened.append("the test's own")
    jvms.shared("two", lambda: start("two"))
    jvms.close()
    assert happened == ["one starts", "two starts", "two ends", "the test's own", "two starts", "one ends", "two ends"]


def test_no_test_may_hold_more_jvms_than_there_is_room_for():
    jvms = SparkJvms(most=2)
    with jvms.room(2), pytest.raises(AssertionError, match="too many"), jvms.room():
        pass


@pytest.mark.parametrize("reasons", [(), ("because",), ("locks", "because")])
def test_a_mark_for_postgresql_without_a_known_reason_is_refused(reasons):
    with pytest.raises(AssertionError):
        check_reasons([Item("a test", pytest.mark.postgres(*reasons))])


def test_every_reason_for_postgresql_is_a_sentence_of_why():
    check_reasons([Item("a test", pytest.mark.postgres(*REASONS))])
    assert all(len(why.split()) > 3 for why in REASONS.values())


def test_a_wait_ends_with_its_condition_and_not_with_its_limit():
    looks = iter((False, False, True))
    assert waiting.wait_until(lambda: next(looks), seconds=1e6, every=0)
