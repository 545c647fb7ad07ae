"""Where people are signed in, and how that ends."""

from datetime import timedelta

import pytest
import time_machine
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from dashboard.accounts import middleware
from dashboard.accounts.models import SignedIn
from dashboard.accounts.roles import Role
from dashboard.accounts.sessions import SessionStore, stored_key
from dashboard.audit.models import AuditEntry
from tests.builders.people import PASSWORD, person, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]


def at_a_page(role: Role = Role.VIEWER) -> Client:
    client = Client()
    client.force_login(person(role))
    assert client.get("/me/").status_code == 200
    return client


def is_in(client: Client) -> bool:
    return client.get("/me/").status_code == 200


def test_a_session_is_listed_with_its_address_and_browser() -> None:
    client = Client(headers={"user-agent": "Firefox"}, REMOTE_ADDR="192.0.2.9")
    client.force_login(person())
    client.get("/me/")
    (session,) = client.get("/me/").context["sessions"]
    assert (session.ip, session.user_agent) == ("192.0.2.9", "Firefox")


def test_ending_one_session_leaves_the_others_and_ending_all_this_one() -> None:
    here, there, elsewhere, theirs = at_a_page(), at_a_page(), at_a_page(), at_a_page(Role.OPERATOR)
    for session in (there, theirs):
        here.post("/me/sessions/end/", {"session": stored_key(session.session.session_key)})
    assert [is_in(client) for client in (here, there, elsewhere, theirs)] == [True, False, True, True]
    here.post("/me/sessions/end/")
    assert [is_in(client) for client in (here, there, elsewhere, theirs)] == [True, False, False, True]
    ended = AuditEntry.objects.filter(action="account.end_sessions").values_list("after", flat=True)
    assert list(ended) == [{"ended": 1}, {"ended": 1}]


def test_an_admin_signs_somebody_out_everywhere() -> None:
    theirs = at_a_page(Role.OPERATOR)
    signed_in(Role.ADMIN).post(f"/people/{person(Role.OPERATOR).pk}/sessions/end/")
    assert not is_in(theirs)


def test_a_new_password_ends_the_other_sessions() -> None:
    here, there = at_a_page(), at_a_page()
    new = "another long enough one"
    changed = here.post("/me/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    assert changed.status_code == 302
    assert (is_in(here), is_in(there)) == (True, False)


@pytest.mark.parametrize(("used_at", "asked_at", "is_there"), [([], 7, True), ([], 9, False), ([7], 11.9, True)])
def test_a_session_ends_eight_hours_after_its_last_use(used_at, asked_at, is_there) -> None:
    client, start = at_a_page(), timezone.now()
    for hours in used_at:
        with time_machine.travel(start + timedelta(hours=hours)):
            assert is_in(client)
    with time_machine.travel(start + timedelta(hours=asked_at)):
        assert is_in(client) is is_there


def test_a_session_ends_twelve_hours_after_the_sign_in_however_it_is_used() -> None:
    client, start = at_a_page(), timezone.now()
    for hours in range(1, 12):
        with time_machine.travel(start + timedelta(hours=hours)):
            assert is_in(client)
            assert client.get("/me/").context["session_ends_at"] <= start + timedelta(hours=12)
            client.post("/prove/", {"password": PASSWORD})
            client.post("/me/", {"theme": "dark"})
    with time_machine.travel(start + timedelta(hours=12, seconds=1)):
        assert not is_in(client)


def test_use_is_written_down_once_a_minute() -> None:
    start = timezone.now()
    with time_machine.travel(start, tick=False):
        client = at_a_page()
    with time_machine.travel(start + timedelta(seconds=59), tick=False):
        client.get("/me/")
        assert SignedIn.objects.get().seen_at == start
    with time_machine.travel(start + timedelta(seconds=61), tick=False):
        client.get("/me/")
        assert SignedIn.objects.get().seen_at == start + timedelta(seconds=61)


def test_a_page_that_is_read_saves_nothing_over_what_another_wrote_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    client = at_a_page()

    def another_page(request: HttpRequest, *_: object) -> None:
        session = SessionStore(request.session.session_key)
        session["theme"] = "dark"
        session.save()

    monkeypatch.setattr(middleware, "require_visible", another_page)
    with time_machine.travel(timezone.now() + timedelta(minutes=2), tick=False):
        assert client.get("/me/").status_code == 200
        assert client.session["theme"] == "dark"


def test_what_stands_in_the_database_opens_nothing() -> None:
    client = at_a_page()
    key = client.session.session_key
    kept = SignedIn.objects.get()
    assert key != kept.session_key
    assert key not in client.get("/me/").content.decode()
    thief = Client()
    thief.cookies["sessionid"] = kept.session_key
    assert not is_in(thief)
    assert is_in(client)
