"""One real Chromium for all browser tests of a worker: Playwright cannot be started twice in one thread."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tools.machine import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    executable = find_chromium()
    if not executable:
        pytest.skip("Chromium is not installed: install the package chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()
