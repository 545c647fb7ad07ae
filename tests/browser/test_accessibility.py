"""Every page under both themes: sound markup, what axe-core finds, no complaint of the browser or of the policy."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.addresses import every_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "vendor" / "axe-core-4.14.1"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

SOUND = """
() => {
  const faults = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const tell = (what, element) => faults.push(`${what}: ${element.outerHTML.slice(0, 160)}`);
  if (!document.documentElement.lang) faults.push("html has no lang");
  if (all("h1").length !== 1) faults.push(`${all("h1").length} h1`);
  const ids = all("[id]").map((element) => element.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`id ${id} twice`);
  for (const input of all("input:not([type=hidden]), select, textarea"))
    if (!input.labels.length && !input.ariaLabel) tell("no label", input);
  for (const drawing of all("img, svg"))
    if (!drawing.closest("[aria-hidden=true]") && !drawing.ariaLabel && !drawing.alt
        && !drawing.getAttribute("aria-labelledby")) tell("no name", drawing);
  for (const name of ["aria-labelledby", "aria-describedby", "aria-controls"])
    for (const element of all(`[${name}]`))
      for (const id of element.getAttribute(name).split(" "))
        if (!document.getElementById(id)) tell(`${name} names nothing`, element);
  for (const live of all("#results [aria-live], #job [aria-live], #verdict [aria-live]")) tell("polled and live", live);
  return faults;
}
"""

FINDINGS = """
async (rules) => {
  const found = await axe.run(document, {runOnly: rules, resultTypes: ["violations"]});
  return found.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 160)} ${node.any.map((a) => a.message).join("; ")}`));
}
"""


FAULTY = """
<html><body><h1>One</h1><h1>Two</h1><p id="a">a</p><p id="a" style="color: #bbb">Hardly to be read</p>
<input><img src="data:,">
"""


def judged(page: "Page") -> list[str]:
    page.evaluate((AXE / "axe.min.js").read_text())
    return [*page.evaluate(SOUND), *page.evaluate(FINDINGS, RULES)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_is_sound_and_quiet(visit, theme):
    visitor = visit(theme=theme)
    visitor.open("/login/")
    faults = {"/login/": judged(visitor.page)}
    visitor.sign_in()
    for address in every_page(visitor.page):
        visitor.open(address)
        faults[address] = judged(visitor.page)
    assert {address: found for address, found in faults.items() if found} == {}


def test_faults_would_be_found(chromium):
    page = chromium.new_page()
    page.set_content(FAULTY)
    found = " ".join(judged(page))
    page.close()
    for fault in ("no lang", "2 h1", "id a twice", "no label", "no name", "color-contrast", "image-alt"):
        assert fault in found


def test_axe_is_what_was_published():
    sums = dict(reversed(line.split()) for line in (AXE / "SHA256SUMS").read_text().splitlines())
    names = {file.name for file in AXE.iterdir()} - {"SHA256SUMS"}
    assert {name: hashlib.sha256((AXE / name).read_bytes()).hexdigest() for name in names} == sums
