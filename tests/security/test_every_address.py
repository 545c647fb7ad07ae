"""Every address by every role and a stranger by read-only mode by GET and POST, from the URL configuration itself."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from dashboard.accounts.scope import OWN_PAGES, WHOLE_CONSOLE, owned_parts
from tests.builders.lake import make_connection
from tests.builders.people import person
from tests.choosing import slowly
from tests.dashboard.test_addresses import routes
from tests.security.markup import Page
from tests.security.table import RULES, Least
from tests.security.visits import Visit, Visitor
from tests.security.world import World, parts_of

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]

WHO = {"stranger": None, "viewer": Role.VIEWER, "operator": Role.OPERATOR, "admin": Role.ADMIN}
MODES = ("writable", "deployment read-only", "connection read-only")
# A file is there for the person who asked for it, and for nobody else.
NOT_THERE = (404, "job-file")
NO_TOKEN_NEEDED = {"alert-stop"}
# A session's own row. The page that welcomes keeps the link in it, out of the address.
SESSION = {"accounts_signedin"}
REFUSES_READ_ONLY = {403, 409}


@pytest.fixture(params=MODES)
def world(request: pytest.FixtureRequest, settings: Settings) -> World:
    """One of everything, through which the lake may or may not be changed."""
    made = World()
    settings.READ_ONLY = request.param == "deployment read-only"
    made.connection.read_only = request.param == "connection read-only"
    made.connection.save()
    made.is_read_only = request.param != "writable"
    return made


def test_every_address_is_classified() -> None:
    assert {name for name, _ in routes()} == set(RULES)


@pytest.mark.parametrize("world", ["writable", *map(slowly, MODES[1:])], indirect=True)
@pytest.mark.parametrize("who", WHO)
def test_get(world: World, who: str) -> None:
    visitor, level = Visitor(WHO[who]), Least[who.upper()]
    assert "\n".join(wrong(lambda name: _get(visitor, world, name, level))) == ""


@pytest.mark.parametrize("who", WHO)
def test_post(world: World, who: str) -> None:
    visitor, level = Visitor(WHO[who]), Least[who.upper()]
    assert "\n".join(wrong(lambda name: _post(visitor, world, name, level))) == ""


@pytest.mark.parametrize("who", ["stranger", "admin"])
def test_a_form_without_its_token_changes_nothing(who: str) -> None:
    world, visitor = World(), Visitor(WHO[who], enforce_csrf_checks=True)

    def look(name: str) -> str:
        path = world.path(name)
        if RULES[name].do is Least.NOBODY or name in NO_TOKEN_NEEDED:
            return ""
        for headers in ({}, {"Origin": "https://evil.example"}, {"HX-Request": "true"}):
            visit = visitor.visit("post", path, world.data(name), **headers)
            if (visit.status, "too old to be trusted" in visit.text, visit.wrote) != (403, True, set()):
                return f"{headers} {visit.status} {visit.wrote}"
        return ""

    assert "\n".join(wrong(look)) == ""


@pytest.mark.parametrize("who", ["stranger", "viewer", "admin"])
def test_a_fragment_is_kept_from_whom_its_page_is_kept_from_and_clean(who: str) -> None:
    world, visitor, level = World(), Visitor(WHO[who]), Least[who.upper()]

    def look(name: str) -> str:
        visit = visitor.visit("get", world.path(name), **{"HX-Request": "true"})
        if level < RULES[name].see and RULES[name].see is not Least.NOBODY:
            expected = 403 if level else 200
            return "" if visit.status == expected and (level or "/login/" in visit.location) else str(visit.status)
        is_told = visit.status in {200, 405, 503} or visit.location or (visit.status, name) == NOT_THERE
        return _unclean(name, visit) if is_told else str(visit.status)

    assert "\n".join(wrong(look)) == ""


def test_a_password_typed_long_ago_is_asked_for_again() -> None:
    world, visitor = World(), Visitor(Role.ADMIN, timezone.now() - timedelta(minutes=16))

    def look(name: str) -> str:
        if RULES[name].do is Least.NOBODY:
            return ""
        visit = visitor.visit("post", world.path(name), world.data(name))
        is_asked = visit.location.startswith("/prove/?next=") and not visit.wrote
        return "" if is_asked == RULES[name].fresh else f"{visit.status} {visit.location} {visit.wrote}"

    assert "\n".join(wrong(look)) == ""


def neighbour() -> Visitor:
    """Somebody who may do everything on another connection, and nothing here."""
    user = person(None, name="neighbour")
    Grant.objects.create(user=user, connection=make_connection("elsewhere"), role=Role.ADMIN.value)
    return Visitor(user)


def test_a_neighbour_sees_nothing_of_it() -> None:
    names = {"connection_name": "planted-lake", "store_names": ("planted_log", "planted_commits")}
    world, visitor = World(words="planted-orders", **names), neighbour()

    def look(name: str) -> str:
        if RULES[name].see is Least.NOBODY or name in OWN_PAGES:
            return ""
        visit = visitor.visit("get", world.path(name))
        # What was typed as the address may stand in the page again.
        text = visit.text.replace(world.path(name), "")
        told = [word for word in ("planted", "acme-vault", "acme-lake", "nightly") if word in text]
        return "" if visit.status in _to_a_neighbour(name) and not told else f"{visit.status} {told}"

    assert "\n".join(wrong(look)) == ""


def test_a_neighbour_does_nothing_to_it() -> None:
    world, visitor = World(), neighbour()

    def look(name: str) -> str:
        if RULES[name].do is Least.NOBODY or name in OWN_PAGES:
            return ""
        visit = visitor.visit("post", world.path(name), world.data(name))
        # The doctor examines the text that is posted to it, and knows nothing of anybody's connection there; the file
        # of the tables is one of the neighbour's own.
        own = {"scope": {302}, "doctor": {200}, "tables": {302}}.get(name, {403, 404, 409, 422})
        allowed, wrote = _to_a_neighbour(name) - {200} | own, SESSION | ({"jobs_job"} if name == "tables" else set())
        return "" if visit.status in allowed and visit.wrote <= wrote else f"{visit.status} {visit.wrote}"

    assert "\n".join(wrong(look)) == ""


def _to_a_neighbour(name: str) -> set[int]:
    """What the pages of another connection answer: 404 where one thing is named, 403 where all are told of."""
    if name in WHOLE_CONSOLE:
        return {403}
    if set(parts_of(name)) & owned_parts():
        return {404}
    return {302} if name == "home" else {200, 403} if RULES[name].see is Least.ADMIN else {200}


def wrong(look: Callable[[str], str]) -> Iterator[str]:
    """Each address at which something else happened than its rule says."""
    for name in sorted(name for name, _ in routes()):
        if said := look(name):
            yield f"{name}: {said}"


def _get(visitor: Visitor, world: World, name: str, level: Least) -> str:
    visit = visitor.visit("get", world.path(name))
    refusal = _refused(visit, level, RULES[name].see)
    if refusal is not None:
        return refusal or _unclean(name, visit)
    if visit.wrote - (SESSION if name == "welcome" else set()):
        return f"GET wrote to {sorted(visit.wrote)}"
    shows = visit.status == 200 or (visit.status, name) in {(503, "readyz"), NOT_THERE}
    leads_on = visit.status == 302 and name in {"home", "welcome", "login", "table-activity"}
    return _unclean(name, visit) if shows or leads_on else f"GET {visit.status} {visit.location}"


def _unclean(name: str, visit: Visit) -> str:
    """Script or style of a page's own, what it loads from elsewhere, and forms without their token."""
    if not visit.response.headers.get("Content-Type", "").startswith("text/html"):
        return ""
    # The link of a mail is signed for one address, and mail programs post it without having seen the page.
    excused = {"a form to itself without its token"} if name == "alert-stop" else set()
    return "; ".join(fault for fault in Page(visit.text).faults if fault not in excused)


