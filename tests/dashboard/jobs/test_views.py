"""Pages of jobs: what they hand to their templates, and who may press what."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

import tests.dashboard.jobs.kinds  # noqa: F401 - registers the kinds
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.jobs import views
from dashboard.jobs.models import Job, JobEvent
from dashboard.web import paging
from tests.builders.people import signed_in
from tests.dashboard.jobs.builders import ago, job
from tests.dashboard.web.markup import flat

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]


def shown(path: str, role: Role = Role.VIEWER) -> Any:
    response = signed_in(role).get(path)
    assert response.status_code == 200
    return response.context


def titles(path: str) -> list[str]:
    return [row.title for row in shown(path)["page"].rows]


def test_jobs_narrow_by_state_and_kind() -> None:
    job("failed", title="failed", kind="test-fail")
    job("running", title="running")
    assert titles("/jobs/?state=failed") == ["failed"]
    assert titles("/jobs/?state=active") == ["running"]
    assert titles("/jobs/?kind=test-fail") == ["failed"]
    assert len(titles("/jobs/?state=nonsense&kind=nonsense&after=nonsense&q=%00")) == 2


def test_a_page_that_looked_through_some_jobs_says_how_far_and_leads_to_the_older_ones(monkeypatch: Any) -> None:
    monkeypatch.setattr(paging, "MOST_LOOKED_THROUGH", 2)
    for number, title in enumerate(("Wanted", "other", "Wanted", "other")):
        job("succeeded", title=title, created_at=ago(hours=9 - number))
    client = signed_in(Role.VIEWER)

    first = client.get("/jobs/?q=wanted")
    assert [row.title for row in first.context["page"].rows] == ["Wanted"]
    assert f"older than {first.context['page'].rows[0].created_at:%Y-%m-%d %H:%M} UTC were not looked at" in flat(first)
    older = client.get("/jobs/", {"q": "wanted", "after": first.context["page"].next_after})
    assert [row.title for row in older.context["page"].rows] == ["Wanted"]


def test_kinds_are_offered_in_words() -> None:
    page = signed_in(Role.VIEWER).get("/jobs/").content.decode()
    assert '<option value="plan-upkeep">Plan settings</option>' in page


def test_the_list_costs_the_same_however_long_it_is() -> None:
    client, costs = signed_in(Role.VIEWER), []
    for number in (1, 30):
        for _ in range(number):
            job()
            job("failed", requested_by_name="schedule", kind="test-fail")
        client.get("/jobs/")
        with CaptureQueriesContext(connection) as queries:
            client.get("/jobs/")
        costs.append(len(queries))
    assert costs[0] == costs[1]


def test_what_the_schedule_asked_for_is_a_line_a_kind_and_not_among_what_people_asked_for() -> None:
    for number in range(50):
        job(
            "failed" if number == 48 else "succeeded", requested_by_name="schedule", created_at=ago(minutes=60 - number)
        )
    job("succeeded", title="mine", requested_by_name="ann")

    context = shown("/jobs/")

    assert [row.title for row, _ in context["rows"]] == ["mine"]
    (line,) = context["schedules"]
    assert (line.kind, len(line.states), line.failed) == ("test-count", 40, 1)
    assert line.states[-3:] == ("succeeded", "failed", "succeeded")
    assert line.in_words == "Newest 40, oldest left: 39 succeeded, 1 failed"
    assert len(titles("/jobs/?kind=test-count&by=schedule&size=100")) == 50


@pytest.mark.parametrize(
    ("later", "stands"), [("succeeded", False), ("failed", False), ("cancelled", True), ("queued", True)]
)
def test_a_failure_is_listed_until_the_same_work_has_ended_again(later: str, stands: bool) -> None:
    job("failed", title="first", target_key="1:table:7", created_at=ago(hours=2))
    job("succeeded", target_key="1:table:8", created_at=ago(hours=1))
    job(later, title="second", target_key="1:table:7", created_at=ago(hours=1))

    titles_of_failed = [row.title for row, _ in shown("/jobs/")["failed"]]

    assert ("first" in titles_of_failed) == stands
    assert ("second" in titles_of_failed) == (later == "failed")


def test_a_failure_that_somebody_marks_as_seen_leaves_the_list_with_who_and_when_and_no_reading_does() -> None:
    rows = [job(state, title=state) for state in ("failed", "lost", "running")]
    operator = signed_in(Role.OPERATOR)
    for row in rows:
        operator.get(f"/jobs/{row.pk}/")
    assert len(shown("/jobs/")["failed"]) == 2

    page = operator.post("/jobs/seen/", {"job": [row.pk for row in rows]}, follow=True)
    operator.post("/jobs/seen/", {"job": rows[0].pk})

    assert page.context["failed"] == []
    assert set(Job.objects.values_list("state", "seen_by")) == {
        ("failed", "operator"), ("lost", "operator"), ("running", "")
    }  # fmt: skip
    assert AuditEntry.objects.filter(action="job.mark-seen", actor_name="operator").count() == 2
    assert b"Seen by operator" in operator.get(f"/jobs/{rows[0].pk}/").content
    assert operator.post("/jobs/seen/", {"job": "no id"}).status_code == 404


def test_a_job_that_leaves_something_going_on_has_not_succeeded() -> None:
    made = job("succeeded", requested_by_name="schedule", message="Waits.", result={"begun": "/backups/"})

    page = signed_in(Role.VIEWER).get("/jobs/").content.decode()

    (line,) = shown("/jobs/")["schedules"]
    assert (line.state, line.in_words) == ("begun", "Newest 1, oldest left: 1 under way")
    for html in (page[page.index('id="schedules"') :], flat(signed_in().get(f"/jobs/{made.pk}/"))):
        assert "Under way" in html
        assert "Succeeded" not in html


@pytest.mark.parametrize(("why", "word"), [("", "Refused"), ("nothing-to-do", "Nothing to do")])
def test_a_job_whose_plan_is_refused_has_not_succeeded(why: str, word: str) -> None:
    made = job("succeeded", message="1 of 14 checks failed.", result={"refusal": {"why": why, "asks": ""}})
    html = flat(signed_in().get(f"/jobs/{made.pk}/"))
    assert word in html
    assert "Succeeded" not in html


def test_jobs_narrow_by_table_title_and_person() -> None:
    job(title="Repair", target_label="s3a://lake/sales/orders", requested_by_name="ann")
    job(title="Enable", target_label="s3a://lake/sales/refunds", requested_by_name="bob")
    assert titles("/jobs/?q=ORDERS") == ["Repair"]
    assert titles("/jobs/?q=enable") == ["Enable"]
    assert titles("/jobs/?by=ann") == ["Repair"]
    assert "failed" not in shown("/jobs/?by=ann")


def steps(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "state": "done", "detail": "", "started": "", "ended": ""} for name in names]


def test_a_running_job_says_its_step_the_usual_time_and_what_comes_by_its_plan() -> None:
    began = ago(hours=1)
    for seconds in (10, 17, 90):
        job("succeeded", started_at=began, finished_at=began + timedelta(seconds=seconds))
    begun = steps("Plan", "Wake Java", "Remove")
    begun[0]["then"] = ["Remove", "Read", "Remove", "Read"]

    context = shown(f"/jobs/{job('running', steps=begun).pk}/")

    assert context["headline"] == "Step 3 of 6: Remove"
    assert context["usual"].total_seconds() == 17
    coming = [(row.name, row.state) for row in context["steps"]][3:]
    assert coming == [("Read", "next"), ("Remove", "next"), ("Read", "next")]
    assert len(shown(f"/jobs/{job('failed', steps=begun, finished_at=timezone.now()).pk}/")["steps"]) == 3


def test_a_job_without_a_plan_says_what_comes_by_what_its_kind_declares() -> None:
    begun = steps("Check the preconditions", "Start Python")
    context = shown(f"/jobs/{job('running', kind='drop-coordinated-commits', steps=begun).pk}/")
    assert context["headline"] == "Step 2 of 6: Start Python"
    assert shown(f"/jobs/{job('running', steps=begun).pk}/")["headline"] == "Step 2: Start Python"


def test_a_running_job_is_polled_and_shows_its_steps() -> None:
    step = {"name": "Read", "state": "running", "detail": "", "started": ago(seconds=3).isoformat(), "ended": ""}
    context = shown(f"/jobs/{job('running', steps=[step]).pk}/")
    assert context["poll_seconds"] == 2
    assert context["elapsed"].total_seconds() == pytest.approx(5, abs=2)
    assert [(row.name, row.state) for row in context["steps"]] == [("Read", "running")]
    assert context["steps"][0].elapsed.total_seconds() == pytest.approx(3, abs=2)


def test_a_finished_job_is_not_polled_and_an_unfinished_step_was_lost_with_it() -> None:
    step = {"name": "Read", "state": "running", "detail": "", "started": ago(seconds=3).isoformat(), "ended": ""}
    context = shown(f"/jobs/{job('lost', steps=[step], finished_at=timezone.now()).pk}/")
    assert context["poll_seconds"] is None
    assert context["steps"][0].state == "lost"


def test_the_log_is_plain_text_line_by_line() -> None:
    made = job()
    for text in ("first", "<img onerror=alert(1)>"):
        JobEvent.objects.create(job=made, at=timezone.now(), text=text, step="read")
    response = signed_in(Role.VIEWER).get(f"/jobs/{made.pk}/log.txt")
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    lines = response.content.decode().splitlines()
    assert [line.split()[1:4] for line in lines] == [["INFO", "read", "first"], ["INFO", "read", "<img"]]


def test_a_long_log_shows_its_end_and_says_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "EVENTS_SHOWN", 2)
    made = job()
    for text in ("a", "b", "c"):
        JobEvent.objects.create(job=made, at=timezone.now(), text=text)
    context = shown(f"/jobs/{made.pk}/")
    assert [event.text for event in context["events"]] == ["b", "c"]
    assert context["events_left_out"] == 1


def test_cancelling_through_htmx_answers_with_the_fragment() -> None:
    made = job("queued")
    response = signed_in(Role.OPERATOR).post(f"/jobs/{made.pk}/cancel/", headers={"HX-Request": "true"})
    assert response.content.strip().startswith(b'<div id="job">')


def test_the_page_of_a_failed_job_on_many_says_each_sentence_once() -> None:
    why = "S3 Batch Operations cannot take the role of the copy jobs."
    again = "A session that holds the table open goes on committing past it."
    outcomes = [
        {"state": "failed", "label": one, "sentence": f"{one} was read. {again}"} for one in ("First", "Second")
    ]
    made = job("failed", error_text=why, result={"outcomes": outcomes}, steps=[{"name": "Copy", "detail": why}])
    JobEvent.objects.create(job=made, at=timezone.now(), level="ERROR", text=why)

    page = signed_in(Role.VIEWER).get(f"/jobs/{made.pk}/").content.decode()
    assert (page.count(why), page.count(again), page.count(">Note 1</a>")) == (1, 1, 2)
    assert "First was read. <a" in page


def test_sparks_own_log_stands_apart_and_a_job_without_lines_says_what_it_has_instead() -> None:
    client = signed_in(Role.VIEWER)
    acted = job("running", queue="spark", steps=steps("Start Spark"))

    page = client.get(f"/jobs/{acted.pk}/").content.decode()
    assert "It has written no line beside its steps." in page
    assert "Spark has written no line of its own log during this job." in page

    for step in ("", "spark"):
        JobEvent.objects.create(job=acted, at=timezone.now(), step=step, text=f"line <of> {step or 'Levee'}")
    page = client.get(f"/jobs/{acted.pk}/").content.decode()
    assert "Spark's log: 1" in page
    apart = page[page.index("Spark's log: 1") :]
    assert "line &lt;of&gt; spark" in apart
    assert "line &lt;of&gt; Levee" not in apart
    assert page.count("line &lt;of&gt; ") == 2
    assert "Nothing has been written" not in page
