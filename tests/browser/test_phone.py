"""The console on a phone of 390 pixels; that every page fits is looked at beside its soundness."""

import pytest

from tests.browser.addresses import PHONE
from tests.lazily import lazily

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("javascript", [True, False], ids=["with-script", "without-script"])
def test_the_menu_opens_and_leads_on(visit, javascript):
    visitor = visit(width=PHONE, javascript=javascript)
    visitor.sign_in()
    page = visitor.page
    expect(page.locator("#nav")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(page.locator("#nav")).to_be_visible()
    page.locator("#nav").get_by_role("link", name="Buckets").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Buckets")
