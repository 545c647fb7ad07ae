"""A real Chromium, a whole Levee, and pages that tell of every complaint."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from dashboard.accounts.roles import Role
from tests.browser.person import WAYS
from tests.browser.running import Levee, running_levee
from tests.browser.troubles import lay
from tests.jars_home import link_jars
from tests.processes.builders import short_folder
from tests.waiting import scaled_ms

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

WAIT_MS = scaled_ms(15)

TELL_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`policy: ${event.violatedDirective} refused ${event.blockedURI} ${event.sample}`);
});
"""


@pytest.fixture(scope="session")
def levee() -> Iterator[Levee]:
    with short_folder() as home:
        link_jars(home)
        with running_levee(home) as running:
            for way in WAYS:
                lay(running, way)  # now, so that they have been read by the time that a journey comes
            yield running


class Visitor:
    """A person at a browser of their own; `complaints` collects console errors, faults and refusals of the policy."""

    def __init__(self, context: "BrowserContext", levee: Levee) -> None:
        self.levee = levee
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(f"{self.page.url}: {error}"))
        self.page.on("requestfailed", self._miss)

    def open(self, address: str) -> None:
        self.page.goto(self.levee.url + address)

    def sign_in(self, role: Role = Role.ADMIN, then: str = "/tables/") -> None:
        self.open(f"/login/?next={then}")
        self.page.get_by_label("Name").fill(role.value)
        self.page.get_by_label("Password").fill(self.levee.password)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(self.levee.url + then)

    def _hear(self, message: Any) -> None:
        is_the_page_itself = message.location.get("url") == self.page.url  # a refusal that was asked for
        if message.type in {"error", "warning"} and not is_the_page_itself:
            self.complaints.append(f"{self.page.url}: {message.text}")

    def _miss(self, request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # a poll that a change of page cuts short
            self.complaints.append(f"{request.url}: {request.failure}")


@pytest.fixture
def visit(chromium: "Browser", levee: Levee) -> Iterator[Callable[..., Visitor]]:
    """Open browsers as asked (width, theme, with or without JavaScript); none may have complained at the end."""
    visitors: list[Visitor] = []

    def make(width: int = 1440, theme: str = "light", javascript: bool = True) -> Visitor:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, java_script_enabled=javascript
        )
        context.set_default_timeout(WAIT_MS)
        if javascript:
            context.add_init_script(TELL_VIOLATIONS)
        visitors.append(Visitor(context, levee))
        return visitors[-1]

    yield make
    for visitor in visitors:
        visitor.page.context.close()
    assert [complaint for visitor in visitors for complaint in visitor.complaints] == []
