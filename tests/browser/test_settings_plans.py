"""A change of a store and of a bucket, planned and confirmed in a real browser, with and without script."""

from typing import TYPE_CHECKING

import pytest

from dashboard.accounts.roles import Role
from tests.lazily import lazily
from tests.waiting import scaled_ms

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

STORE, BUCKET = "delta_log_finance", "acme-lake-raw"
PLAN_MS = scaled_ms(40)


@pytest.mark.parametrize("javascript", [True, False], ids=["with-script", "without-script"])
def test_a_change_of_a_store_is_planned_and_shown(visit, javascript):
    page = _signed_in(visit, javascript)
    page.get_by_role("link", name="Commit stores").first.click()
    page.get_by_role("link", name=STORE, exact=True).click()

    page.get_by_role("button", name="Change the capacity…").click()

    expect(page.get_by_role("heading", name="This can be done now.")).to_be_visible(timeout=PLAN_MS)
    expect(page.locator("main")).to_contain_text("aws dynamodb update-table")
    expect(page.get_by_role("button", name=f"Make {STORE} on demand")).to_be_enabled()


@pytest.mark.parametrize("javascript", [True, False], ids=["with-script", "without-script"])
def test_a_rule_on_unfinished_uploads_is_written(visit, javascript):
    page = _signed_in(visit, javascript)
    page.get_by_role("link", name="Buckets").first.click()
    page.get_by_role("link", name=BUCKET, exact=True).click()
    page.locator("#upload-days").fill("8" if javascript else "9")

    page.get_by_role("button", name="End unfinished uploads…").click()
    expect(page.get_by_role("button", name="Write this rule")).to_be_visible(timeout=PLAN_MS)
    page.get_by_role("button", name="Write this rule").click()

    expect(page.locator("#job .facts .badge").first).to_have_text("Succeeded", timeout=PLAN_MS)


def _signed_in(visit, javascript: bool) -> "Page":
    visitor = visit(javascript=javascript)
    visitor.open("/")
    visitor.sign_in(Role.OPERATOR)
    return visitor.page
