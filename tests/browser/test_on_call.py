"""What an on-call person does from the first word of trouble to the proof, each way in which a console is used."""

import re
from typing import TYPE_CHECKING

import pytest

from dashboard.accounts.roles import Role
from sandbox.ground import PROD
from sandbox.log_store_tables import temp_prefixes
from tests.browser.person import WAYS, WITHOUT_SCRIPT, Person
from tests.browser.troubles import let_an_hour_pass, link_in_mail
from tests.lazily import lazily
from tests.waiting import scaled_ms

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = lazily("playwright.sync_api", "expect")

pytestmark = pytest.mark.browser

JOB_MS, SPARK_MS = scaled_ms(40), scaled_ms(150)
UNPUBLISHED = "warehouse/sales/order_items"


@pytest.fixture(params=WAYS)
def person(request, visit):
    return Person(visit(javascript=request.param != WITHOUT_SCRIPT), request.param)


@pytest.fixture(scope="session")
def told(levee):
    """People have been told of what is wrong."""
    let_an_hour_pass(levee)


def to_the_end_of_the_job(page: "Page", limit_ms: float) -> None:
    page.wait_for_url("**/jobs/*-*/")
    expect(page.locator("#job .facts .badge").first).to_have_text("Succeeded", timeout=limit_ms)


def test_paged_at_night(person, levee, told):
    """From the mail over the alert, the table and the plan to a repair that is proven, and to who made it."""
    page, table = person.page, f"journeys.lost_{person.way}"
    person.open(link_in_mail(levee, "operator@levee.example", "journeys.lost_"), Role.OPERATOR)
    person.press(page.get_by_role("link", name=re.compile(f"^Next step: {table}: ")))
    person.is_on(table)
    expect(page.locator(".head .facts")).to_contain_text("Blocked")

    person.press(page.locator("#main .guide li.here button"))
    expect(page.get_by_role("heading", name="What will be sent")).to_be_visible(timeout=JOB_MS)
    person.write(page.get_by_label("Reason, for the audit log"), "paged at night")
    person.press(page.locator("form.panel button.primary"))
    to_the_end_of_the_job(page, JOB_MS)
    expect(page.locator("#job")).to_contain_text("paged at night")

    person.press(page.locator("#job .head a"))
    person.is_on(table)
    expect(page.locator(".head .facts")).to_contain_text("Healthy")
    person.press(page.get_by_role("link", name="Audit log"))
    repaired = page.locator("tbody.item", has_text=re.compile(f"{Role.OPERATOR.value} republished .*{table}"))
    expect(repaired.locator(".badge")).to_have_text("Done")


def test_blocked_beyond_repair(person, told):
    """The page says what to do in order, offers no loss first, and asks for more where something is lost."""
    page = person.page
    person.open("/tables/?state=blocked", Role.OPERATOR)
    person.press(page.get_by_role("link", name="inventory.reservations", exact=True))
    person.is_on("inventory.reservations")
    expect(page.locator("section.verdict")).to_have_count(1)
    expect(page.locator("#verdict a.button")).to_have_attribute("href", re.compile("#steps$"))
    steps = page.locator(".guide > li")
    expect(steps.locator("h3")).to_contain_text([re.compile("^Stop the writers"), "backup", re.compile("^Or give")])
    expect(steps.locator("button")).to_have_count(0)
    expect(page.get_by_role("region", name="What not to do")).to_contain_text("Delete the entry of version 7")

    person.press(page.locator("dl", has_text="Permalink").get_by_role("link", name="Open"))
    page.wait_for_url("**/alerts/*/")
    what_to_do = page.get_by_role("region", name="What it means")
    # One alert for the two tables that lost a commit so; it says what to do about the one that was seen first.
    expect(what_to_do).to_contain_text(re.compile("Stop the writers.*Or give version (7|10) up", re.DOTALL))
    person.press(page.get_by_role("link", name=re.compile("^Next step: inventory.reservations: ")))
    person.press(page.locator("dl", has_text="Permalink").get_by_role("link", name="7", exact=True))
    expect(page.get_by_role("region", name="What is known of it")).to_contain_text("Accepted file")


