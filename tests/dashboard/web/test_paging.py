"""Keyset pages against a naive sort, and against addresses that nobody's page has written."""

import base64
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.jobs.models import Job
from dashboard.web import paging
from dashboard.web.paging import Column, Sort, choose_size, choose_sort, keyset_page

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("paging")]

TOTAL = Sort("total", (Column("total", nullable=True), Column("title"), Column("id")))
BEAT = Sort("beat", (Column("heartbeat_at", descending=True, nullable=True), Column("id", descending=True)))
TITLE = Sort("title", (Column("title"), Column("id")))
SORTS = (TOTAL, BEAT, TITLE, TOTAL.reversed(), BEAT.reversed(), TITLE.reversed())

# Few values, so that most rows tie with another one.
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, -3, 0, 7, 2**63 - 1]),
        st.sampled_from([None, *(datetime(2026, 11, day, 9, 41, 58, 102, tzinfo=UTC) for day in (1, 2, 3))]),
        st.sampled_from(["a", "b", "bb"]),
    ),
    max_size=12,
)


def store(rows: Iterable[tuple[int | None, datetime | None, str]]) -> list[Job]:
    Job.objects.all().delete()
    jobs = [
        Job(kind="observe", title=title, target_key=":", state="succeeded", total=total, heartbeat_at=beat)
        for total, beat, title in rows
    ]
    return Job.objects.bulk_create(jobs)


def naive(jobs: list[Job], sort: Sort) -> list[Job]:
    for column in reversed(sort.columns):
        known = [job for job in jobs if getattr(job, column.field) is not None]
        unknown = [job for job in jobs if getattr(job, column.field) is None]
        key: Callable[[Job], Any] = lambda job, field=column.field: getattr(job, field)  # noqa: E731
        jobs = sorted(known, key=key, reverse=column.descending) + unknown
    return jobs


def walk(sort: Sort, size: int) -> list[Job]:
    rows: list[Job] = []
    after = ""
    while True:
        page = keyset_page(Job.objects.all(), sort, after, size)
        assert len(page.rows) == size or not page.next_after
        rows += page.rows
        after = page.next_after
        if not after:
            return rows


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, sort=st.sampled_from(SORTS), size=st.integers(1, 5))
def test_the_pages_together_are_the_sorted_list(rows: list[Any], sort: Sort, size: int) -> None:
    jobs = store(rows)
    assert [job.pk for job in walk(sort, size)] == [job.pk for job in naive(jobs, sort)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, sort=st.sampled_from((TITLE, TITLE.reversed())), size=st.integers(1, 5), most=st.integers(1, 4))
def test_pages_that_look_through_few_rows_together_find_what_matches(
    rows: list[Any], sort: Sort, size: int, most: int
) -> None:
    matching = [job.pk for job in naive(store(rows), sort) if job.total == 7]
    found, after = [], ""
    with mock.patch.object(paging, "MOST_LOOKED_THROUGH", most):
        while True:
            page = keyset_page(Job.objects.filter(total=7), sort, after, size, Job.objects.all())
            found += [job.pk for job in page.rows]
            if not (after := page.next_after):
                break
    assert found == matching


def test_a_page_that_finds_nothing_says_how_far_it_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "MOST_LOOKED_THROUGH", 2)
    jobs = store([(n, None, title) for n, title in enumerate(("a", "b", "c"))])

    page = keyset_page(Job.objects.filter(title="c"), TITLE, "", 5, Job.objects.all())

    assert (page.rows, page.looked_to) == ((), jobs[1])
    assert keyset_page(Job.objects.filter(title="c"), TITLE, page.next_after, 5, Job.objects.all()).rows == (jobs[2],)


def test_a_page_costs_one_query_and_counts_nothing() -> None:
    store([(n, None, "a") for n in range(9)])
    after = keyset_page(Job.objects.all(), TOTAL, "", 3).next_after
    with CaptureQueriesContext(
        connection,
    ) as queries:
        keyset_page(Job.objects.all(), TOTAL, after, 3)
    assert len(queries) == 1
    assert "COUNT" not in queries[0]["sql"].upper()


def test_a_deep_page_begins_in_the_index() -> None:
    newest = Sort("newest", (Column("created_at", descending=True), Column("id", descending=True)))
    store([(n, None, "a") for n in range(9)])
    after = keyset_page(Job.objects.all(), newest, "", 3).next_after
    with CaptureQueriesContext(connection) as queries:
        assert [job.total for job in keyset_page(Job.objects.all(), newest, after, 3).rows]
    assert '("jobs_job"."created_at", "jobs_job"."id") < (' in queries[0]["sql"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(after=st.one_of(st.text(), st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode())))
def test_what_no_list_has_written_shows_the_first_page(after: str) -> None:
    assert keyset_page(Job.objects.all(), BEAT, after, 1).is_first


def test_a_cursor_of_another_sort_shows_the_first_page() -> None:
    store([(1, None, "a"), (2, None, "b")])
    after = keyset_page(Job.objects.all(), TOTAL, "", 1).next_after
    assert [keyset_page(Job.objects.all(), sort, after, 1).is_first for sort in (TOTAL, TOTAL.reversed())] == [
        False,
        True,
    ]


def test_a_sort_is_one_that_the_list_offers_or_its_reverse() -> None:
    offered = (TOTAL, TITLE)
    assert choose_sort(offered, "title") is TITLE
    assert choose_sort(offered, "-title") == TITLE.reversed()
    assert choose_sort(offered, "-title").name == "-title"
    for text in ("", "-", "--title", "password", "title,id"):
        assert choose_sort(offered, text) is TOTAL


def test_a_size_is_one_of_the_offered_ones() -> None:
    assert choose_size("20") == 20
    assert [choose_size(text) for text in ("", "0", "-1", "1000000", "5e1", "\u0665\u0660")] == [50] * 6
