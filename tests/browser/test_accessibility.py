"""Every page under both themes: sound markup, what axe-core finds, room on a phone, no complaint of the browser."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dashboard.accounts.roles import Role
from tests.browser.addresses import PHONE, every_page, every_sample

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

WORDING = """
(most) => {
  const faults = [];
  // Of lists each row speaks for itself.
  const apart = ".dim, code, pre, svg, #results, tbody.group + tbody";
  const shown = (element) => element.checkVisibility() && !element.closest(apart);
  const said = (element) => element.textContent.replace(/\\s+/g, " ").trim();
  for (const line of [document.title, ...[...document.querySelectorAll("h1, h2, h3")].map(said)])
    if (line.length > most) faults.push(`a headline of ${line.length} characters: ${line}`);
  const sentences = new Map();
  const all = [...document.querySelectorAll("main p, main h1, main h2, main h3, main li, main td, main dd")];
  const innermost = all.filter((one) => shown(one) && !one.querySelector("p, li, td, dd, h2, h3"));
  const texts = innermost.map(said);
  for (const cut of innermost.filter((one) => !one.querySelector(".button")).map(said))
    if (/.{30}…$/.test(cut) && texts.some((one) => one !== cut && one.includes(cut.slice(0, -1))))
      faults.push(`a beginning beside its whole: ${cut}`);
  for (const text of texts)
    for (const sentence of text.split(/(?<=[.?!]) (?=[A-Z])/))
      if (sentence.length > 50 && /[.?!]$/.test(sentence)) sentences.set(sentence, (sentences.get(sentence) ?? 0) + 1);
  for (const [sentence, times] of sentences) if (times > 1) faults.push(`said ${times} times: ${sentence}`);
  return faults;
}
"""
HEADLINE = 90
"""Characters."""

FINDINGS = """
async (rules) => {
  const found = await axe.run(document, {runOnly: rules, resultTypes: ["violations"]});
  return found.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 160)} ${node.any.map((a) => a.message).join("; ")}`));
}
"""

WRONG = """spark-submit --packages io.delta:delta-spark_2.13:4.0.1,org.apache.hadoop:hadoop-aws:3.3.4 \\
  --conf spark.delta.logStore.s3a.impl=io.delta.storage.DynamoDBLogStore \\
  --conf spark.hadoop.fs.s3a.performance.flags=create job.py s3a://lake/orders
"""
FAULTY = """
<html><body><h1>One</h1><h1>Two</h1><p id="a">a</p><p id="a" style="color: #bbb">Hardly to be read</p>
<input><img src="data:,">
<main><h2>Commit 17 is complete in DynamoDB, but its file…</h2>
<p>Commit 17 is complete in DynamoDB, but its file is gone.</p>
<p>Commit 17 is complete in DynamoDB, but its file is gone.</p></main>
"""


def judged(page: "Page") -> list[str]:
    page.evaluate((AXE / "axe.min.js").read_text())
    return [*page.evaluate(SOUND), *page.evaluate(WORDING, HEADLINE), *page.evaluate(FINDINGS, RULES)]


def faults(page: "Page", width: int) -> list[str]:
    """What is wrong with the page as it is, beside what makes it wider than the screen."""
    wide = int(page.evaluate("document.documentElement.scrollWidth"))
    return [*judged(page), *([f"{wide} pixels wide"] if wide > width else [])]


def test_no_page_of_a_sample_says_a_sentence_twice_or_has_a_long_headline(visit):
    visitor = visit(width=PHONE)
    visitor.sign_in()
    page, found = visitor.page, {}
    for address in every_sample(page):
        visitor.open(address)
        wide = int(page.evaluate("document.documentElement.scrollWidth"))
        found[address] = [*page.evaluate(WORDING, HEADLINE), *([f"{wide} pixels wide"] if wide > PHONE else [])]
    assert {address: wrong for address, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", PHONE)], ids=["light", "dark-on-a-phone"])
def test_every_page_is_sound_and_quiet(visit, theme, width):
    visitor = visit(theme=theme, width=width)
    visitor.open("/login/")
    found = {"/login/": faults(visitor.page, width)}
    visitor.sign_in()
    for address in every_page(visitor.page):
        visitor.open(address)
        found[address] = faults(visitor.page, width)
    assert {address: wrong for address, wrong in found.items() if wrong} == {}


def test_findings_on_a_pasted_command_are_sound_and_fit_on_a_phone(visit):
    visitor = visit(theme="dark", width=PHONE)
    visitor.sign_in(Role.VIEWER, then="/doctor/")
    page = visitor.page
    page.get_by_label("Settings", exact=True).fill(WRONG)
    page.get_by_role("button", name="Examine").click()
    page.get_by_role("heading", name="Findings").wait_for()
    assert faults(page, PHONE) == []


def test_faults_would_be_found(chromium):
    page = chromium.new_page()
    page.set_content(FAULTY)
    found = " ".join(judged(page))
    page.close()
    for fault in ("no lang", "2 h1", "id a twice", "no label", "no name", "color-contrast", "image-alt"):
        assert fault in found
    for fault in ("beside its whole", "said 2 times"):
        assert fault in found