def test_a_loss_is_the_last_step_and_off_for_an_operator(person):
    page = person.page
    person.open("/tables/?q=invoices", Role.OPERATOR)
    person.press(page.get_by_role("link", name="ledger.invoices", exact=True))
    losing = page.locator(".guide > li").last
    expect(losing).to_contain_text("An admin, who types the table's name")
    expect(page.locator(".guide form button")).to_have_count(1)
    expect(losing.get_by_role("button")).to_be_disabled()
    expect(losing).to_contain_text("Needs the admin role")


def test_a_purge_announced(person):
    """The bucket's page says what is taken when and by which rule; the plan changes that rule and no other."""
    page = person.page
    person.open("/buckets/", Role.OPERATOR)
    person.press(page.get_by_role("link", name="acme-lake-prod", exact=True))
    person.is_on("acme-lake-prod")
    taken = page.get_by_role("region", name="Deadlines").locator("tbody.item", has_text=UNPUBLISHED)
    expect(taken).to_contain_text(re.compile(r"\d+ \w+ \d{4} 00:00 UTC.*Attention.*not published.*expire-2", re.DOTALL))

    person.write(page.get_by_label("Or a prefix by hand").first, UNPUBLISHED)
    person.write(page.get_by_label("Days").first, "30")
    person.press(page.get_by_role("button", name="Set the rule…"))
    rules = page.get_by_role("region", name="All rules, before and after").locator("tbody.item")
    expect(rules.filter(has_text="Changed")).to_contain_text("expire-2", timeout=JOB_MS)
    expect(rules.filter(has_text="As it is")).to_have_count(len(temp_prefixes(PROD)) - 1)


def test_a_viewer_asks_for_an_act(person):
    """The act is off, says whose it is, and cannot be had by sending its form."""
    page, sent = person.page, []
    person.open("/tables/?q=stock_levels", Role.VIEWER)
    page.on("request", lambda request: sent.append(request.method))
    person.press(page.get_by_role("link", name="inventory.stock_levels", exact=True))
    person.is_on("inventory.stock_levels")
    step = page.locator(".guide > li.here")
    expect(step.get_by_role("button")).to_be_disabled()
    expect(step).to_contain_text("Needs the operator role.")
    expect(step.locator(".aside")).to_contain_text("An operator")

    form = step.locator("form")
    fields = {field.get_attribute("name"): field.get_attribute("value") for field in form.locator("input").all()}
    action = f"{person.levee.url}{form.get_attribute('action')}"
    answer = page.request.post(action, form=fields, headers={"Referer": page.url}, max_redirects=0)
    assert answer.status == 403
    assert "needs the role operator" in answer.text()
    assert set(sent) == {"GET"}


def test_a_drop_with_its_progress(person, told):
    """On real Spark: checked, confirmed by name, followed step by step, and proven on the table's page."""
    page, table = person.page, f"journeys.coordinated_{person.way}"
    person.open(f"/tables/?q={table.partition('.')[2]}", Role.ADMIN)
    person.press(page.get_by_role("link", name=table, exact=True))
    person.press(page.get_by_role("link", name="Drop coordinated commits…"))
    person.press(page.get_by_role("button", name="Check"))
    expect(page.get_by_role("heading", name="Commit 1, through the coordinator")).to_be_visible(timeout=JOB_MS)
    person.tick(page.get_by_label(re.compile("Every writer of this table knows")))
    person.write(page.get_by_label(f"Type {table} to confirm"), table)
    person.write(page.get_by_label("Reason, for the audit log"), "CHG-4471")
    person.press(page.get_by_role("button", name="Drop coordinated commits"))
    page.wait_for_url("**/jobs/*-*/")
    # The first way starts Spark cold. Later ones may be done before the page asks again.
    if person.way == WAYS[0]:
        committing = re.compile(r"Step \d of \d: (First|Second) commit")
        expect(page.locator("#v")).to_contain_text(committing, timeout=SPARK_MS)
        expect(page.locator("#job .steps li.next").first).to_be_visible()
    to_the_end_of_the_job(page, SPARK_MS)
    expect(page.locator("#job .steps li").filter(has_text=re.compile("First commit|Second commit"))).to_have_count(2)

    person.press(page.locator("#job .head a"))
    person.is_on(table)
    expect(page.locator(".head .facts")).to_contain_text(re.compile("Healthy.*Single driver", re.DOTALL))
