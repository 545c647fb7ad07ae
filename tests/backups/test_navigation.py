"""The number beside Backups in the navigation."""

from datetime import timedelta

import pytest
from django.test import Client

from dashboard.accounts.roles import Role
from dashboard.web.navigation import NavCount, counts_of, registered
from tests.backups.page_records import connection, make_plan, make_run
from tests.builders.people import person
from tests.dashboard.web.markup import flat

pytestmark = pytest.mark.django_db

OLDER = timedelta(days=1)


def plans_in_need(connection_id: int | None) -> NavCount | None:
    return counts_of(registered(), connection_id)["backups"]


def test_what_waits_for_a_person_comes_before_what_failed() -> None:
    make_run(make_plan("failing"), "failed")
    assert plans_in_need(None) == NavCount("failed", 1)
    for name in ("dear", "dearer"):
        make_run(make_plan(name), "waiting_for_approval")
    assert plans_in_need(None) == NavCount("waiting_for_approval", 2)


def test_a_plan_whose_newer_run_does_not_fail_needs_nobody() -> None:
    for state in ("complete", "complete_with_gaps", "running"):
        plan = make_plan(state.replace("_", "-"))
        make_run(plan, "failed", age=OLDER)
        make_run(plan, state)
    make_plan("never-run")
    assert plans_in_need(None) is None


def test_a_plan_counts_for_the_connections_of_its_source_and_its_vault() -> None:
    make_run(make_plan(), "failed")
    found = [plans_in_need(connection(name).pk) for name in ("prod", "vault", "another")]
    assert found == [NavCount("failed", 1), NavCount("failed", 1), None]


def test_all_numbers_of_the_navigation_cost_one_query(django_assert_num_queries) -> None:
    make_run(make_plan(), "failed")
    with django_assert_num_queries(1):
        plans_in_need(None)


def test_every_page_leads_to_backups(client: Client) -> None:
    make_run(make_plan(), "waiting_for_approval")
    client.force_login(person(Role.VIEWER))
    page = flat(client.get("/tables/"))
    assert 'href="/backups/"' in page
    assert '1<span class="unseen"> waiting for approval</span>' in page
