"""The addresses of every page, with the rows of the sandbox lake in place of numbers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

PHONE = 390
"""Pixels of its width."""
COORDINATION = ("/tables/coordination/", "/tables/coordination/enable/", "/tables/coordination/drop/", "/tables/new/")
PEOPLE = ("/me/", "/me/password/", "/me/alerts/", "/prove/", "/people/", "/people/new/")
ALERTS = ("/alerts/", "/alerts/?state=resolved", "/alerts/messages/", "/alerts/rules/", "/alerts/recipients/")
LISTS = ("/tables/", "/stores/", "/buckets/", "/backups/", "/connections/", "/jobs/", "/audit/")
ELSEWHERE = ("/states/", "/doctor/", "/backups/new/", "/deadlines/", "/find/?q=stock")
PLAIN = (*LISTS, *ELSEWHERE, *COORDINATION, *PEOPLE, *ALERTS)
EMPTY = ("/tables/?q=no-such-table", "/jobs/?state=lost", "/audit/?outcome=failed")
REFUSED = ("/nowhere/", "/tables/?mechanism=nonsense")
TABLE = "inventory.stock_levels"
NAMED = f'a.name:has(:text-is("{TABLE}"))'


def every_page(page: "Page") -> list[str]:
    """Return one address of each kind of page, found by following links."""
    table = link(page, "/tables/", NAMED)
    commits = f"{table}commits/"
    blocked = link(page, "/tables/?q=inventory.reservations", "a.name")
    return [
        *PLAIN,
        *EMPTY,
        *REFUSED,
        table,
        commits,
        link(page, commits, "tbody td.num a"),
        link(page, blocked, '.facts a[href*="/commits/"]'),
        *(
            f"{table}{tab}/"
            for tab in ("entries", "backups", "rescue", "jobs", "history", "writers", "compatibility", "doctor")
        ),
        *(f"{table}coordination/{act}/" for act in ("enable", "drop", "leftovers")),
        "/stores/new/",
        *(f"/backups/plans/warehouse/{part}" for part in ("", "edit/", "policies/", "restore/", "sheet/")),
        *opening(page, f"{table}backups/"),
        link(page, "/people/", "a.name"),
        link(page, "/alerts/rules/", "a.name"),
        *(link(page, "/stores/", "a.name") + tab for tab in ("writers/", "doctor/", "ttl/")),
        *(link(page, listed, "a.name") for listed in ("/stores/", "/buckets/", "/jobs/", "/connections/")),
    ]


def opening(page: "Page", backups: str) -> list[str]:
    """Return the form that opens a restore point of a table in place; none before a run has kept one."""
    page.goto("/".join(page.url.split("/")[:3]) + backups)
    return page.locator('a[href$="/restore/"]').evaluate_all("links => links.map((link) => link.getAttribute('href'))")


def every_sample(page: "Page") -> list[str]:
    """Return the page of every table, store, bucket, alert, plan, run of a backup and job that the lists show."""
    found = []
    for listed in ("/tables/?size=100", "/stores/", "/buckets/", "/alerts/", "/backups/", "/jobs/"):
        page.goto("/".join(page.url.split("/")[:3]) + listed)
        names = page.locator("main :is(a.name, .plan h3 a)")
        found += names.evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    return sorted(set(found))


def link(page: "Page", address: str, selector: str) -> str:
    """Return where the first such link of a page leads."""
    origin = "/".join(page.url.split("/")[:3])
    page.goto(origin + address)
    leads_to = page.locator(selector).first.get_attribute("href")
    assert leads_to, f"{selector} on {address} leads nowhere"
    return leads_to
