"""What the person of each role can do with a page, and with a request that no page offers."""

from typing import TYPE_CHECKING

import pytest

from dashboard.accounts.roles import Role
from tests.browser.addresses import NAMED, link
from tests.lazily import lazily

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

ACTING = [Role.OPERATOR, Role.ADMIN]


def forge(page: "Page", address: str, **fields: str) -> int:
    """Post as the page would if its button worked, and return the status of the answer."""
    token = page.locator("input[name=csrfmiddlewaretoken]").first.input_value()
    origin = "/".join(page.url.split("/")[:3])
    form = {"csrfmiddlewaretoken": token, **fields}
    return page.request.post(origin + address, form=form, headers={"Referer": page.url}, max_redirects=0).status


def test_a_viewer_sees_why_nothing_can_be_observed(visit):
    visitor = visit()
    visitor.sign_in(Role.VIEWER)
    for address in ("/tables/", link(visitor.page, "/tables/", NAMED)):
        visitor.open(address)
        expect(visitor.page.get_by_role("button", name="Observe now")).to_be_disabled()
        expect(visitor.page.locator("main")).to_contain_text("eeds the operator role")


def test_a_viewer_who_posts_anyway_is_refused_on_the_record(visit):
    visitor = visit()
    visitor.sign_in(Role.VIEWER)
    table = link(visitor.page, "/tables/", NAMED)
    assert forge(visitor.page, f"{table}observe/") == 403
    assert forge(visitor.page, "/observe/", connection="sandbox") == 403
    visitor.open("/jobs/")
    expect(visitor.page.locator("#results")).not_to_contain_text(Role.VIEWER.value)
    admin = visit()
    admin.sign_in(Role.ADMIN, then="/audit/?outcome=refused")
    expect(admin.page.locator("tbody").filter(has_text=Role.VIEWER.value).first).to_be_visible()


@pytest.mark.parametrize("role", ACTING)
def test_who_operates_can_observe(visit, role):
    visitor = visit()
    visitor.sign_in(role)
    expect(visitor.page.get_by_role("button", name="Observe now")).to_be_enabled()
    assert forge(visitor.page, "/observe/", connection="sandbox") == 303


def test_nobody_posts_without_the_token(visit):
    visitor = visit()
    visitor.sign_in(Role.ADMIN)
    assert forge(visitor.page, "/observe/", connection="sandbox", csrfmiddlewaretoken="forged") == 403
