"""Nobody is led away: whatever an address is given, its redirects stay on this console."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from dashboard.accounts.roles import Role
from tests.builders.people import PASSWORD, person, signed_in
from tests.dashboard.test_addresses import routes
from tests.security.table import RULES, Least
from tests.security.visits import Visitor
from tests.security.world import World

pytestmark = pytest.mark.django_db

ELSEWHERE = [
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "/\t/evil.example/",
    "javascript:alert(1)",
    "https://testserver@evil.example/",
    "https://testserver.evil.example/",
    "\x00//evil.example/",
    "/tables/\r\nLocation: https://evil.example/",
]
NAMES = ("next", "back", "url", "return", "return_to", "redirect", "redirect_to", "continue", "to")


def stays(location: str) -> bool:
    return not location or (
        location.startswith("/") and not location.startswith(("//", "/\\")) and "\n" not in location
    )


@pytest.mark.parametrize("there", ELSEWHERE)
def test_signing_in_and_proving_lead_home(there: str) -> None:
    person(Role.VIEWER)
    client = signed_in(Role.VIEWER)
    answers = [
        client.post("/prove/", {"password": PASSWORD, "next": there}),
        client.post(f"/prove/?{urlencode({'next': there})}", {"password": PASSWORD}),
        client.post("/scope/", {"connection": "", "next": there}),
        client.get(f"/login/?{urlencode({'next': there})}"),
        client.post("/me/", {"theme": "dark", "next": there}),
        client.post("/logout/", {"next": there}),
        client.post("/login/", {"username": "viewer", "password": PASSWORD, "next": there}),
    ]
    assert [answer.status_code for answer in answers] == [302] * len(answers)
    assert [answer["Location"] for answer in answers if not stays(answer["Location"])] == []


def test_every_address_ignores_where_it_is_told_to_lead() -> None:
    world, visitor = World(), Visitor(Role.ADMIN)
    away = dict.fromkeys(NAMES, "https://evil.example/")
    led = []
    for name, _ in routes():
        address, told = world.path(name), {"Referer": "https://evil.example//evil.example/"}
        visits = [visitor.visit("get", f"{address}?{urlencode(away)}", **told)]
        if RULES[name].do is not Least.NOBODY:
            visits.append(visitor.visit("post", address, world.data(name) | away, **told))
        led += [f"{name}: {visit.location}" for visit in visits if not stays(visit.location)]
    assert led == []


@pytest.mark.parametrize("there", ["https://evil.example/people/", "https://evil.example//evil.example/"])
def test_a_form_sent_too_late_comes_back_to_this_console(there: str) -> None:
    client = signed_in(Role.ADMIN, proved_at=timezone.now() - timedelta(hours=1))
    asked = client.post("/people/new/", {"name": "kim", "role": "viewer"}, headers={"Referer": there})
    assert asked["Location"].startswith("/prove/?next=")
    proved = client.post(asked["Location"], {"password": PASSWORD})
    assert stays(proved["Location"])


@pytest.mark.parametrize("there", ["https://evil.example/x", "https://testserver.evil.example/x", "//evil.example/x"])
def test_a_fragment_does_not_learn_the_way_from_its_page(there: str) -> None:
    visit = Visitor(None).visit("get", "/tables/", **{"HX-Request": "true", "HX-Current-URL": there})
    assert "evil" not in visit.location
