"""What the list of tables and the page of one say of their backups."""

import re
from typing import Any

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backups.models import Plan, RestorePoint
from backups.queries import tables
from backups.queries.tables import page_of, restorable_of
from coordinator.models import DeltaTable
from coordinator.queries.table_page import seen_table
from dashboard.accounts.roles import Role
from dashboard.connections.protection import Restorable
from tests.backups.page_records import NOW, connection, make_plan, make_run
from tests.backups.table_points import HOUR, MINUTE, URI, make_point, seen, told
from tests.builders.lake import make_finding, make_table
from tests.builders.people import signed_in
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db


def test_a_table_that_was_seen_unchanged_lacks_nothing_however_old_its_proof_is() -> None:
    make_point(make_plan(), hours=900)
    found = told()
    assert found.says == "Version 41, the newest that was seen, can be restored. The objective is 36 h."
    assert (found.state, found.version, found.committed_at) == ("proven", 41, NOW - 900 * HOUR)


def test_what_was_seen_long_ago_says_nothing_of_today() -> None:
    make_point(make_plan(), hours=900)
    found = told(seen(seen_at=NOW - 40 * HOUR))
    assert found.says == "Version 41 can be restored, at most 40 h behind. The objective is 36 h."
    assert found.state == "behind"


@pytest.mark.parametrize(
    ("hours", "state", "says"),
    [
        (5, "proven", "Version 41 can be restored, 1 version and at most 5 h behind. The objective is 36 h."),
        (40, "behind", "Version 41 can be restored, 1 version and at most 40 h behind. The objective is 36 h."),
        (99.1, "behind", "Version 41 can be restored, 1 version and at most 4 d 4 h behind. The objective is 36 h."),
    ],
)
def test_a_table_that_goes_on_is_behind_by_at_most_the_age_of_what_is_held(hours: int, state: str, says: str) -> None:
    make_point(make_plan(objective_hours=36), hours=hours)
    found = told(seen(accepted=42))
    assert (found.state, found.says, found.version) == (state, says, 41)


def test_a_table_that_was_set_back_since_is_not_level() -> None:
    make_point(make_plan())
    found = told(seen(accepted=30))
    assert found.says == "Version 41 can be restored; the table has been set back since, to version 30."
    assert found.state == "behind"
    assert told(seen(accepted=30, seen_at=NOW - 6 * HOUR)).state == "proven"


def test_a_point_whose_plan_takes_the_table_no_more_is_not_within_its_objective() -> None:
    plan = make_plan("nightly")
    make_point(plan)
    Plan.objects.update(source="s3a://acme-lake-prod/other/")
    found = told()
    assert found.state == "behind"
    assert found.says.startswith("Version 41 could be restored when that was proven. The plan nightly was changed")


NOT_LEVEL = {
    "of another table": {"incarnation": "id-0"},
    "not compared with the source": {"anchored": False},
    "the source was further than the last look saw": {"accepted_version": 42},
    "set aside": {"earlier": "1"},
    "not kept": {"proof": "", "not_kept": "It changed while it was proven."},
    "at a destination that the plan had before": {"destination": "s3a://acme-vault/before/"},
    "at a destination of another bucket": {"destination": "s3a://acme-attic/lake-nightly/"},
    "more may have been accepted": {"accepted_version": None},
    "how far behind is not known": {"holds_until": None, "accepted_version": 42},
}


@pytest.mark.parametrize("fields", NOT_LEVEL.values(), ids=NOT_LEVEL)
def test_a_point_is_not_called_level_with_the_table_where_it_is(fields: dict[str, Any]) -> None:
    make_point(make_plan(), hours=900, **fields)
    found = told()
    assert found.state != "proven"
    assert "newest that was seen" not in found.says


@pytest.mark.parametrize("fields", [{"accepted": None}, {"incarnation": ""}, {"seen_at": None}])
def test_a_table_that_the_last_look_could_not_read_is_level_with_nothing(fields: dict[str, Any]) -> None:
    make_point(make_plan(), hours=900)
    assert told(seen(**fields)).state == "behind"


