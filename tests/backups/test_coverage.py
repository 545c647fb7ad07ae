"""How many tables keep the promise of their plans, and why others do not."""

import random
from collections import Counter
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from backups.models import Run
from backups.queries.cards import cards_of, plans_in_scope
from backups.queries.coverage import Coverage, coverage_of
from coordinator.queries.table_list import IN_NO_PROOF, TableFilter, filtered, outside
from dashboard.connections.protection import TablesOutside
from dashboard.web import paging
from lake.delta.uri import TableUri
from tests.backups.page_records import NOW, connection, make_plan, make_run
from tests.backups.table_points import HOUR, URI, make_point, seen, told
from tests.builders.lake import make_connection, make_table

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
NOTHING = {"version": None, "proof": "", "ranges": [], "committed_at": None}
UNSEEN = {"oldest": None, "published": None, "accepted": None, "seen_at": None}
WORTH = {"proven": "within", "too_new": "young", "behind": "past", "unprovable": "nothing"}


def coverage(outside: TablesOutside | None = None) -> Coverage:
    return coverage_of(cards_of(plans_in_scope(None), NOW), outside, NOW)


def tallied() -> tuple[int, int, int, int]:
    tally = coverage().tally
    return tally.within, tally.past, tally.young, tally.nothing


def causes() -> list[tuple[str, int | None]]:
    return [(gap.cause, gap.tables) for gap in coverage().gaps]


@pytest.mark.parametrize("seed", range(6))
def test_tables_are_counted_as_their_own_pages_say_where_nothing_has_looked_since(seed: int) -> None:
    chance = random.Random(seed)
    plans = [make_plan(f"plan-{number}", objective_hours=hours) for number, hours in enumerate((1, 24, 36))]
    uris = [f"{URI}-{number}" for number in range(12)]
    for plan in plans:
        for uri in uris:
            kind = chance.choice(["none", "kept", "kept", "not_kept", "unknown", "nothing", "too_new"])
            hours = chance.choice([0.5, 2, 23, 25, 35, 40])
            fields = {
                "not_kept": {"proof": "", "not_kept": "No room."},
                "unknown": {"holds_until": None},
                "nothing": NOTHING | {"state": "unprovable"},
                "too_new": NOTHING | {"state": "too_new"},
            }.get(kind, {})
            if kind != "none":
                make_point(plan, hours=hours, table=uri, **fields)

    tables = [seen(uri=uri, root=uri.removeprefix("s3a://acme-lake-prod/"), **UNSEEN) for uri in uris]
    said = Counter(WORTH[state] for one in tables if (state := told(one).state) in WORTH)
    assert tallied() == (said["within"], said["past"], said["young"], said["nothing"])


def test_a_table_that_the_newest_proof_did_not_find_counts_no_more_and_one_proven_since_does() -> None:
    plan = make_plan()
    old, proof, broken = (make_run(plan, age=age * HOUR) for age in (60, 30, 2))
    Run.objects.filter(pk=broken.pk).update(state="failed", is_proof=False)
    made = {run: make_point(plan, table=f"{URI}-{run.pk}") for run in (old, proof, broken)}
    for run, point in made.items():
        point.run = run
        point.save()
    make_point(plan, table=f"{URI}-gone", earlier="1")

    assert tallied() == (2, 0, 0, 0)


def test_a_plan_is_restorable_to_the_moment_of_the_worst_table_of_which_that_is_known() -> None:
    plan = make_plan()
    for hours in (5, 40, 20):
        make_point(plan, hours=hours, table=f"{URI}-{hours}")
    make_point(plan, table=f"{URI}-none", holds_until=None, **NOTHING | {"state": "unprovable"})
    Run.objects.update(holds_until=None, not_known_since=NOW)
    make_point(plan, table=f"{URI}-unknown", holds_until=None)
    make_point(plan, table=f"{URI}-young", **NOTHING | {"state": "too_new"})
    make_point(plan, hours=50, table=f"{URI}-unkept", proof="")

    [row] = coverage().rows
    assert (row.until, row.known, row.tables, row.is_whole) == (NOW - 40 * HOUR, 3, 6, False)
    assert row.behind_text == "40 h"
    assert [(dot.count, dot.is_late) for dot in row.dots] == [(1, False), (1, False), (1, True)]


def test_where_every_table_is_known_it_is_the_moment_that_alerts_count_from() -> None:
    plan = make_plan()
    make_point(plan, hours=3)
    Run.objects.update(holds_until=NOW - 9 * HOUR)  # a table that was made since then is in no point
    assert coverage().rows[0].until == NOW - 9 * HOUR


