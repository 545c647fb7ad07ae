"""Which tables a plan takes, and the list of tables narrowed to them or to those that none takes."""

from dataclasses import asdict

import pytest

from backups.models import Plan, RestorePoint
from coordinator.queries import table_list
from coordinator.queries.table_list import NO_PLAN, TableFilter, filter_fields, filtered, searched, tally
from coordinator.queries.table_page import seen_table
from dashboard.accounts.actor import Actor
from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from dashboard.jobs.actions import submit
from dashboard.jobs.execution import execute
from lake.delta.uri import TableUri
from tests.backups.page_records import NOW, connection, make_plan
from tests.backups.table_points import URI, make_point, seen, told
from tests.builders.lake import make_connection, make_table
from tests.builders.people import person, signed_in, signed_in_as
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db


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

    assert told().state == ("not_proven_yet" if is_taken else "no_plan")
    listed = list(filtered(TableFilter(plan="nightly")))
    assert listed == ([table] if is_taken else [])
    assert set(filtered(TableFilter(plan=NO_PLAN))) == ({other} if is_taken else {table, other})
    assert list(filtered(TableFilter(plan="no-such-plan"))) == []


def test_a_bucket_of_the_same_name_elsewhere_is_not_taken() -> None:
    make_plan()
    minio = connection("minio")
    minio.endpoint_url = "http://minio:9000/"
    minio.save()
    table = make_table(URI, connection=minio)

    make_point(Plan.objects.get(), incarnation="id-0")
    assert told(seen(s3="http://minio:9000")).says == "No backup plan takes this table."
    assert list(filtered(TableFilter(plan=NO_PLAN))) == [table]

    Plan.objects.update(connection=minio)
    RestorePoint.objects.all().delete()

    assert told(seen(s3="http://minio:9000")).says == "No run has proven this table."
    assert list(filtered(TableFilter(plan=NO_PLAN))) == []


def test_partitions_of_aws_have_buckets_of_their_own() -> None:
    make_plan()
    in_china = make_table(URI, connection=make_connection("china", region="cn-north-1"))
    assert told(seen_table(in_china)).state == "no_plan"
    assert list(filtered(TableFilter(plan=NO_PLAN))) == [in_china]


def test_many_plans_are_few_comparisons() -> None:
    """SQLite takes expressions that are 1,000 deep."""
    both = {"connection": connection(), "vault_connection": connection()}
    Plan.objects.bulk_create(
        Plan(name=f"{number}", source=f"s3a://lake-{number}/", destination=f"s3a://vault-{number}/", **both)
        for number in range(1_200)
    )
    table = make_table(URI)
    assert list(filtered(TableFilter(plan=NO_PLAN))) == [table]


def test_a_table_at_the_root_of_its_bucket_finds_its_point() -> None:
    plan = make_plan(source="s3a://acme-lake-prod/")
    make_point(plan, table="s3a://acme-lake-prod")
    table = make_table(TableUri("s3a", "acme-lake-prod", "").s3a, delta_id="id-1", prefix="", observed_at=NOW)
    assert told(seen_table(table)).state == "proven"
    assert list(filtered(TableFilter(plan=plan.name))) == [table]


def test_the_counts_are_of_the_tables_that_the_plan_takes() -> None:
    make_plan("nightly")
    make_table(URI, state="pending")
    make_table("s3a://elsewhere/t", state="blocked")

    counts = tally(searched(TableFilter(plan="nightly")))

    assert counts is not None
    assert (counts["all"], counts["pending"], counts["blocked"]) == (1, 1, 0)


def test_more_tables_than_are_looked_up_are_listed_without_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_list, "MOST_FOUND", 1)
    make_plan("nightly")
    made = {make_table(URI), make_table(f"{URI}2")}
    chosen = searched(TableFilter(plan="nightly"))
    assert tally(chosen) is None
    assert set(filtered(chosen)) == made


def test_a_plan_out_of_sight_narrows_nothing() -> None:
    mine = connection("mine")
    make_plan("theirs")
    make_table(URI, connection=mine)
    user = person(None, name="sam")
    Grant.objects.create(user=user, connection=mine, role=Role.VIEWER.value)
    sam = signed_in_as(user)
    for name in ("theirs", "no-such"):
        page = flat(sam.get(f"/tables/?plan={name}"))
        assert "No table matches these filters" in page
        assert '<option selected value="unknown plan">Unknown plan</option>' in page
    assert "sales.orders" in flat(signed_in(Role.VIEWER).get("/tables/?plan=theirs"))


def test_acts_on_many_keep_the_plan() -> None:
    assert filter_fields(TableFilter(plan="nightly")) == [("plan", "nightly")]


def test_a_file_of_a_plan_that_is_gone_since_is_no_empty_file() -> None:
    make_plan("nightly")
    asked = {"form": "csv", "sort": "name", "wanted": asdict(TableFilter(plan="nightly"))}
    job = submit(Actor.command(), "export-tables", "Export", params=asked)
    Plan.objects.all().delete()
    execute(job.pk, "worker/1")
    job.refresh_from_db()
    assert (job.state, job.error_code) == ("failed", "PlanGone")


def test_a_viewer_of_one_connection_is_offered_its_plans_alone() -> None:
    mine = connection("mine")
    make_plan("mine-nightly", connection=mine, vault_connection=mine)
    make_plan("theirs-nightly")
    user = person(None, name="sam")
    Grant.objects.create(user=user, connection=mine, role=Role.VIEWER.value)
    page = flat(signed_in_as(user).get("/tables/"))
    assert "mine-nightly" in page
    assert "theirs-nightly" not in page