@pytest.mark.parametrize(
    "fields", [{"error_at": NOW}, {"gone_at": NOW}, {"state": "not_checked"}, {"observed_at": None}]
)
def test_a_table_counts_as_seen_by_a_look_that_read_it_whole(fields: dict[str, Any]) -> None:
    assert seen_table(make_table(URI)).seen_at is not None
    DeltaTable.objects.update(**fields)
    assert seen_table(DeltaTable.objects.get()).seen_at is None


def test_what_another_plan_saw_accepted_counts_as_well() -> None:
    make_point(make_plan("one"), hours=900)
    nothing = {"state": "unprovable", "version": None, "incarnation": "", "ranges": [], "proof": ""}
    make_point(make_plan("two"), hours=1, accepted_version=43, **nothing)
    assert told().says == "Version 41 can be restored, 2 versions and at most 37 d 12 h behind. The objective is 36 h."


def test_a_table_of_another_id_has_nothing_to_be_restored_from() -> None:
    make_point(make_plan(), incarnation="id-0")
    found = told()
    assert (found.state, found.version) == ("unprovable", None)
    assert found.says == "Nothing of this table is proven; what was proven here is of another table."


def test_a_long_id_is_compared_as_far_as_it_is_kept() -> None:
    make_point(make_plan(), incarnation="i" * 70)
    assert told(seen(incarnation="i" * 64)).state == "proven"
    assert told(seen(incarnation="i" * 63)).state == "unprovable"


def test_where_nothing_can_be_restored_the_point_says_why() -> None:
    nothing = {"version": None, "incarnation": "", "ranges": [], "proof": ""}
    make_point(make_plan(), state="unprovable", sentence="No version can be restored; why.", **nothing)
    assert told() == Restorable("unprovable", "No version can be restored; why.")


@pytest.mark.parametrize(("hours", "state"), [(5, "too_new"), (40, "unprovable")])
def test_a_table_is_too_new_no_longer_than_the_objective(hours: int, state: str) -> None:
    nothing = {"version": None, "incarnation": "", "ranges": [], "proof": ""}
    make_point(make_plan(), hours=hours, state="too_new", sentence="It is younger than the objective.", **nothing)
    assert told().state == state


def test_the_best_of_several_points_is_told() -> None:
    one, two, three = make_plan("a-old", objective_hours=1), make_plan("b-live"), make_plan("c-left")
    make_point(one, hours=900, holds_until=None, accepted_version=40)
    make_point(two, hours=1)
    make_point(two, version=57, earlier="1")
    make_point(three, version=58, destination="s3a://acme-vault/before/")
    found = told(seen(accepted=41, seen_at=None))
    assert found.says == "Version 41 can be restored, at most 1 h behind. The objective is 36 h."


def test_of_plans_out_of_sight_it_is_said_that_there_is_one() -> None:
    plan = make_plan("theirs", connection=connection("theirs"), vault_connection=connection("theirs"))
    make_point(plan)
    other = frozenset({connection("other").pk})

    assert told(visible=other) == Restorable(
        "not_shown", "A plan that you may not see takes this table. What it has proven is not shown."
    )
    page = page_of(seen(), other, NOW)
    assert (page.rows, page.plans, page.is_taken) == ([], [], True)
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


def test_what_was_not_read_of_a_log_is_not_drawn() -> None:
    make_point(make_plan(), ranges=[[40, 40]])
    page = page_of(seen(oldest=None, published=None, accepted=40), None, NOW)
    assert (page.lake, page.ends) == ([], (40, 40))
    RestorePoint.objects.update(ranges=[])
    assert page_of(seen(oldest=None, published=None, accepted=None), None, NOW).ends is None


def test_very_many_stretches_are_counted() -> None:
    make_point(make_plan(), ranges=[[number, number] for number in range(0, 80, 2)])
    row = page_of(seen(), None, NOW).rows[0]
    assert len(row.bars) == 30
    assert row.versions.startswith("10 stretches more, 20, 22,")


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

    page = tab(make_table(URI, delta_id="id-1", observed_at=timezone.now()))

    assert "Version 41, the newest that was seen, can be restored." in page
    assert f'12 to 14: <code class="pick"><bdi>{key}</bdi></code>: not in the backup' in page
    assert "6 more files" in page
    assert point.proof in page
    assert "0 to 11, 15 to 41" in page
    assert "<code>TIMESTAMP AS OF</code> goes by that there" in page