def _post(visitor: Visitor, world: World, name: str, level: Least) -> str:
    rule = RULES[name]
    visit = visitor.visit("post", world.path(name), world.data(name))
    refusal = _refused(visit, level, rule.do)
    if refusal is None and rule.changes and world.is_read_only:
        return _read_only(visit)
    if refusal is not None:
        audited = level is Least.STRANGER or visit.status != 403 or visit.refused
        return refusal or ("" if audited else "refused, and not in the audit log")
    # The plans that are confirmed here were never made: the page says so.
    if visit.status >= 400 and not (rule.changes and visit.status == 409):
        return f"POST {visit.status} {visit.refused}"
    if not visit.audited and not rule.silent:
        return "done, and not in the audit log"
    return "" if not any("read-only" in detail for detail in visit.refused) else "refused as read-only"


def _refused(visit: Visit, level: Least, needed: Least) -> str | None:
    """None: is to be let in. Else what is wrong with the refusal, "" where nothing is."""
    if level is Least.STRANGER and needed is not Least.STRANGER:
        is_sent = visit.status == 302 and visit.location.startswith("/login/?next=/")
        unopened = needed is Least.NOBODY and visit.status == 405
        return "" if (is_sent or unopened) and not visit.wrote else f"stranger: {visit.status} {visit.location}"
    if needed is Least.NOBODY:
        return "" if visit.status == 405 else f"{visit.status} instead of 405"
    if level < needed:
        is_kept = visit.status == 403 and visit.wrote <= SESSION
        return "" if is_kept else f"{level.name} got {visit.status}, wrote {sorted(visit.wrote)}"
    return None


def _read_only(visit: Visit) -> str:
    if visit.changing_jobs:
        return f"made {visit.changing_jobs}"
    told = "read-only" in visit.text and any("read-only" in detail for detail in visit.refused)
    return "" if visit.status in REFUSES_READ_ONLY and told else f"{visit.status} {visit.refused}"
