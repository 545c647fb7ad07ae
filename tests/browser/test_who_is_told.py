"""An alert from its opening to its acknowledgement, and the people who may do what about it, in a real browser."""

import time
from typing import TYPE_CHECKING

import pytest

from dashboard.accounts.roles import Role
from tests.lazily import lazily
from tests.waiting import scaled

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

# Alerts are looked for once a minute, and mails sent every quarter of one.
WAIT_SECONDS = scaled(150)
ALERT = "delta_log_2022"


def open_alert(visitor) -> "Page":
    """Go to the alert about the store whose TTL can lose commits, as soon as it is there."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        visitor.open("/alerts/")
        row = visitor.page.locator("tbody", has_text=ALERT)
        if row.count():
            row.first.locator("a.name").click()
            return visitor.page
        time.sleep(1)
    raise AssertionError(f"No alert about {ALERT} within {WAIT_SECONDS} s.")


@pytest.mark.parametrize("javascript", [True, False], ids=["with-script", "without-script"])
def test_an_operator_takes_an_alert_up_and_gives_it_back(visit, javascript):
    visitor = visit(javascript=javascript)
    visitor.sign_in(Role.OPERATOR)
    page = open_alert(visitor)
    page.get_by_label("Reason").fill("The move is planned for Monday.")
    page.get_by_label("Snooze reminders").select_option("4")
    page.get_by_role("button", name="Acknowledge").click()

    expect(page.locator("main")).to_contain_text("The move is planned for Monday.")
    page.get_by_role("button", name="End the acknowledgement").click()
    expect(page.get_by_role("button", name="Acknowledge")).to_be_visible()


def test_a_viewer_reads_an_alert_and_has_no_button(visit):
    visitor = visit()
    visitor.sign_in(Role.VIEWER)
    page = open_alert(visitor)
    expect(page.locator("main")).to_contain_text("Nobody has taken it up. An operator may.")
    expect(page.get_by_role("button", name="Acknowledge")).to_have_count(0)
    expect(page.get_by_role("link", name="People")).to_have_count(0)


def test_the_mail_about_it_waits_for_the_end_of_the_first_look(visit):
    visitor = visit()
    visitor.sign_in(Role.OPERATOR)
    page = open_alert(visitor)
    expect(page.locator("main")).to_contain_text("operator@levee.example")
    page.get_by_role("link", name="opened").first.click()
    expect(page.locator("main")).to_contain_text("Due")


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