def test_the_tab_keeps_two_tables_of_one_place_apart() -> None:
    make_point(make_plan(), incarnation="id-0")
    page = tab(make_table(URI, delta_id="id-1"))
    assert "Nothing of this table is proven" in page
    assert "Another table" in page
    assert "It is of another table at this place. Its id is id-0." in page


def test_the_tab_says_that_no_plan_takes_the_table() -> None:
    page = tab(make_table("s3a://elsewhere/t"))
    assert "No backup plan takes this table." in page
    assert "No plan takes this table" in page


def test_the_list_shows_the_version_or_that_there_is_no_plan() -> None:
    make_point(make_plan("nightly"), version=7, holds_until=timezone.now() - 40 * HOUR + MINUTE / 2)
    make_table(URI, delta_id="id-1")
    make_table("s3a://elsewhere/t")

    page = flat(signed_in(Role.VIEWER).get("/tables/"))

    said = "Version 7 can be restored, 34 versions and at most 40 h behind. The objective is 36 h."
    assert f'title="{said}"' in page
    assert f'<span class="unseen">. {said}</span>' in page
    assert 'title="No backup plan takes this table."' in page
    assert "<option>nightly</option>" in page


def test_plan_and_its_newest_proof_name_the_tables_whose_copies_are_dated_anew() -> None:
    plan = make_plan("nightly")
    before = make_run(plan, age=48 * HOUR)
    make_point(plan, in_commit_timestamps=False, table=f"{URI}-dropped")
    newest = make_run(plan)
    make_point(plan, in_commit_timestamps=False)
    make_point(plan, table=f"{URI}2", in_commit_timestamps=True)
    make_point(plan, table=f"{URI}3", in_commit_timestamps=None)
    make_point(plan, table=f"{URI}4", in_commit_timestamps=False, version=None)
    make_point(plan, table=f"{URI}5", in_commit_timestamps=False, earlier="1")
    viewer = signed_in(Role.VIEWER)
    for address in ("/backups/plans/nightly/", f"/backups/runs/{newest.pk}/"):
        page = flat(viewer.get(address))
        assert "1 of 2 tables without in-commit timestamps" in page
        assert f"/tables/?q={URI.replace(':', '%3A')}" in page
    assert "without in-commit timestamps" not in flat(viewer.get(f"/backups/runs/{before.pk}/"))


def test_the_page_of_a_table_that_is_gone_leads_to_its_backups_and_says_that_its_evidence_is_of_before() -> None:
    table = make_table(URI, delta_id="id-1", gone_at=NOW)
    client = signed_in(Role.VIEWER)
    without = flat(client.get(f"/tables/{table.pk}/"))
    make_point(make_plan())

    html, backups = flat(client.get(f"/tables/{table.pk}/")), flat(client.get(f"/tables/{table.pk}/backups/"))

    assert "No backup plan takes this table." in without
    assert re.findall(r'class="button primary"[^>]*>([^<]*)<', without) == ["Observe now"]
    acts = html.partition('<ul class="actions">')[2].partition("</ul>")[0]
    assert "Version 41 can be restored, " in acts
    assert f'class="button primary" href="/tables/{table.pk}/backups/"' in acts
    assert acts.count("primary") == 1
    assert "Both sides read" not in html
    assert "Read before the table was found gone" in html
    assert "In the lake" not in backups


NOTHING = {"version": None, "proof": "", "state": "unprovable"}


@pytest.mark.parametrize(("fields", "is_offered"), [({}, True), (NOTHING, False), ({"proof": ""}, False)])
def test_the_page_of_a_blocked_table_tells_what_a_backup_restores_of_it(
    fields: dict[str, Any], is_offered: bool
) -> None:
    table = make_table(URI, delta_id="id-1", state="blocked")
    make_finding(table, "C11", 41, state="blocked", severity="critical")
    make_point(make_plan(), **fields)

    html = flat(signed_in(Role.VIEWER).get(f"/tables/{table.pk}/"))

    assert ("Restore it from a backup" in html) == is_offered
    assert ("can be restored" in html) == is_offered
