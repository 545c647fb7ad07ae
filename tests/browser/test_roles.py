"""What a viewer sees of what they may not do."""

import pytest

from dashboard.accounts.roles import Role
from tests.browser.addresses import NAMED, link
from tests.lazily import lazily

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser


def test_a_viewer_sees_why_nothing_can_be_observed(visit):
    visitor = visit()
    visitor.sign_in(Role.VIEWER)
    for address in ("/tables/", link(visitor.page, "/tables/", NAMED)):
        visitor.open(address)
        expect(visitor.page.get_by_role("button", name="Observe now")).to_be_disabled()
        expect(visitor.page.locator("main")).to_contain_text("eeds the operator role")
