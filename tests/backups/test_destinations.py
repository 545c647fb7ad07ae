"""Destinations of plans that overlap, by every way in which two of them can hold one key."""

import pytest

from backups.actions import RunRefused, save_plan, start_run
from backups.destinations import overlap
from backups.models import Plan, RestorePoint
from dashboard.accounts.actor import Actor
from dashboard.declaration.reading import DeclarationError
from tests.backups.page_records import make_plan, make_run
from tests.backups.table_points import make_point


@pytest.mark.parametrize(
    ("one", "other", "do"),
    [
        ("s3a://vault/lake/", "s3a://vault/lake", True),
        ("s3a://vault/", "s3a://vault/lake/", True),
        ("s3a://vault/lake/", "s3://vault/lake/sales/", True),
        ("s3a://vault/lake/", "s3a://vault/lake-2/", False),
        ("s3a://vault/lake/", "s3a://safe/lake/", False),
        ("s3a://vault-{date}/", "s3a://vault-{date}/lake/", True),
        ("s3a://vault-{date}/", "s3a://vault-2026-11-20/", True),
        ("s3a://vault-{date}/", "s3a://vault-other/", False),
        ("s3a://{date}-vault/", "s3a://vault-{date}/", False),
    ],
)
def test_destinations_overlap_where_they_can_hold_one_key(one: str, other: str, do: bool) -> None:
    assert (overlap(one, other), overlap(other, one)) == (do, do)


@pytest.mark.django_db
def test_an_overlapping_plan_is_neither_saved_nor_started() -> None:
    first = make_plan("first", destination="s3a://vault/lake/")
    values = {"name": "second", "connection": "prod", "source": "s3a://lake/", "destination": "s3a://vault/lake/sales/"}

    with pytest.raises(DeclarationError, match=r"plans\[0\].destination: .* overlaps the destination of another plan"):
        save_plan(Actor.command(), values)
    assert save_plan(Actor.command(), {**values, "destination": "s3a://vault/other/"}).name == "second"

    Plan.objects.filter(name="second").update(destination="s3a://vault/")
    with pytest.raises(RunRefused, match="overlaps"):
        start_run(Actor.command(), first)


@pytest.mark.django_db
def test_a_pool_with_copies_of_another_bucket_is_not_used_for_a_new_source() -> None:
    plan = make_plan("lake", destination="s3a://vault/lake/", inventory="", schedule="")
    values = {"name": "lake", "connection": "prod", "vault_connection": "vault", "destination": "s3a://vault/lake/"}

    def changed(source: str, **more: str) -> str:
        plan.refresh_from_db()
        save_plan(Actor.command(), {**values, "source": source, **more}, plan)
        return source

    assert changed("s3a://first/")  # nothing has been copied
    make_run(plan)
    assert changed("s3a://first/warehouse/")
    with pytest.raises(DeclarationError, match="holds copies of another bucket than second"):
        changed("s3a://second/")
    assert changed("s3a://second/", destination="s3a://vault-{date}/lake/")
    assert changed("s3a://second/", destination="s3a://vault/second/")

    make_point(plan, table="s3a://second/t", destination="s3a://vault/second/")
    make_point(plan, table="s3a://first/t", destination="s3a://vault/lake/")
    with pytest.raises(DeclarationError, match="holds copies of another bucket than second"):
        changed("s3a://second/", destination="s3a://vault/lake/")
    RestorePoint.objects.filter(table="s3a://first/t").delete()
    assert changed("s3a://second/", destination="s3a://vault/lake/")
