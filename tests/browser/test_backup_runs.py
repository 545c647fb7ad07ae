"""Runs of backups in a real Chromium: on real Spark, followed live, decided with and without script."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from dashboard.accounts.roles import Role
from tests.browser.conftest import Visitor
from tests.browser.running import Levee
from tests.browser.test_accessibility import judged
from tests.browser.test_keyboard import tab_until
from tests.browser.test_phone import WIDTH
from tests.browser.test_roles import forge
from tests.lazily import lazily
from tests.waiting import scaled_ms

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

expect = lazily("playwright.sync_api", "expect")

pytestmark = [pytest.mark.browser, pytest.mark.spark]

SAMPLE, BY_HAND, LEFT_ALONE = "finance", "by-hand", "left-alone"
SPARK_MS = scaled_ms(180)
WAITS = "Waiting for approval"
PRICE = "$0.25"


@dataclass(frozen=True)
class Runs:
    """Addresses of runs that wait for approval: of a sample plan, and of two that were made in the form."""

    sample: str
    by_hand: str
    left_alone: str


@pytest.fixture(scope="module")
def runs(chromium: "Browser", levee: Levee) -> Iterator[Runs]:
    """Three runs on a Spark that may be cold; each page is opened at once and comes to the gate by itself."""
    context = chromium.new_context()
    visitor = Visitor(context, levee)
    visitor.sign_in(Role.ADMIN)
    for plan in (BY_HAND, LEFT_ALONE):
        add_plan(visitor, plan)
    found = [start(visitor, plan) for plan in (SAMPLE, BY_HAND)]
    found.append(start(visitor, LEFT_ALONE))
    expect(badge(visitor.page)).to_have_text(WAITS, timeout=SPARK_MS)
    assert visitor.page.title().startswith(WAITS)
    for address in found:
        visitor.open(address)
        expect(badge(visitor.page)).to_have_text(WAITS, timeout=SPARK_MS)
    yield Runs(*found)
    context.close()


def start(visitor: Visitor, plan: str) -> str:
    """Start a plan by its button, and return the address of its run."""
    visitor.open(f"/backups/plans/{plan}/")
    visitor.page.get_by_role("button", name=f"Run {plan}").click()
    visitor.page.wait_for_url("**/backups/runs/*/")
    return urlsplit(visitor.page.url).path


def add_plan(visitor: Visitor, name: str) -> None:
    """A plan that lists its source, and whose only copy job costs more than its ceiling."""
    visitor.open("/backups/new/")
    page = visitor.page
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Source", exact=True).fill("s3a://acme-lake-prod/warehouse/export/")
    page.get_by_label("Destination", exact=True).fill(f"s3a://acme-vault-lake/{name}/")
    page.get_by_label("Cost ceiling").fill("0.10")
    page.get_by_role("button", name="Add the plan").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def badge(page: "Page") -> "Locator":
    return page.locator("#run .facts .badge").first


def open_as(visitor: Visitor, role: Role, address: str) -> "Page":
    visitor.sign_in(role, then=address)
    return visitor.page


def test_what_waits_for_a_person_is_said_everywhere(visit, runs):
    page = open_as(visit(), Role.OPERATOR, runs.left_alone)
    expect(page.locator("#run .pipeline li[aria-current=step]")).to_contain_text("Cost gate")
    expect(page.locator("#run .verdict h2")).to_contain_text(f"for {PRICE}")
    expect(page.locator("#run")).to_contain_text("Batch jobs")
    page.get_by_role("link", name=re.compile(r"^Backups ?\d waiting for approval")).click()
    expect(page.locator(".verdict h2")).to_contain_text("waits for your approval")


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (WIDTH, "dark")])
def test_pages_of_a_run_that_waits_are_sound_and_fit(visit, runs, width, theme):
    visitor = visit(width=width, theme=theme)
    visitor.sign_in(Role.OPERATOR)
    faults = {}
    for address in ("/backups/", runs.left_alone, f"/backups/plans/{SAMPLE}/"):
        visitor.open(address)
        faults[address] = judged(visitor.page)
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width, address
    assert {address: found for address, found in faults.items() if found} == {}


def test_a_viewer_sees_the_estimate_and_decides_nothing(visit, runs):
    page = open_as(visit(), Role.VIEWER, runs.left_alone)
    for button in (f"Approve {PRICE}", "Reject this run"):
        expect(page.get_by_role("button", name=button)).to_be_disabled()
    expect(page.locator("#run")).to_contain_text("Needs the operator role")
    for act in ("approve", "reject", "cancel", "prefer", "retry"):
        assert forge(page, f"{runs.left_alone}{act}/") == 403
    page.reload()
    expect(badge(page)).to_have_text(WAITS)


def test_an_operator_approves_by_keyboard_and_the_page_follows_to_the_end(visit, runs):
    page = open_as(visit(), Role.OPERATOR, runs.sample)
    tab_until(page, "form[action$='/approve/'] button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=f"Approve {PRICE}")).to_have_count(0)
    expect(badge(page)).to_have_text("Copied", timeout=SPARK_MS)
    expect(page.locator("#run .verdict h2")).to_contain_text("are at the destination with their size and ETag")
    expect(page.locator("#announce")).to_contain_text("Copied")
    assert page.title().startswith("Copied")
    assert judged(page) == []


def test_an_operator_approves_without_script(visit, runs):
    page = open_as(visit(javascript=False), Role.OPERATOR, runs.by_hand)
    page.get_by_role("button", name=f"Approve {PRICE}").click()
    expect(page.get_by_role("button", name=f"Approve {PRICE}")).to_have_count(0)
    # Where no script runs, the page asks for itself again.
    expect(badge(page)).to_have_text("Copied", timeout=SPARK_MS)
