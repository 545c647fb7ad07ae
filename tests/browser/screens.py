"""`make screens`: pictures of the main pages of the sandbox that `make run` serves, into docs/screens/.

PORT and LEVEE_HOME say which, as for `make run`; it should have run for ten minutes, until people are told of its
troubles.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tools.machine import CHECKOUT, find_chromium, say

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FOLDER = CHECKOUT / "docs" / "screens"
PAGE_MS, QUALITY = 20_000, 62
INTRODUCTION = "# Screens\n\nThe main pages on the sandbox, as `make screens` takes them.\n\n"
SIZES = {"light": (1440, 1000), "dark": (1440, 1000), "phone": (390, 844)}
OF_ALL_SIZES = ("tables", "incident", "history", "alerts")
ORDERS = ("/tables/?q=orders", "a.name:has-text('sales.orders')")

# An address, what is clicked from there on, and last what the picture waits for.
PAGES = {
    "tables": ("/tables/", "#results"),
    "incident": ("/tables/?q=reservations", "a.name:has-text('inventory.reservations')", "#steps"),
    "healthy-table": (*ORDERS, "#verdict"),
    "history": (*ORDERS, "a[href$='/history/']", "h1:has-text('sales.orders')"),
    "repair-plan": ("/tables/?q=order_items", "a.name", "form[action$='/repairs/'] button", "#will"),
    "deadlines": ("/deadlines/", "h1:has-text('Deadlines')"),
    "alerts": ("/alerts/", "#results :text('inventory.reservations')"),
    "jobs": ("/jobs/", "h1:has-text('Jobs')"),
    "bucket": ("/buckets/", "a.name:has-text('acme-lake-prod')", "#rules"),
    "store": ("/stores/", "a.name:has-text('delta_log_finance')", "#verdict-title"),
    "backups": ("/backups/", "h1:has-text('Backups')"),
    "audit": ("/audit/", "#results table"),
}


def main() -> int:
    """Take every picture and list those that were taken; exit 1 with a sentence for each page that is not there."""
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(parents=True, exist_ok=True)
    taken: dict[str, list[str]] = {}
    url = f"http://127.0.0.1:{os.environ.get('PORT', '8000')}"
    password = Path(os.environ.get("LEVEE_HOME", CHECKOUT / "var"), "sandbox", "sign-in")
    if not password.exists():
        say("No pictures: no sandbox is served from this LEVEE_HOME. `make run` serves one.")
        return 1
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for size in SIZES:
            page = _signed_in(browser, size, url, password.read_text().strip())
            for name in PAGES if size == "light" else OF_ALL_SIZES:
                if _take(page, url, name, FOLDER / f"{name}-{size}.jpg"):
                    taken.setdefault(name, []).append(f"[{size}]({name}-{size}.jpg)")
    rows = "".join(f"| {name} | {', '.join(files)} |\n" for name, files in taken.items())
    (FOLDER / "README.md").write_text(f"{INTRODUCTION}| page | pictures |\n|---|---|\n{rows}")
    return int(taken.keys() != PAGES.keys())


def _take(page: "Page", url: str, name: str, file: Path) -> bool:
    """Take one picture; False, with a sentence, where a page or a link on the way to it is not there."""
    from playwright.sync_api import Error

    address, *clicked, shown = PAGES[name]
    try:
        page.goto(url + address)
        for selector in clicked:
            page.locator(selector).first.click()
        page.locator(shown).first.wait_for()
        page.wait_for_load_state("networkidle")
    except Error as error:
        say(f"{name}: no picture, since {page.url} has not what leads to it: {error.message.splitlines()[0]}")
        return False
    page.screenshot(path=file, type="jpeg", quality=QUALITY)
    return True


def _signed_in(browser: "Browser", size: str, url: str, password: str) -> "Page":
    width, height = SIZES[size]
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme="dark" if size == "dark" else "light"
    )
    page.set_default_timeout(PAGE_MS)
    page.goto(f"{url}/login/")
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/tables/")
    return page


if __name__ == "__main__":
    sys.exit(main())
