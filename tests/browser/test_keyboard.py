"""The console without a mouse."""

import re
from typing import TYPE_CHECKING

import pytest

from dashboard.accounts.roles import Role
from tests.browser.test_accessibility import judged
from tests.lazily import lazily

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

LOOK = "e => { const s = getComputedStyle(e); return [s.outlineStyle, s.outlineWidth, s.boxShadow].join(' ') }"
MOST_TABS = 80


def focused(page: "Page") -> str:
    return page.evaluate("document.activeElement.matches(':focus-visible') ? document.activeElement.innerText : ''")


def tab_until(page: "Page", selector: str) -> None:
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab never reached {selector}")


def test_from_sign_in_to_a_table(visit, levee):
    page = visit().page
    page.goto(levee.url)
    # The field takes the focus by itself, which may be a moment after the page has loaded.
    expect(page.locator("[name=username]")).to_be_focused()
    page.keyboard.type("viewer")
    page.keyboard.press("Tab")
    page.keyboard.type(levee.password)
    page.keyboard.press("Enter")
    page.wait_for_url("**/tables/")

    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"

    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("orders")
    page.wait_for_url("**q=orders**")
    expect(page.locator("a.name")).to_have_text(["sales.orders"])
    tab_until(page, "a.name")
    assert focused(page) == "sales.orders"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("sales.orders")


def test_focus_is_seen_wherever_it_stands(visit):
    visitor = visit()
    visitor.sign_in()
    page, unseen = visitor.page, []
    for _ in range(40):
        page.keyboard.press("Tab")
        where = page.locator("*:focus")
        look = where.evaluate(LOOK)
        if not ("solid" in look or "auto" in look) and look.endswith("none"):
            unseen.append(where.evaluate("e => e.outerHTML.slice(0, 120)"))
    assert unseen == []


@pytest.mark.parametrize("javascript", [True, False], ids=["with-script", "without-script"])
def test_picked_rows_bring_a_bar_that_leads_to_what_will_be_touched(visit, javascript):
    visitor = visit(javascript=javascript)
    visitor.sign_in(Role.OPERATOR)
    visitor.open("/tables/")
    page = visitor.page
    bar = page.get_by_role("form", name="What to do with the selected tables")
    expect(bar).to_be_hidden()

    page.get_by_label("Select sales.order_items").focus()
    page.keyboard.press("Space")
    page.get_by_label("Select inventory.reservations").focus()
    page.keyboard.press("Space")

    publish = bar.get_by_role("button", name="Publish")
    if javascript:
        expect(publish).to_have_text("Publish… 1 of 2")
        expect(bar.get_by_role("button", name="Drop")).to_be_disabled()
    publish.press("Enter")
    expect(page.locator("main")).to_contain_text("Of 2 tables that you picked")
    expect(page.locator("main")).to_contain_text("1 table will be touched")


def test_a_table_is_found_opened_and_its_path_copied_by_keyboard(visit):
    visitor = visit()
    visitor.sign_in(Role.VIEWER)
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    page.locator("#q").focus()
    page.keyboard.type("?")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find")
    expect(field).to_be_focused()
    page.keyboard.type("order_items")
    hit = page.get_by_role("option", name=re.compile("^sales.order_items "))
    expect(hit).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == hit.get_attribute("id")
    assert judged(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(hit).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(hit).to_have_attribute("aria-selected", "false")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("sales.order_items")

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Copy the path").press("Enter")
    expect(page.locator("#announce")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("code.pick").first.inner_text()
