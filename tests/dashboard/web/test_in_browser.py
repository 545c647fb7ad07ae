"""The frame in a real Chromium: polls are polite, a lost connection is said; tests/browser has every page by axe."""

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from dashboard.accounts.roles import FRESH_FOR, Role
from dashboard.jobs.models import Job, JobEvent, JobState
from tests.builders.lake import make_connection
from tests.builders.people import PASSWORD, person, signed_in
from tests.dashboard.jobs.builders import job
from tests.lazily import lazily
from tests.waiting import scaled_ms

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

expect = lazily("playwright.sync_api", "expect")

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def running() -> Job:
    person(Role.OPERATOR)
    made, now = job("running", title="Observe the lake"), timezone.now()
    JobEvent.objects.bulk_create(JobEvent(job=made, at=now, step="tables", text=f"line {n}") for n in range(80))
    return made


def sign_in(page: "Page", server: LiveServer, then: str) -> None:
    page.goto(f"{server.url}/login/?next={then}")
    page.fill("#username", Role.OPERATOR.value)
    page.fill("#password", PASSWORD)
    page.click("button.primary")
    page.wait_for_url(f"{server.url}{then}")


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


def test_a_lost_connection_is_said_until_it_is_back_and_nothing_typed_is_lost_with_it_or_the_session(
    chromium: "Browser", live_server: LiveServer, running: Job
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    sign_in(page, live_server, f"/jobs/{running.pk}/")
    context.set_offline(True)
    expect(page.locator("#offline")).to_be_visible(timeout=scaled_ms(6))
    context.set_offline(False)
    expect(page.locator("#offline")).to_be_hidden(timeout=scaled_ms(6))
    make_connection("lake")
    page.goto(f"{live_server.url}/stores/new/")
    page.fill("#name", "delta_log")
    page.fill("#tags", "team=lake")
    context.set_offline(True)
    page.get_by_role("button", name="Show the calls").click()
    page.wait_for_url("chrome-error://**")
    context.set_offline(False)
    page.goto(f"{live_server.url}/stores/new/")
    expect(page.locator("#tags")).to_have_value("team=lake")
    context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Show the calls").click()
    page.fill("#username", Role.OPERATOR.value)
    page.fill("#password", PASSWORD)
    page.click("button.primary")
    page.wait_for_url(f"{live_server.url}/stores/new/")
    expect(page.locator("#tags")).to_have_value("team=lake")
    context.close()


def test_what_was_typed_is_there_again_after_the_password(chromium: "Browser", live_server: LiveServer) -> None:
    cookie = signed_in(Role.ADMIN, proved_at=timezone.now() - FRESH_FOR).cookies["sessionid"]
    context = chromium.new_context()
    context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": live_server.url}])
    page, recipients = context.new_page(), f"{live_server.url}/alerts/recipients/"
    page.goto(recipients)
    page.get_by_label("Name", exact=True).fill("Platform")
    page.get_by_label("What", exact=True).select_option("address")
    page.get_by_label("Address or URL").fill("platform@levee.example")
    page.get_by_role("button", name="Add").click()
    page.fill("#password", PASSWORD)
    page.click("button.primary")
    page.wait_for_url(recipients)
    expect(page.get_by_label("Address or URL")).to_have_value("platform@levee.example")
    expect(page.get_by_label("What", exact=True)).to_have_value("address")
    assert PASSWORD not in page.evaluate("sessionStorage.typed")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("main")).to_contain_text("platform@levee.example")
    assert page.evaluate("sessionStorage.typed") is None
    context.close()
