"""What a web process does before its first request."""

import logging

import pytest
from django.db import OperationalError, connection, connections
from django.test.utils import CaptureQueriesContext
from gunicorn.workers.gthread import ThreadWorker

from dashboard.web import warm
from dashboard.web.patient_worker import PatientWorker
from tests.builders.lake import make_table


@pytest.mark.django_db
def test_the_list_of_tables_is_made_for_nobody_and_nothing_is_written() -> None:
    table = make_table()

    with CaptureQueriesContext(connection) as captured:
        page = warm.answer_nobody().decode()

    assert table.name in page
    assert {query["sql"].split()[0].lstrip("(") for query in captured.captured_queries} == {"SELECT"}


def test_a_process_that_cannot_make_a_page_starts_all_the_same(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_database() -> bytes:
        raise OperationalError("connection refused")

    closed: list[str] = []
    monkeypatch.setattr(warm, "answer_nobody", no_database)
    monkeypatch.setattr(connections, "close_all", lambda: closed.append("all"))
    monkeypatch.setattr(ThreadWorker, "load_wsgi", lambda worker: None)

    with caplog.at_level(logging.WARNING):
        PatientWorker.__new__(PatientWorker).load_wsgi()

    assert "the first will take longer" in caplog.text
    assert closed == ["all"]
