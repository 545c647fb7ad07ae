"""Ways through a whole Levee in a real Chromium: to the end of a job, back to a list, by the menu of a phone."""

import re

import pytest

from dashboard.accounts.roles import Role
from tests.browser.addresses import PHONE
from tests.lazily import lazily
from tests.waiting import scaled_ms

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

LOST_FILE = "inventory.stock_levels"
HEALTHY = "sales.orders"
JOB_MS = scaled_ms(40)


@pytest.mark.parametrize("javascript", [True, False], ids=["with-script", "without-script"])
def test_from_sign_in_to_the_end_of_a_job(visit, javascript):
    visitor = visit(javascript=javascript)
    page = visitor.page
    visitor.open("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    visitor.sign_in(Role.OPERATOR)
    expect(page.get_by_role("link", name=LOST_FILE, exact=True)).to_be_visible()

    page.get_by_role("list", name="Filter by state").get_by_role("link", name="Blocked").click()
    page.wait_for_url("**state=blocked**")
    expect(page.get_by_role("link", name=HEALTHY, exact=True)).to_have_count(0)
    page.get_by_role("searchbox").fill("stock")
    if not javascript:
        page.get_by_role("button", name="Apply").click()
    page.wait_for_url(re.compile(r"state=blocked.*q=stock|q=stock.*state=blocked"))
    expect(page.locator("a.name")).to_have_text([LOST_FILE])

    page.get_by_role("link", name=LOST_FILE, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(LOST_FILE)
    expect(page.locator("#verdict")).to_contain_text("17")
    page.get_by_role("navigation", name="This table").get_by_role("link", name="Entries").click()
    page.get_by_role("table").get_by_role("link", name="17", exact=True).click()
    expect(page.get_by_role("heading", name="Commit 17", exact=True)).to_be_visible()
    expect(page.locator("main")).to_contain_text("Missing")

    page.get_by_role("navigation", name="This table").get_by_role("link", name="Overview").click()
    page.get_by_role("button", name="Observe now").click()
    page.get_by_role("link", name="Follow the job").first.click()
    page.wait_for_url("**/jobs/*-*/")
    if javascript:
        page.evaluate("window.isTheSamePage = true")
    expect(page.locator("#job .facts .badge").first).to_have_text("Succeeded", timeout=JOB_MS)
    if javascript:
        assert page.evaluate("window.isTheSamePage")
    expect(page.locator("#job .facts")).to_contain_text([Role.OPERATOR.value, "observe"])

    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/login/**")
    visitor.open("/tables/")
    page.wait_for_url("**/login/?next=/tables/")


def test_back_brings_the_list_as_it_was_filtered(visit):
    visitor = visit()
    visitor.sign_in()
    page = visitor.page
    page.get_by_role("searchbox").fill("stock")
    page.wait_for_url("**q=stock**")
    page.get_by_role("link", name=LOST_FILE, exact=True).click()
    page.wait_for_url("**/tables/*/")
    page.go_back()
    expect(page.locator("a.name")).to_have_text([LOST_FILE])
    expect(page.get_by_role("searchbox")).to_have_value("stock")


@pytest.mark.parametrize("javascript", [True, False], ids=["with-script", "without-script"])
def test_the_menu_of_a_phone_opens_and_leads_on(visit, javascript):
    visitor = visit(width=PHONE, javascript=javascript)
    visitor.sign_in()
    page = visitor.page
    expect(page.locator("#nav")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(page.locator("#nav")).to_be_visible()
    page.locator("#nav").get_by_role("link", name="Buckets").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Buckets")
