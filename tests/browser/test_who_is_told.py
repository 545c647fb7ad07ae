"""A mail to a recipient, and a person who comes in by a link, in a real browser."""

import time

import pytest

from dashboard.accounts.roles import Role
from tests.lazily import lazily
from tests.waiting import scaled

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

# Mails are sent every quarter of a minute.
WAIT_SECONDS = scaled(150)


def test_a_mail_is_taken_by_a_real_server_and_stands_in_the_log(visit):
    visitor = visit()
    visitor.sign_in(Role.ADMIN)
    visitor.open("/alerts/recipients/")
    page = visitor.page
    page.get_by_label("Name", exact=True).fill("Platform")
    page.get_by_label("What", exact=True).select_option("address")
    page.get_by_label("Address or URL").fill("platform@levee.example")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Send a test to Platform").click()
    visitor.open("/alerts/messages/")
    message = page.locator("tbody", has_text="platform@levee.example")
    deadline = time.monotonic() + WAIT_SECONDS
    while not message.get_by_text("Sent", exact=True).count() and time.monotonic() < deadline:
        time.sleep(1)
        page.reload()
    mails = (visitor.levee.home / "sandbox" / "mail").glob("*.eml")
    assert any("platform@levee.example" in mail.read_text() for mail in mails)


def test_an_admin_adds_a_person_who_comes_in_by_a_link(visit):
    admin = visit()
    admin.sign_in(Role.ADMIN)
    admin.open("/people/new/")
    page = admin.page
    page.get_by_label("Name", exact=True).fill("sam")
    page.get_by_label("Role everywhere").select_option("viewer")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("section.verdict code").inner_text()

    sam = visit(javascript=False)
    sam.page.goto(link)
    sam.page.get_by_label("Password", exact=True).fill("sams own long password")
    sam.page.get_by_label("The same again").fill("sams own long password")
    sam.page.get_by_role("button", name="Set it").click()
    sam.page.get_by_label("Name").fill("sam")
    sam.page.get_by_label("Password").fill("sams own long password")
    sam.page.get_by_role("button", name="Sign in").click()
    expect(sam.page.get_by_role("heading", name="Tables")).to_be_visible()

    page.reload()
    page.get_by_role("button", name="Sign them out everywhere").click()
    sam.page.reload()
    expect(sam.page.get_by_role("button", name="Sign in")).to_be_visible()