def test_plans_come_in_the_order_in_which_they_need_a_person() -> None:
    make_run(make_plan("a-fine"))
    make_run(make_plan("b-late"), age=50 * HOUR)
    make_run(make_plan("c-broken"), "failed", age=HOUR)
    make_run(make_plan("d-asks"), "waiting_for_approval", age=HOUR)
    make_plan("e-new")
    late = make_plan("f-late-and-under-way")
    make_run(late, age=90 * HOUR)
    make_run(late, "running", age=HOUR)
    order = ["d-asks", "c-broken", "b-late", "f-late-and-under-way", "e-new", "a-fine"]
    assert [row.card.plan.name for row in coverage().rows] == order


def test_gaps_are_told_by_plan_and_cause() -> None:
    plan = make_plan()
    make_point(plan, table=f"{URI}-fine")
    for number in range(2):
        make_point(plan, hours=50, table=f"{URI}-late-{number}")
        blocked = {"blocked_total": 3, "blocked": [{"first_version": 1, "version": 1, "key": "k", "reason": "missing"}]}
        make_point(plan, hours=50, table=f"{URI}-blocked-{number}", accepted_version=42, **blocked)
    make_point(plan, hours=50, table=f"{URI}-late-2", **blocked)  # of an older version than can be restored
    make_point(plan, table=f"{URI}-unkept", proof="", not_kept="No room.")
    make_point(plan, table=f"{URI}-unknown", holds_until=None)
    make_point(plan, hours=50, table=f"{URI}-lost", accepted_version=None, state="unprovable")
    make_point(plan, hours=50, table=f"{URI}-late-3", accepted_version=None)
    make_point(plan, table=f"{URI}-none", sentence="No version can be restored.", **NOTHING | {"state": "unprovable"})

    assert causes() == [
        ("No version can be restored", 1),
        ("No restore point is kept", 1),
        ("Files are not in the backup", 2),
        ("More may have been accepted", 1),
        ("How far behind is not known", 1),
        ("The newest proof is too old", 4),
    ]
    first, unkept, *_, last = coverage().gaps
    assert first.says == f"lake-nightly, {URI}-none: No version can be restored."
    assert first.url == f"{reverse('tables')}?{urlencode({'q': f'{URI}-none'})}"
    assert unkept.says == f"lake-nightly, {URI}-unkept: No room."
    assert last.says == f"lake-nightly: 4 tables, such as {URI}-late-0."


def test_what_waits_or_failed_is_the_cause_of_an_old_proof() -> None:
    waiting, broken = make_plan("asks"), make_plan("broken")
    for plan in (waiting, broken):
        make_point(plan, hours=50, table=f"{URI}-{plan.name}")
    fine = make_plan("fine")
    make_point(fine, table=f"{URI}-fine")
    make_run(fine, "failed", age=HOUR, sentence="No table is late yet.")
    make_point(broken, table=f"{URI}-none", **NOTHING | {"state": "unprovable"})
    make_run(waiting, "waiting_for_approval", age=HOUR, sentence="$86.57 is above the ceiling of $40.00.")
    make_run(broken, "failed", age=HOUR, sentence="The role has expired.")

    told = [("The copy waits for approval", 1), ("The newest run failed", 1), ("No version can be restored", 1)]
    assert causes() == told
    first, second, _ = coverage().gaps
    assert first.says == "asks: $86.57 is above the ceiling of $40.00."
    assert first.objects == "41,182 objects, 52.0 GB"
    assert second.says == "broken: The role has expired."


@pytest.mark.parametrize(
    ("points", "outside", "headline"),
    [
        ([5, 6], TablesOutside(0, 0), "Each of 2 tables can be restored within its objective."),
        ([5, 50], TablesOutside(3, 0), "1 of 2 tables can be restored within their objective."),
        ([5, 6], TablesOutside(0, 1), "2 of 3 tables can be restored within their objective."),
        ([5, 6], None, "Each of 2 tables of the newest proofs can be restored within its objective."),
        ([5], TablesOutside(0, 0), "The one table can be restored within its objective."),
        ([50], TablesOutside(0, 0), "The one table cannot be restored within its objective."),
        ([], TablesOutside(0, 0), "lake-nightly has no proven copy yet."),
    ],
)
def test_the_verdict_counts_tables(points: list[int], outside: TablesOutside | None, headline: str) -> None:
    plan = make_plan()
    for hours in points:
        make_point(plan, hours=hours, table=f"{URI}-{hours}")
    verdict = coverage(outside).verdict
    assert verdict
    assert verdict.headline == headline
    if headline.startswith("2 of 3"):
        assert (verdict.state, verdict.detail) == ("attention", "")


