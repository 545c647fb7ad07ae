"""Coordinated commits from the form to the job's end: with a real Spark, by keyboard, on a phone."""

import re
from typing import TYPE_CHECKING

import pytest

from dashboard.accounts.roles import Role
from tests.browser.addresses import PHONE
from tests.browser.test_accessibility import faults
from tests.lazily import lazily
from tests.waiting import scaled_ms

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

PLACE = "s3a://acme-lake-raw/journeys/made_by_hand"
NAME = "journeys.made_by_hand"
CHECKS_MS = scaled_ms(40)
SPARK_MS = scaled_ms(150)


def to_the_end_of_the_job(page: "Page") -> None:
    page.wait_for_url("**/jobs/*-*/")
    expect(page.locator("#job .facts .badge").first).to_have_text("Succeeded", timeout=SPARK_MS)


def open_table(page: "Page", origin: str) -> None:
    page.goto(f"{origin}/tables/?q=made_by_hand")
    page.get_by_role("link", name=NAME, exact=True).click()
    page.wait_for_url("**/tables/*/")


@pytest.mark.spark
def test_a_table_is_created_dropped_and_enabled_again(visit, levee):
    """Three jobs on one real Spark, of which the first starts it cold."""
    visitor = visit()
    page = visitor.page
    visitor.sign_in(Role.OPERATOR)

    page.get_by_role("link", name="Coordinated commits…").click()
    page.get_by_role("link", name="New table…").click()
    page.get_by_label("Path of the new table").fill(PLACE)
    for row, (name, data_type) in enumerate([("id", "BIGINT"), ("day", "DATE")], start=1):
        page.get_by_label(f"Name of column {row}").fill(name)
        page.get_by_label(f"Type of column {row}").fill(data_type)
    page.get_by_label("Column 2 partitions the table").check()
    page.locator("label", has_text="delta_commits").get_by_role("radio").check()
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("heading", name="Checks", exact=True)).to_be_visible(timeout=CHECKS_MS)
    expect(page.locator("pre.paste")).to_contain_text("PARTITIONED BY (`day`)")
    page.get_by_role("button", name="Create a coordinated table").click()
    to_the_end_of_the_job(page)
    expect(page.locator("#job .steps")).to_contain_text("Create the table")

    open_table(page, levee.url)
    page.get_by_role("link", name="Drop coordinated commits…").click()
    expect(page.locator("#stays")).to_be_visible()
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("heading", name="Commit 1, through the coordinator")).to_be_visible(timeout=CHECKS_MS)
    expect(page.get_by_role("heading", name="Commit 2, without the coordinator")).to_be_visible()
    page.get_by_label(re.compile("Every writer of this table knows")).check()
    page.get_by_label(f"Type {NAME} to confirm").fill(NAME)
    page.get_by_role("button", name="Drop coordinated commits").click()
    to_the_end_of_the_job(page)
    expect(page.locator("#job .steps")).to_contain_text("First commit, through the coordinator")
    expect(page.locator("#job .steps")).to_contain_text("Second commit, without the coordinator")

    open_table(page, levee.url)
    expect(page.locator(".head .facts")).to_contain_text("Single driver")
    page.get_by_role("link", name="Enable coordinated commits…").click()
    page.get_by_role("button", name="Check").press("Enter")
    expect(page.get_by_role("heading", name="Commit 3, the conversion")).to_be_visible(timeout=CHECKS_MS)
    page.get_by_label(re.compile("Every writer of this table is paused")).press("Space")
    page.get_by_label("Reason, for the audit log").fill("CHG-4471")
    page.keyboard.press("Enter")
    to_the_end_of_the_job(page)

    open_table(page, levee.url)
    expect(page.locator(".head .facts")).to_contain_text("Coordinated delta_commits")
    expect(page.get_by_role("link", name="Drop coordinated commits…")).to_be_visible()


def test_the_checks_page_is_sound_and_fits_on_a_phone(visit):
    visitor = visit(width=PHONE, theme="dark")
    page = visitor.page
    visitor.sign_in(Role.OPERATOR, then="/tables/new/")
    page.get_by_label("Path of the new table").fill("s3a://acme-lake-raw/journeys/checked")
    page.get_by_label("Name of column 1").fill("id")
    page.get_by_label("Type of column 1").fill("BIGINT")
    page.locator("label", has_text="delta_commits").get_by_role("radio").check()
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("heading", name="Checks", exact=True)).to_be_visible(timeout=CHECKS_MS)
    assert faults(page, PHONE) == []
