"""Somebody at the console, in one of three ways: with scripts, without them, and by keyboard alone."""

from typing import TYPE_CHECKING

from dashboard.accounts.roles import Role
from tests.lazily import lazily

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import Visitor

expect = lazily("playwright.sync_api", "expect")

MOST_TABS = 200
WITH_SCRIPT, WITHOUT_SCRIPT, BY_KEYBOARD = WAYS = ("with-script", "without-script", "by-keyboard")


class Person:
    """Presses and writes as one way allows; by keyboard that is Tab, Enter, Space and letters, and never a click."""

    def __init__(self, visitor: "Visitor", way: str) -> None:
        self.page = visitor.page
        self.levee = visitor.levee
        self.way = way

    def press(self, what: "Locator") -> None:
        """Follow a link, or push a button."""
        if self.way == BY_KEYBOARD:
            self._reach(what)
            self.page.keyboard.press("Enter")
        else:
            what.click()

    def write(self, field: "Locator", text: str) -> None:
        """Put text in place of what a field holds."""
        if self.way == BY_KEYBOARD:
            self._reach(field)
            self.page.keyboard.press("Control+a")
            self.page.keyboard.type(text)
        else:
            field.fill(text)

    def tick(self, box: "Locator") -> None:
        if self.way == BY_KEYBOARD:
            self._reach(box)
            self.page.keyboard.press("Space")
        else:
            box.check()

    def open(self, address: str, role: Role) -> None:
        """Go where a link or a bookmark leads, and sign in on the way."""
        url = address if "://" in address else self.levee.url + address
        self.page.goto(url)
        self.write(self.page.get_by_label("Name"), role.value)
        self.write(self.page.get_by_label("Password"), self.levee.password)
        self.press(self.page.get_by_role("button", name="Sign in"))
        self.page.wait_for_url(url)

    def is_on(self, title: str) -> None:
        """Wait for the page of that title."""
        expect(self.page.get_by_role("heading", level=1)).to_contain_text(title)

    def _reach(self, what: "Locator") -> None:
        what.wait_for()
        for _ in range(MOST_TABS):
            if what.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab never reached {what}")
