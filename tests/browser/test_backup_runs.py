"""A run of a backup in a real Chromium: on real Spark, followed live, and decided by keyboard on a phone."""

import pytest

from dashboard.accounts.roles import Role
from tests.browser.addresses import PHONE
from tests.browser.test_accessibility import faults
from tests.browser.test_keyboard import tab_until
from tests.lazily import lazily
from tests.waiting import scaled_ms

expect = lazily("playwright.sync_api", "expect")

pytestmark = [pytest.mark.browser, pytest.mark.spark]

SPARK_MS = scaled_ms(180)
WAITS = "Waiting for approval"
PRICE = "$0.25"


def test_the_page_follows_a_run_to_the_gate_and_from_an_approval_by_keyboard_to_the_end(visit):
    visitor = visit(width=PHONE, theme="dark")
    page = visitor.page
    visitor.sign_in(Role.OPERATOR, then="/backups/plans/finance/")
    page.get_by_role("button", name="Run finance").click()
    page.wait_for_url("**/backups/runs/*/")

    badge = page.locator("#run .facts .badge").first
    expect(badge).to_have_text(WAITS, timeout=SPARK_MS)
    assert page.title().startswith(WAITS)
    expect(page.locator("#run .pipeline li[aria-current=step]")).to_contain_text("Cost gate")
    assert faults(page, PHONE) == []

    tab_until(page, "form[action$='/approve/'] button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=f"Approve {PRICE}")).to_have_count(0)
    expect(badge).to_have_text("Complete", timeout=SPARK_MS)
    expect(page.locator("#run .verdict h2")).to_contain_text(
        "tables can be restored with all that is older than 36 hours"
    )
    expect(page.locator("#announce")).to_contain_text("Complete")
    assert page.title().startswith("Complete")
    assert faults(page, PHONE) == []
