"""The frame in a real Chromium: the policy holds, polls are polite, and everything works without script."""

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.audit.log import record
from dashboard.jobs.models import Job, JobEvent, JobState
from tests.builders.people import PASSWORD, person
from tests.lazily import lazily
from tests.waiting import scaled_ms

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

expect = lazily("playwright.sync_api", "expect")

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def running() -> Job:
    person(Role.OPERATOR)
    now = timezone.now()
    job = Job.objects.create(
        kind="observe",
        title="Observe the lake",
        state=JobState.RUNNING,
        target_key=":",
        started_at=now,
        heartbeat_at=now,
    )
    JobEvent.objects.bulk_create(JobEvent(job=job, at=now, step="tables", text=f"line {n}") for n in range(80))
    return job


def sign_in(page: "Page", server: LiveServer, then: str) -> None:
    page.goto(f"{server.url}/login/?next={then}")
    page.fill("#username", Role.OPERATOR.value)
    page.fill("#password", PASSWORD)
    page.click("button.primary")
    page.wait_for_url(f"{server.url}{then}")


def test_a_page_is_painted_under_its_policy(chromium: "Browser", live_server: LiveServer, running: Job) -> None:
    page = chromium.new_page(color_scheme="light")
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(page, live_server, "/states/")
    icon = page.locator(".badge.crit .icon").first
    assert icon.evaluate("icon => getComputedStyle(icon).color") == "rgb(173, 35, 27)"
    assert icon.evaluate("icon => icon.firstElementChild.getBBox().width") > 10  # the sprite's drawing has arrived
    assert complaints == []
    page.close()


def test_a_poll_moves_nothing_and_ends_with_its_job(chromium: "Browser", live_server: LiveServer, running: Job) -> None:
    page = chromium.new_page()
    sign_in(page, live_server, f"/jobs/{running.pk}/")
    log = page.locator("#log")
    log.evaluate("log => { log.scrollTop = -200; }")
    page.focus("#cancel")
    Job.objects.filter(pk=running.pk).update(message="Read 3 of 9 tables.")
    expect(page.locator("#v")).to_have_text("Read 3 of 9 tables.", timeout=scaled_ms(6))
    assert log.evaluate("log => log.scrollTop") == -200
    assert page.evaluate("document.activeElement.id") == "cancel"
    Job.objects.filter(pk=running.pk).update(state=JobState.SUCCEEDED, finished_at=timezone.now())
    expect(page.locator("#announce")).to_have_text("Observe the lake: Succeeded.", timeout=scaled_ms(6))
    expect(page).to_have_title("Succeeded · Observe the lake · Levee")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(2600)
    assert asked == []
    page.close()


def test_a_lost_connection_is_said_until_it_is_back(chromium: "Browser", live_server: LiveServer, running: Job) -> None:
    context = chromium.new_context()
    page = context.new_page()
    sign_in(page, live_server, f"/jobs/{running.pk}/")
    context.set_offline(True)
    expect(page.locator("#offline")).to_be_visible(timeout=scaled_ms(6))
    context.set_offline(False)
    expect(page.locator("#offline")).to_be_hidden(timeout=scaled_ms(6))
    context.close()


def test_a_session_that_ends_during_a_poll_leads_to_sign_in(
    chromium: "Browser", live_server: LiveServer, running: Job
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    sign_in(page, live_server, f"/jobs/{running.pk}/")
    context.clear_cookies()
    page.wait_for_url(f"{live_server.url}/login/?next=/jobs/{running.pk}/", timeout=scaled_ms(6))
    assert page.locator("input[name=password]").is_visible()
    context.close()


def test_filters_submit_themselves_and_slash_searches(
    chromium: "Browser", live_server: LiveServer, running: Job
) -> None:
    page = chromium.new_page()
    sign_in(page, live_server, "/audit/")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    assert page.input_value("#q") == ""
    page.select_option("#f-outcome", "refused")
    page.wait_for_url("**outcome=refused**")
    page.close()


@pytest.mark.parametrize("width", [390, 1440])
def test_everything_works_without_script(
    chromium: "Browser", live_server: LiveServer, running: Job, width: int
) -> None:
    context = chromium.new_context(java_script_enabled=False, viewport={"width": width, "height": 900})
    page = context.new_page()
    sign_in(page, live_server, "/jobs/")
    page.select_option("#f-state", "running")
    page.click("button.apply")
    page.click("a.name")
    page.click("#cancel")
    expect(page.locator("#job .facts .badge").first).to_have_text("Cancelling")
    if width < 760:
        page.click("button[popovertarget=nav]")
    page.click("#nav button.link")
    assert page.url == f"{live_server.url}/login/"
    context.close()


@pytest.mark.parametrize("width", [390, 900, 1440])
def test_no_page_is_wider_than_its_window(
    chromium: "Browser", live_server: LiveServer, running: Job, width: int
) -> None:
    word = "s3a://" + "x" * 180
    record(Actor(name=word[:150], source="page"), "lake.observe", target_label=word, detail=word, after={word: word})
    Job.objects.update(title=word, message=word, target_label=word, worker=word[:120], requested_by_name=word[:150])
    steps = [{"name": word, "state": "running", "detail": word}]
    Job.objects.update(steps=steps, result={word: word})
    page = chromium.new_page(viewport={"width": width, "height": 900})
    wide = {}
    page.goto(f"{live_server.url}/login/")
    wide["/login/"] = page.evaluate("document.documentElement.scrollWidth")
    sign_in(page, live_server, "/jobs/")
    for address in ("/states/", "/jobs/", f"/jobs/{running.pk}/", "/audit/", "/me/", "/nowhere/"):
        page.goto(live_server.url + address)
        wide[address] = page.evaluate("document.documentElement.scrollWidth")
    assert {address: pixels for address, pixels in wide.items() if pixels > width} == {}
    page.close()
