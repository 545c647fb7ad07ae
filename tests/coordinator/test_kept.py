"""Counts of tables and the index they are searched by, against what the tables themselves say."""

import random
from collections import Counter
from threading import Event, Thread

import pytest
from django.db import connection as database
from django.db import transaction
from django.utils import timezone

from coordinator import kept
from coordinator.actions import recount
from coordinator.models import CommitStore, DeltaTable, TableCount
from coordinator.queries import table_list
from coordinator.queries.table_list import TableFilter, filtered, searched, tally
from dashboard.accounts.actor import Actor
from tests.builders.lake import make_connection, make_store, make_table

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("triggers")]

WRITES = {
    "add": lambda: make_table(f"s3a://lake/sales/t{random_name()}"),
    "add twice": lambda: DeltaTable.objects.bulk_create(
        [DeltaTable(connection=make_connection(), bucket="b", prefix="p", uri="u", name="n")] * 2, ignore_conflicts=True
    ),
    "save": lambda: [one.save() for one in DeltaTable.objects.all()[:2]],
    "judge": lambda: some().update(state_rank=1),
    "wait": lambda: some().update(unpublished_count=3),
    "publish": lambda: DeltaTable.objects.update(unpublished_count=0),
    "go": lambda: some().update(gone_at=timezone.now()),
    "move": lambda: some().update(bucket="elsewhere", mechanism="single_driver"),
    "guard": lambda: some().update(store=CommitStore.objects.first() or make_store()),
    "lose the store": lambda: CommitStore.objects.all().delete(),
    "remove": lambda: some().delete(),
    "remove the connection": lambda: make_connection().delete(),
    "put together": lambda: kept.compact(),
}


def random_name() -> str:
    return f"{random.random()}"


def some():  # type: ignore[no-untyped-def]
    picked = [pk for pk in DeltaTable.objects.values_list("pk", flat=True) if random.random() < 0.4]
    return DeltaTable.objects.filter(pk__in=picked)


def by_looking() -> Counter[tuple[object, ...]]:
    """Every table counted one by one, in Python."""
    return Counter(
        (one.connection_id, one.store_id, one.bucket, one.mechanism, one.state_rank, one.gone_at is not None,
         one.unpublished_count > 0)
        for one in DeltaTable.objects.all()
    )  # fmt: skip


def as_kept() -> dict[tuple[object, ...], int]:
    counts: Counter[tuple[object, ...]] = Counter()
    for row in TableCount.objects.values_list(*kept.KEY, "number"):
        counts[row[:-1]] += row[-1]
    return {key: number for key, number in counts.items() if number}


@pytest.mark.parametrize("seed", range(4))
def test_the_counts_agree_with_the_tables_after_any_writes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "COMPACT_FROM", 1)
    random.seed(seed)
    done = []
    for _ in range(30):
        done.append(random.choice(list(WRITES)))
        WRITES[done[-1]]()
        assert as_kept() == by_looking(), done


@pytest.mark.django_db(transaction=True)
def test_putting_counts_together_keeps_those_that_are_not_committed_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    if database.vendor == "sqlite":
        pytest.skip("SQLite lets one writer in at a time")
    monkeypatch.setattr(kept, "COMPACT_FROM", 1)
    make_table("s3a://lake/sales/before")
    added, compacted = Event(), Event()

    def add() -> None:
        with transaction.atomic():
            make_table("s3a://lake/sales/meanwhile")
            added.set()
            assert compacted.wait(20)
        database.close()

    adding = Thread(target=add)
    adding.start()
    assert added.wait(20)
    kept.compact()
    compacted.set()
    adding.join()

    assert as_kept() == by_looking()


def test_a_count_that_differs_is_a_failed_job_and_right_afterwards() -> None:
    make_table()
    TableCount.objects.all().delete()

    failed = recount(Actor.schedule(), here=True)

    assert (failed.state, failed.error_code) == ("failed", "CountsDiffer")
    assert as_kept() == by_looking()
    assert recount(Actor.schedule(), here=True).message == "The counts of tables agree with the tables."


def test_what_was_written_without_the_triggers_is_counted_and_found_once_they_are_back() -> None:
    kept.let_go()
    make_table("s3a://lake/sales/while_migrating")
    database.check_constraints()  # PostgreSQL makes no index while it has constraints to check
    kept.keep()
    make_table("s3a://lake/sales/afterwards")

    assert as_kept() == by_looking()
    assert [found("while_migrating"), found("AFTERWARDS")] == [["sales.while_migrating"], ["sales.afterwards"]]


def test_a_table_is_found_by_its_newest_name_alone() -> None:
    table = make_table("s3a://lake/sales/orders")
    DeltaTable.objects.update(name="sales.renamed", uri="s3a://lake/sales/renamed")

    assert (found("orders"), found("renamed")) == ([], ["sales.renamed"])
    table.delete()
    assert found("renamed") == []


def test_triggers_that_are_gone_are_made_again_after_a_pass() -> None:
    kept.let_go()
    make_table("s3a://lake/sales/meanwhile")
    database.check_constraints()
    kept.compact()

    assert as_kept() == by_looking()


@pytest.mark.parametrize("q", ['a"b', "100%", "a_b", "ä b", "x' OR 1=1 --", "NEAR(", "*", "日本語", "a\\b"])
def test_whatever_is_typed_is_looked_for_as_it_is(q: str) -> None:
    make_table("s3a://lake/plain")
    make_table("s3a://lake/odd", name=f"before {q} after")

    assert found(q) == [f"before {q} after"]


def test_a_search_that_finds_too_many_says_so_and_still_names_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        make_table(f"s3a://lake/sales/t{number}", state="unsafe" if number == 3 else "healthy")
    assert tally(searched(TableFilter(q="sales")))["all"] == 4  # type: ignore[index]

    monkeypatch.setattr(table_list, "MOST_FOUND", 3)
    chosen = searched(TableFilter(q="sales"))

    assert tally(chosen) is None
    assert table_list.worst_state(chosen) == "unsafe"
    assert len(found("sales")) == 4
    make_table("s3a://lake/sales/t5", connection=make_connection("staging"))
    assert tally(searched(TableFilter(q="sales", connection="staging")))["all"] == 1  # type: ignore[index]


def found(q: str) -> list[str]:
    return sorted(filtered(searched(TableFilter(q=q))).values_list("name", flat=True))