def test_where_each_table_is_as_promised_what_needs_a_person_comes_first() -> None:
    """An inventory is older than the reading of each log: a table may have been made since."""
    plan = make_plan()
    make_point(plan, hours=15)
    Run.objects.update(holds_until=NOW - 40 * HOUR)
    verdict = coverage(TablesOutside(0, 0)).verdict
    assert verdict
    assert verdict.headline == "lake-nightly is up to 40 h behind, past its 36 h objective."
    assert verdict.detail.endswith("The one table can be restored within its objective.")


def test_tables_that_are_too_new_are_not_called_restorable() -> None:
    make_point(make_plan(), **NOTHING | {"state": "too_new"})
    told = coverage(TablesOutside(0, 0))
    assert (told.tally.total, told.tally.young, told.rows[0].known, told.rows[0].tables) == (0, 1, 0, 0)
    assert told.verdict
    assert "can be restored" not in told.verdict.headline


def test_a_table_is_counted_once_of_each_s3() -> None:
    china = make_connection("china", region="cn-north-1")
    make_point(make_plan("a"))
    make_point(make_plan("b"), **NOTHING | {"state": "unprovable"})
    assert tallied() == (1, 0, 0, 0)
    make_point(make_plan("c", connection=china), **NOTHING | {"state": "unprovable"})
    assert tallied() == (1, 0, 0, 1)


def test_a_table_that_the_newest_proof_lacks_is_in_no_proof() -> None:
    plan = make_plan()
    point, table = make_point(plan), make_table(URI)
    assert outside("") == TablesOutside(0, 0)
    make_run(plan, age=HOUR)
    assert list(filtered(TableFilter(plan=IN_NO_PROOF))) == [table]
    Run.objects.exclude(pk=point.run_id).delete()
    plan.runs.update(is_proof=False)  # source or destination was changed
    assert list(filtered(TableFilter(plan=IN_NO_PROOF))) == [table]


def test_of_one_connection_only_its_own_plans_are_asked_and_a_table_that_two_see_is_one() -> None:
    other = make_connection("other")
    make_plan()
    make_table(URI)
    make_table(URI, connection=other)
    assert outside("") == TablesOutside(no_plan=0, in_no_proof=1)
    assert outside("prod") == TablesOutside(no_plan=0, in_no_proof=1)
    assert outside("other") == TablesOutside(no_plan=0, in_no_proof=0)


def test_tables_that_no_run_has_found_are_counted_where_they_are_listed() -> None:
    plan = make_plan()
    make_point(plan)
    make_table(URI)
    missed, free = make_table(f"{URI}-missed"), make_table("s3a://elsewhere/t")
    elsewhere = make_table(URI, connection=make_connection("china", region="cn-north-1"))

    assert list(filtered(TableFilter(plan=IN_NO_PROOF))) == [missed]
    assert outside("") == TablesOutside(no_plan=2, in_no_proof=1)
    assert outside("china") == TablesOutside(no_plan=1, in_no_proof=0)

    make_plan("china", connection=connection("china"), destination="s3a://cn/")
    assert set(filtered(TableFilter(plan=IN_NO_PROOF))) == {missed, elsewhere}
    assert free


def test_a_table_at_the_root_of_its_bucket_is_found() -> None:
    make_point(make_plan(source="s3a://acme-lake-prod/"), table="s3a://acme-lake-prod")
    make_table(TableUri("s3a", "acme-lake-prod", "").s3a, prefix="")
    assert outside("") == TablesOutside(0, 0)


def test_more_tables_than_are_looked_at_one_by_one_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    make_plan()
    make_table(URI)
    monkeypatch.setattr(paging, "MOST_LOOKED_THROUGH", 0)
    assert outside("") is None


def test_the_questions_do_not_grow_with_the_plans(django_assert_num_queries) -> None:
    for number in range(4):
        make_point(make_plan(f"plan-{number}"), table=f"{URI}-{number}")
    cards = cards_of(plans_in_scope(None), NOW)
    with django_assert_num_queries(5):
        coverage_of(cards, None, NOW)
