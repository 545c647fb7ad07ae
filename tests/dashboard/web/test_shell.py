"""The frame around every page: navigation, scope, theme, read-only mode, and nothing inline anywhere."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as deployed
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.audit.log import record
from dashboard.connections.models import Connection
from dashboard.jobs.beats import SILENT_AFTER, note_beat
from dashboard.jobs.models import Job, JobEvent, JobState
from dashboard.web import navigation
from dashboard.web.navigation import NavCount, NavItem
from tests.builders.lake import make_table
from tests.builders.people import signed_in
from tests.dashboard.web.markup import Markup, flat

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script><b style=color:red onclick=x>"
INLINE = re.compile(
    r"<[^>]*\sstyle=|<style|<script(?![^>]*\ssrc=)|<[^>]*\son[a-z]+=|javascript:|hx-on|hx-vals=.js:", re.I
)


def job(state: str, **fields: Any) -> Job:
    values = {"kind": "observe", "title": "Observe the lake", "target_key": state, "requested_by_name": "schedule"}
    return Job.objects.create(**{**values, "state": state, **fields})


def hostile_job() -> Job:
    found = job(
        "running", title=HOSTILE, message=HOSTILE, target_label=HOSTILE, target_type="table", target_id="no-number",
        worker=HOSTILE, total=6, done=4, bytes_done=5871, started_at=timezone.now(), result={HOSTILE: HOSTILE},
        steps=[{"name": HOSTILE, "state": "running", "detail": HOSTILE}],
    )  # fmt: skip
    JobEvent.objects.create(job=found, at=timezone.now(), level="WARN", step=HOSTILE[:16], text=HOSTILE)
    return found


@pytest.fixture
def hostile_records() -> Job:
    found = hostile_job()
    record(Actor(name=HOSTILE, source="page"), "lake.observe", target_label=HOSTILE, after={HOSTILE: 1}, job=found)
    for name in (HOSTILE, "second"):
        Connection.objects.create(name=name, region=HOSTILE[:32])
    return found


@pytest.mark.parametrize("address", ["/states/", "/jobs/", "/audit/", "/me/", "/login/", "/nowhere/", "/jobs/{job}/"])
def test_a_page_carries_nothing_inline_and_its_ids_hold(address: str, hostile_records: Job) -> None:
    client = Client() if address == "/login/" else signed_in(Role.OPERATOR)
    html = flat(client.get(address.format(job=hostile_records.pk)))
    assert html.startswith("<!doctype html>")
    page = Markup(html)
    assert page.inline() == []
    assert page.repeated_ids() == []
    assert page.broken_references() == []


def test_no_template_carries_anything_inline() -> None:
    # Mail programs know no stylesheet.
    mails = {Path(deployed.BASE_DIR, "templates/alerts", name) for name in ("mail.html", "several.html")}
    for path in set(Path(deployed.BASE_DIR, "templates").rglob("*.html")) - mails:
        text = re.sub(r"{%.*?%}|{{.*?}}", "", path.read_text(), flags=re.S)
        assert Markup(text).inline() == [], path


@pytest.mark.parametrize("state", JobState.values)
def test_a_job_in_every_state_has_a_page_and_a_row(state: str) -> None:
    found = job(state, started_at=timezone.now(), finished_at=timezone.now())
    client = signed_in(Role.OPERATOR)
    assert client.get(f"/jobs/{found.pk}/").status_code == 200
    assert str(found.pk) in flat(client.get("/jobs/"))


def test_a_finished_job_is_polled_no_more_and_announced() -> None:
    client = signed_in(Role.VIEWER)
    running, done = job("running"), job("succeeded", finished_at=timezone.now())
    assert 'hx-trigger="every 2s"' in flat(client.get(f"/jobs/{running.pk}/progress/"))
    fragment = flat(client.get(f"/jobs/{done.pk}/progress/", headers={"HX-Request": "true"}))
    assert "hx-get" not in fragment
    assert "<title>Succeeded · Observe the lake · Levee</title>" in fragment
    assert 'id="fresh" hx-swap-oob="innerHTML">Ended ' in fragment
    assert 'id="announce" hx-swap-oob="innerHTML">Observe the lake: Succeeded.' in fragment


def test_a_running_job_refreshes_itself_without_script() -> None:
    html = flat(signed_in(Role.VIEWER).get(f"/jobs/{job('running').pk}/"))
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in html


def test_the_navigation_marks_the_page_and_counts_what_runs() -> None:
    job("running")
    html = flat(signed_in(Role.VIEWER).get("/jobs/"))
    assert re.search(r'<a href="/jobs/" aria-current="page">.*?1<span class="unseen"> running</span>', html)
    assert html.count('aria-current="page"') == 2  # the entry and the last crumb


def test_an_entry_of_an_app_appears_with_its_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigation, "_items", {})
    navigation.register(NavItem("Lake", "Fish", "states", "i-table", 1, lambda _: NavCount("unsafe", 1200)))
    html = flat(signed_in(Role.VIEWER).get("/states/"))
    assert '1,200<span class="unseen"> unsafe</span>' in html
    assert "d0342b" in html  # the favicon


def test_a_group_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no group of the navigation"):
        navigation.register(NavItem("Sea", "Fish", "states", "i-table", 1))


def test_a_fragment_pays_for_no_navigation() -> None:
    found, client = job("running"), signed_in(Role.VIEWER)
    with CaptureQueriesContext(connection) as page:
        client.get(f"/jobs/{found.pk}/")
    with CaptureQueriesContext(connection) as fragment:
        client.get(f"/jobs/{found.pk}/progress/", headers={"HX-Request": "true"})
    assert len(fragment) < len(page)
    assert not any('"connections_connection"."name" ASC' in query["sql"] for query in fragment)


def test_the_scope_narrows_lists_until_it_is_taken_back() -> None:
    one, two = (Connection.objects.create(name=name, region="eu-west-1") for name in ("one", "two"))
    mine, other = job("succeeded", connection=one), job("failed", connection=two)
    client = signed_in(Role.VIEWER)
    assert client.post("/scope/", {"connection": "one", "next": "/jobs/"})["Location"] == "/jobs/"
    html = flat(client.get("/jobs/"))
    assert str(mine.pk) in html
    assert str(other.pk) not in html
    client.post("/scope/", {"connection": "", "next": "/jobs/"})
    assert str(other.pk) in flat(client.get("/jobs/"))


def test_a_scope_that_has_been_removed_means_all() -> None:
    connection_of_old = Connection.objects.create(name="old", region="eu-west-1")
    client = signed_in(Role.VIEWER)
    client.post("/scope/", {"connection": "old"})
    connection_of_old.delete()
    assert client.get("/jobs/").status_code == 200


@pytest.mark.parametrize(
    "back", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "\\\\evil.example"]
)
def test_the_scope_leads_back_to_this_console_only(back: str) -> None:
    assert signed_in(Role.VIEWER).post("/scope/", {"connection": "", "next": back})["Location"] == "/tables/"


def test_the_scope_is_chosen_by_post() -> None:
    assert signed_in(Role.VIEWER).get("/scope/").status_code == 405


def test_a_theme_is_pinned_on_the_document() -> None:
    client = signed_in(Role.VIEWER)
    assert "data-theme" not in flat(client.get("/me/"))
    client.post("/me/", {"theme": "dark"})
    assert '<html lang="en-GB" data-theme="dark">' in flat(client.get("/me/"))


def test_read_only_mode_is_said_on_every_page(settings: Any) -> None:
    settings.READ_ONLY = True
    assert "Read-only mode." in flat(signed_in(Role.ADMIN).get("/jobs/"))
    settings.READ_ONLY = False
    assert "Read-only mode." not in flat(signed_in(Role.ADMIN).get("/jobs/"))


@pytest.mark.parametrize(("role", "may"), [(Role.VIEWER, False), (Role.OPERATOR, True)])
def test_a_job_offers_its_cancel_to_those_who_may(role: Role, may: bool) -> None:
    html = flat(signed_in(role).get(f"/jobs/{job('running').pk}/"))
    assert ("Cancel this job" in html) is may


def test_a_worker_that_does_not_answer_is_said_on_every_page_until_it_does() -> None:
    now, client = timezone.now(), signed_in(Role.VIEWER)
    for queue in deployed.QUEUES:
        note_beat(queue, f"{queue}@here", now - (SILENT_AFTER if queue == "aws" else timedelta()))
    for path in ("/tables/", "/jobs/", "/me/"):
        assert "No worker answers for aws." in flat(client.get(path))
    note_beat("aws", "aws@here", now)
    assert "No worker answers" not in flat(client.get("/tables/"))


def test_an_address_that_only_takes_a_form_has_a_page_of_its_own() -> None:
    answer = signed_in(Role.VIEWER).get("/scope/")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "This address only takes a form." in flat(answer)


def test_a_stranger_is_not_told_the_worst_state_by_the_icon(client: Client) -> None:
    make_table(state="blocked")
    red, grey = "d0342b", "7d858c"
    assert grey in flat(client.get("/login/"))
    assert red not in flat(client.get("/login/"))
    assert red in flat(signed_in(Role.VIEWER).get("/tables/"))
