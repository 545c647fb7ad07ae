"""No page holds script or style of its own, loads from elsewhere, or has a form without its token."""

import pytest

from dashboard.accounts.roles import Role
from tests.choosing import slowly
from tests.dashboard.test_addresses import routes
from tests.security.markup import Page
from tests.security.table import RULES, Least
from tests.security.visits import Visitor
from tests.security.world import World

pytestmark = pytest.mark.django_db


def opened() -> list[str]:
    return sorted(name for name, _ in routes() if RULES[name].see is not Least.NOBODY)


@pytest.mark.parametrize("as_fragment", [False, True])
@pytest.mark.parametrize("role", [Role.ADMIN, slowly(Role.VIEWER), None])
def test_every_page_is_clean(role: Role | None, as_fragment: bool) -> None:
    world, visitor = World(), Visitor(role)
    headers = {"HX-Request": "true"} if as_fragment else {}
    faults = []
    for name in opened():
        visit = visitor.visit("get", world.path(name), **headers)
        if visit.response.headers.get("Content-Type", "").startswith("text/html"):
            faults += [f"{name}: {fault}" for fault in Page(visit.text).faults]
    # The link of a mail is signed for one address, and mail programs post it without having seen the page.
    faults = [fault for fault in faults if fault != "alert-stop: a form to itself without its token"]
    assert "\n".join(faults) == ""


@pytest.mark.parametrize("role", [Role.VIEWER, None])
@pytest.mark.parametrize(("path", "status"), [("/nowhere/", 404), ("/people/", 403), ("/me/", 403)])
def test_refusals_are_clean(role: Role | None, path: str, status: int) -> None:
    visitor = Visitor(role, enforce_csrf_checks=True)
    visit = visitor.visit("post" if path == "/me/" else "get", path)
    assert visit.status in {status, 302}
    assert Page(visit.text).faults == []
