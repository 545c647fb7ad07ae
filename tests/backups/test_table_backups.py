"""What the list of tables and the page of one say of their backups."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from backups.models import Plan, RestorePoint
from backups.queries import tables
from backups.queries.tables import page_of, restorable_of
from coordinator.models import DeltaTable
from coordinator.queries.table_list import NO_PLAN, TableFilter, filtered, searched, tally
from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from dashboard.connections.protection import Restorable, SeenTable
from tests.backups.page_records import NOW, connection, make_plan, make_run
from tests.builders.lake import make_table
from tests.builders.people import person, signed_in, signed_in_as
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db

URI = "s3a://acme-lake-prod/warehouse/sales/orders"
HOUR = timedelta(hours=1)


def seen(**fields: Any) -> SeenTable:
    values: dict[str, Any] = {
        "endpoint": "",
        "bucket": "acme-lake-prod",
        "root": "warehouse/sales/orders",
        "uri": URI,
        "incarnation": "id-1",
        "oldest": 0,
        "published": 41,
        "accepted": 41,
    }
    return SeenTable(**values | fields)


def make_point(plan: Plan, *, hours: float = 5, **fields: Any) -> RestorePoint:
    """A point that was level with its table that many hours ago."""
    then, run = NOW - hours * HOUR, plan.runs.first() or make_run(plan)
    values: dict[str, Any] = {
        "destination": plan.destination,
        "table": URI,
        "incarnation": "id-1",
        "state": "proven",
        "sentence": "Version 41, the newest of the source's log, can be restored.",
        "anchored": True,
        "version": 41,
        "accepted_version": 41,
        "ranges": [[0, 41]],
        "committed_at": then,
        "holds_until": then,
        "proven_at": then,
        "files": 3,
        "proof": f"{plan.destination}_levee/points/acme-lake-prod/warehouse/sales/orders/@41.json",
    }
    return RestorePoint.objects.create(plan=plan, run=run, **values | fields)


def told(table: SeenTable | None = None, visible: frozenset[int] | None = None) -> Restorable:
    return restorable_of([table or seen()], visible, NOW)[0]


@pytest.mark.postgres("search")
@pytest.mark.parametrize(
    ("source", "is_taken"),
    [
        ("s3a://acme-lake-prod/", True),
        ("s3a://acme-lake-prod/warehouse/", True),
        ("s3a://acme-lake-prod/warehouse/sales/orders", True),
        ("s3a://acme-lake-prod/warehouse/sales/order/", False),
        ("s3a://acme-lake-prod/Warehouse/", False),
        ("s3a://acme-lake-prod/warehouse/sales/orders/2026/", False),
        ("s3a://acme-lake-raw/warehouse/", False),
    ],
)
def test_a_plan_takes_the_tables_below_its_source_in_cell_and_filter_alike(source: str, is_taken: bool) -> None:
    make_plan("nightly", source=source)
    table, other = make_table(URI), make_table("s3a://elsewhere/t")

    assert told().state == ("not_started" if is_taken else "no_plan")
    listed = list(filtered(TableFilter(plan="nightly")))
    assert listed == ([table] if is_taken else [])
    assert set(filtered(TableFilter(plan=NO_PLAN))) == ({other} if is_taken else {table, other})


def test_a_bucket_of_the_same_name_elsewhere_is_not_taken() -> None:
    make_plan()
    minio = connection("minio")
    minio.endpoint_url = "http://minio:9000/"
    minio.save()
    table = make_table(URI, connection=minio)

    assert told(seen(endpoint="http://minio:9000")).state == "no_plan"
    assert list(filtered(TableFilter(plan=NO_PLAN))) == [table]

    Plan.objects.update(connection=minio)

    assert told(seen(endpoint="http://minio:9000")).state == "not_started"
    assert list(filtered(TableFilter(plan=NO_PLAN))) == []


def test_a_plan_of_no_known_name_takes_nothing() -> None:
    make_plan()
    make_table(URI)
    assert not filtered(TableFilter(plan="gone")).exists()


def test_the_counts_are_of_the_tables_that_the_plan_takes() -> None:
    make_plan("nightly")
    make_table(URI, state="pending")
    make_table("s3a://elsewhere/t", state="blocked")

    counts = tally(searched(TableFilter(plan="nightly")))

    assert counts is not None
    assert (counts["all"], counts["pending"], counts["blocked"]) == (1, 1, 0)


def test_a_table_that_has_not_changed_since_its_proof_is_level_however_old_that_is() -> None:
    make_point(make_plan(), hours=900)
    assert told() == Restorable(
        "proven", "Version 41, the newest that is known, can be restored.", 41, NOW - 900 * HOUR
    )


@pytest.mark.parametrize(
    ("hours", "state", "says"),
    [
        (5, "proven", "Version 41 can be restored, at most 5 h behind. 36 h are allowed."),
        (40, "behind", "Version 41 can be restored; it may be 40 h behind. 36 h are allowed."),
    ],
)
def test_a_table_that_goes_on_is_behind_by_at_most_the_age_of_what_is_held(hours: int, state: str, says: str) -> None:
    make_point(make_plan(objective_hours=36), hours=hours)
    found = told(seen(accepted=42))
    assert (found.state, found.says, found.version) == (state, says, 41)


NOT_LEVEL = {
    "of a table that was made anew": {"incarnation": "id-0"},
    "of a table whose id is not known": {"incarnation": ""},
    "not compared with the source": {"anchored": False},
    "the source was further than the last look saw": {"accepted_version": 42},
    "what the source had accepted was not known": {"accepted_version": None},
    "set aside": {"earlier": "1"},
    "at a destination that the plan had before": {"destination": "s3a://acme-vault/before/"},
}


@pytest.mark.parametrize("fields", NOT_LEVEL.values(), ids=NOT_LEVEL)
def test_a_point_is_not_called_level_with_the_table_where_it_is(fields: dict[str, Any]) -> None:
    make_point(make_plan(), hours=900, **fields)
    found = told()
    assert found.state != "proven"
    assert "newest that is known" not in found.says


def test_a_table_of_which_the_last_look_read_no_version_is_level_with_nothing() -> None:
    make_point(make_plan(), hours=900)
    assert told(seen(accepted=None)).state == "behind"


def test_what_another_plan_saw_accepted_counts_as_well() -> None:
    make_point(make_plan("one"), hours=900)
    make_point(make_plan("two"), hours=899, state="unprovable", version=None, ranges=[], accepted_version=43)
    assert told().state == "behind"


def test_a_table_made_anew_has_nothing_to_be_restored_from() -> None:
    make_point(make_plan(), incarnation="id-0")
    found = told()
    assert (found.state, found.version) == ("unprovable", None)
    assert found.says == "Nothing of this table is proven: what was proven here is of one before it."


def test_where_nothing_can_be_restored_the_point_says_why() -> None:
    make_point(make_plan(), state="unprovable", version=None, ranges=[], sentence="No version can be restored; why.")
    assert told() == Restorable("unprovable", "No version can be restored; why.")


def test_the_best_of_several_points_is_told() -> None:
    one, two = make_plan("one"), make_plan("two")
    make_point(one, version=39, holds_until=None, accepted_version=None)
    make_point(two, version=41)
    make_point(two, version=57, earlier="1")
    assert (told().version, told().state) == (41, "proven")


def test_points_of_plans_out_of_sight_are_not_told() -> None:
    plan = make_plan(connection=connection("mine"), vault_connection=connection("mine"))
    make_point(plan)
    other = frozenset({connection("other").pk})

    assert told(visible=other).version is None
    assert page_of(seen(), other, NOW).plans == []
    assert page_of(seen(), other, NOW).is_taken
    assert told(visible=frozenset({plan.connection_id})).version == 41


def test_one_table_takes_as_many_queries_as_fifty() -> None:
    plan = make_plan()
    many = [seen(uri=f"{URI}{number}", root=f"warehouse/sales/orders{number}") for number in range(50)]
    for table in many:
        make_point(plan, table=table.uri)
    with CaptureQueriesContext(database) as of_one:
        restorable_of(many[:1], None, NOW)
    with CaptureQueriesContext(database) as of_fifty:
        restorable_of(many, None, NOW)
    assert len(of_one) == len(of_fifty) == 2


def test_bars_share_one_axis_with_the_log_of_the_lake() -> None:
    make_point(make_plan(), ranges=[[0, 9], [20, 49]], version=49)

    page = page_of(seen(oldest=30, published=97, accepted=99), None, NOW)

    assert [(bar.x, bar.width, bar.css) for bar in page.rows[0].bars] == [(0, 10, "proven"), (20, 30, "proven")]
    assert [(bar.x, bar.width, bar.css) for bar in page.lake] == [(30, 68, "some"), (98, 2, "ahead")]
    assert page.rows[0].versions == "0 to 9, 20 to 49"


def test_more_points_than_are_shown_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_POINTS", 2)
    for number in range(3):
        make_point(make_plan(f"plan-{number}"))
    page = page_of(seen(), None, NOW)
    assert (len(page.rows), page.left_out) == (2, 1)


def tab(table: DeltaTable) -> str:
    return flat(signed_in(Role.VIEWER).get(f"/tables/{table.pk}/backups/"))


def test_the_tab_shows_each_point_with_what_blocks_it_and_where_it_lies() -> None:
    key = "warehouse/sales/orders/part-1.parquet"
    blocked = [{"first_version": 12, "version": 14, "key": key, "reason": "not in the backup"}]
    point = make_point(make_plan(), blocked=blocked, blocked_total=7, ranges=[[0, 11], [15, 41]])
    RestorePoint.objects.filter(pk=point.pk).update(in_commit_timestamps=False)

    page = tab(make_table(URI, delta_id="id-1"))

    assert "Version 41, the newest that is known, can be restored." in page
    assert f'12 to 14: <code class="pick"><bdi>{key}</bdi></code>: not in the backup' in page
    assert "6 more files" in page
    assert point.proof in page
    assert "0 to 11, 15 to 41" in page
    assert "<code>TIMESTAMP AS OF</code> goes by that there" in page


def test_the_tab_of_a_table_made_anew_keeps_the_two_apart() -> None:
    make_point(make_plan(), incarnation="id-0")
    page = tab(make_table(URI, delta_id="id-1"))
    assert "Nothing of this table is proven" in page
    assert "Another table" in page
    assert "It is of a table that was here before, with the id id-0." in page


def test_the_tab_says_that_no_plan_takes_the_table() -> None:
    page = tab(make_table("s3a://elsewhere/t"))
    assert "No backup plan takes this table." in page
    assert "No plan takes this table" in page


def test_the_list_shows_the_version_or_that_there_is_no_plan() -> None:
    make_point(make_plan("nightly"), version=7, hours=40)
    make_table(URI, delta_id="id-1")
    make_table("s3a://elsewhere/t")

    page = flat(signed_in(Role.VIEWER).get("/tables/"))

    assert 'title="Version 7 can be restored; it may be 40 h behind. 36 h are allowed."' in page
    assert 'title="No backup plan takes this table."' in page
    assert "<option>nightly</option>" in page


def test_a_viewer_of_one_connection_is_offered_its_plans_alone() -> None:
    mine = connection("mine")
    make_plan("mine-nightly", connection=mine, vault_connection=mine)
    make_plan("theirs-nightly")
    user = person(None, name="sam")
    Grant.objects.create(user=user, connection=mine, role=Role.VIEWER.value)
    page = flat(signed_in_as(user).get("/tables/"))
    assert "mine-nightly" in page
    assert "theirs-nightly" not in page


def test_plan_and_run_name_the_tables_whose_copies_are_dated_anew() -> None:
    plan = make_plan("nightly")
    make_point(plan, in_commit_timestamps=False)
    make_point(plan, table=f"{URI}2", in_commit_timestamps=True)
    make_point(plan, table=f"{URI}3", in_commit_timestamps=False, version=None)
    viewer, run = signed_in(Role.VIEWER), plan.runs.get()
    for address in ("/backups/plans/nightly/", f"/backups/runs/{run.pk}/"):
        page = flat(viewer.get(address))
        assert "1 of 2 tables without in-commit timestamps" in page
        assert f"/tables/?q={URI.replace(':', '%3A')}" in page
