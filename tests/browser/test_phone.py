"""The console on a phone of 390 pixels."""

import pytest

from tests.browser.addresses import every_page
from tests.lazily import lazily

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

WIDTH = 390


@pytest.mark.parametrize("javascript", [True, False], ids=["with-script", "without-script"])
def test_the_menu_opens_and_leads_on(visit, javascript):
    visitor = visit(width=WIDTH, javascript=javascript)
    visitor.sign_in()
    page = visitor.page
    expect(page.locator("#nav")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(page.locator("#nav")).to_be_visible()
    page.locator("#nav").get_by_role("link", name="Buckets").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Buckets")


def test_no_page_scrolls_sideways(visit):
    visitor = visit(width=WIDTH)
    visitor.open("/login/")
    wide = {"/login/": visitor.page.evaluate("document.documentElement.scrollWidth")}
    visitor.sign_in()
    for address in every_page(visitor.page):
        visitor.open(address)
        wide[address] = visitor.page.evaluate("document.documentElement.scrollWidth")
    assert {address: pixels for address, pixels in wide.items() if pixels > WIDTH} == {}
