"""A backup plan in a real Chromium: added by hand and keyboard, edited, and its permissions checked."""

import re

import pytest

from dashboard.accounts.roles import Role
from tests.browser.test_accessibility import judged
from tests.lazily import lazily
from tests.waiting import scaled_ms

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

PLAN = "plan-by-hand"


def test_a_plan_is_added_edited_and_its_permissions_are_really_checked(visit):
    visitor = visit()
    visitor.sign_in(Role.ADMIN, then="/backups/new/")
    page = visitor.page
    page.get_by_label("Name", exact=True).fill(PLAN)
    page.get_by_label("Source", exact=True).fill("s3a://acme-lake-prod/warehouse/")
    page.get_by_label("Destination", exact=True).fill(f"s3a://acme-lake-raw/{PLAN}/")
    page.get_by_label("Schedule", exact=True).fill("not a schedule")
    page.get_by_label("Schedule", exact=True).press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("Nothing is saved")
    assert judged(page) == []
    page.get_by_label("Schedule", exact=True).fill("0 3 1 1 *")
    page.get_by_label("Schedule", exact=True).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(PLAN)

    page.get_by_role("link", name="Edit the plan").click()
    page.get_by_label("Objective, hours").fill("12")
    page.get_by_label("Objective, hours").press("Enter")
    expect(page.locator("#settings ~ dl, section:has(#settings)")).to_contain_text("12 h")

    page.get_by_role("link", name="Policies").click()
    page.get_by_role("link", name="AWS CLI").click()
    page.locator("summary").first.click()
    expect(page.locator("pre").first).to_contain_text("aws iam create-role")
    page.get_by_role("button", name=re.compile(f"^Check {PLAN}")).click()
    expect(page.locator("#preflight")).to_contain_text("permissions are there", timeout=scaled_ms(60))
    assert judged(page) == []
