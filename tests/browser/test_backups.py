"""Backup plans in a real Chromium: added by hand and keyboard, with and without script, on a phone, in the dark."""

import re
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from dashboard.accounts.roles import Role
from tests.browser.test_accessibility import judged
from tests.browser.test_roles import forge
from tests.lazily import lazily
from tests.waiting import scaled_ms

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

PHONE = 390


def add_plan(visitor) -> str:
    """Add a plan through its form and return its address."""
    name = f"plan-{uuid4().hex[:8]}"
    visitor.sign_in(Role.ADMIN, then="/backups/new/")
    page = visitor.page
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Source", exact=True).fill("s3a://acme-lake-prod/warehouse/")
    page.get_by_label("Destination", exact=True).fill(f"s3a://acme-lake-raw/{name}/")
    page.get_by_label("Schedule", exact=True).fill("0 3 1 1 *")
    page.get_by_label("Schedule", exact=True).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    return f"/backups/plans/{name}/"


def wide(page: "Page") -> int:
    return int(page.evaluate("document.documentElement.scrollWidth"))


@pytest.mark.parametrize("javascript", [True, False], ids=["with-script", "without-script"])
def test_a_plan_is_added_edited_and_its_policies_shown(visit, javascript):
    visitor = visit(javascript=javascript)
    address = add_plan(visitor)
    page = visitor.page
    page.get_by_role("link", name="Edit the plan").click()
    page.get_by_label("Objective, hours").fill("12")
    page.get_by_label("Objective, hours").press("Enter")
    expect(page.locator("#settings ~ dl, section:has(#settings)")).to_contain_text("12 h")
    page.get_by_role("link", name="Policies").click()
    page.get_by_role("link", name="AWS CLI").click()
    page.locator("summary").first.click()
    expect(page.locator("pre").first).to_contain_text("aws iam create-role")
    assert address in page.url


def test_a_mistake_is_said_at_its_field_and_nothing_typed_is_lost(visit):
    visitor = visit()
    visitor.sign_in(Role.ADMIN, then="/backups/new/")
    page = visitor.page
    page.get_by_label("Name", exact=True).fill("fits")
    page.get_by_label("Source", exact=True).fill("not a place")
    page.get_by_label("Destination", exact=True).fill("s3a://acme-lake-raw/")
    page.get_by_role("button", name="Add the plan").click()
    expect(page.get_by_role("alert").first).to_contain_text("Nothing is saved")
    expect(page.get_by_label("Source", exact=True)).to_have_value("not a place")
    assert judged(page) == []


def test_permissions_are_really_checked_and_the_list_comes_by_itself(visit):
    visitor = visit()
    address = add_plan(visitor)
    visitor.open(f"{address}policies/")
    page = visitor.page
    page.get_by_role("button", name=re.compile("^Check plan-")).click()
    expect(page.locator("#preflight .ticks li").first).to_be_visible(timeout=scaled_ms(60))
    expect(page.locator("#preflight")).to_contain_text("permissions are there")
    expect(page.locator("#preflight")).to_contain_text("s3:ListBucket")
    assert judged(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_of_plans_is_sound(visit, theme):
    visitor = visit(theme=theme)
    address = add_plan(visitor)
    faults = {}
    for page in ("/backups/", address, f"{address}edit/", f"{address}policies/", "/backups/new/"):
        visitor.open(page)
        faults[page] = judged(visitor.page)
    assert {page: found for page, found in faults.items() if found} == {}


def test_no_page_of_plans_scrolls_sideways_on_a_phone(visit):
    visitor = visit(width=PHONE)
    address = add_plan(visitor)
    found = {}
    for page in ("/backups/", address, f"{address}edit/", f"{address}policies/"):
        visitor.open(page)
        found[page] = wide(visitor.page)
    assert {page: pixels for page, pixels in found.items() if pixels > PHONE} == {}


def test_a_viewer_reads_and_changes_nothing(visit):
    address = add_plan(visit())
    visitor = visit()
    visitor.sign_in(Role.VIEWER, then=address)
    expect(visitor.page.get_by_role("button", name=re.compile("^Run plan-"))).to_be_disabled()
    expect(visitor.page.locator("main")).to_contain_text("Needs the operator role")
    for act in ("run", "switch", "preflight", "edit"):
        assert forge(visitor.page, f"{address}{act}/") == 403
