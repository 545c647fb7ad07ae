"""The door: where one lands, what each failure costs, whom it slows, and what is written down."""

import ast
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.accounts.actor import Actor
from dashboard.accounts.door import OF_A_NAME, OF_A_NAME_FROM_AN_ADDRESS, OF_AN_ADDRESS
from dashboard.accounts.people import invitation
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from tests.builders.people import PASSWORD, person, signed_in

pytestmark = pytest.mark.django_db

NOW = timezone.now().replace(microsecond=0)
ELSEWHERE = "203.0.113.9"


@pytest.fixture
def clock():
    """A clock that stands still until it is moved."""
    person()
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


def sign_in(client: Client, password: str = PASSWORD, name: str = "admin", landing: str = "") -> Any:
    return client.post("/login/", {"username": name, "password": password, "next": landing})


def fail(clock: Any, times: int, name: str = "admin", address: str = "127.0.0.1") -> None:
    """Fail as a patient stranger does, who waits before each try for as long as the door asks."""
    for _ in range(times):
        answer = sign_in(Client(REMOTE_ADDR=address), "wrong", name)
        if answer.status_code == 429:
            clock.shift(timedelta(seconds=int(answer["Retry-After"])))
            answer = sign_in(Client(REMOTE_ADDR=address), "wrong", name)
        assert answer.status_code == 200


def waits(client: Client, name: str = "admin") -> int:
    """Seconds that the right password has to wait; 0: it opened the door."""
    answer = sign_in(client, name=name)
    return int(answer["Retry-After"]) if answer.status_code == 429 else 0


@pytest.mark.postgres("locks")
@pytest.mark.parametrize(("landing", "lands_on"), [("/jobs/", "/jobs/"), ("https://evil.example/", "/tables/")])
def test_one_lands_on_the_page_one_wanted_or_on_the_tables(landing: str, lands_on: str) -> None:
    person()
    response = sign_in(Client(), landing=landing)
    assert (response.status_code, response["Location"]) == (302, lands_on)


@pytest.mark.postgres("locks")
def test_the_session_key_changes_at_sign_in() -> None:
    person()
    client = Client()
    client.get("/login/")
    session = client.session
    session["before"] = True
    session.save()
    client.cookies["sessionid"] = key_before = session.session_key
    sign_in(client)
    assert client.session.session_key != key_before


@pytest.mark.postgres("locks")
def test_sign_in_sign_out_and_failure_are_audited() -> None:
    person()
    client = Client()
    sign_in(client, password="wrong")
    sign_in(client)
    client.post("/logout/")
    rows = AuditEntry.objects.order_by("id").values_list("action", "outcome", "actor_name", "target_label")
    assert list(rows) == [
        ("account.sign_in", "refused", "anonymous", "admin"),
        ("account.sign_in", "done", "admin", "admin"),
        ("account.sign_out", "done", "admin", "admin"),
    ]


def test_the_wait_of_a_name_from_an_address_doubles_up_to_a_quarter_of_an_hour(clock) -> None:
    fail(clock, OF_A_NAME_FROM_AN_ADDRESS.free)
    seen = []
    for _ in range(11):
        fail(clock, 1)
        seen.append(waits(Client()))
    assert seen == [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    clock.shift(timedelta(seconds=900))
    assert waits(Client()) == 0


def test_tries_while_one_has_to_wait_cost_nothing_and_are_not_looked_at(clock) -> None:
    fail(clock, OF_A_NAME_FROM_AN_ADDRESS.free + 1)
    written = AuditEntry.objects.count()
    for _ in range(20):
        assert waits(Client()) == 2
    assert AuditEntry.objects.count() == written


def test_many_addresses_that_guess_one_name_are_slowed_together(clock) -> None:
    for number in range(OF_A_NAME.free + 1):
        fail(clock, 1, address=f"203.0.113.{number}")
    assert waits(Client(REMOTE_ADDR="198.51.100.1")) == 2
    for number in range(100, 120):
        clock.shift(timedelta(minutes=1))
        fail(clock, 1, address=f"203.0.113.{number}")
    assert waits(Client()) == 60


def test_many_names_guessed_from_one_address_are_slowed_together(clock) -> None:
    for number in range(OF_AN_ADDRESS.free + 1):
        fail(clock, 1, name=f"guess-{number}")
    assert waits(Client()) == 2
    assert waits(Client(REMOTE_ADDR=ELSEWHERE)) == 0


def test_strangers_cannot_keep_out_a_browser_that_has_signed_in_before(clock) -> None:
    known = Client()
    assert sign_in(known).status_code == 302
    known.post("/logout/")
    for number in range(60):
        clock.shift(timedelta(minutes=1))
        fail(clock, 1, name=f"guess-{number}")
        fail(clock, 1, address=f"203.0.113.{number}")
    fail(clock, 8)
    assert waits(Client()) > 0
    assert waits(known) == 0


@pytest.mark.parametrize("value", ["", "made up", "eyJuYW1lIjoiYSJ9:1tYYYY:AAAA"])
def test_a_made_up_cookie_makes_no_browser_known(clock, value: str) -> None:
    fail(clock, OF_A_NAME_FROM_AN_ADDRESS.free + 1)
    client = Client()
    client.cookies["known_browser"] = value
    assert waits(client) == 2


def test_ones_own_browser_is_not_known_for_the_names_of_others(clock) -> None:
    person(Role.VIEWER)
    own = Client()
    sign_in(own, name="viewer")
    own.post("/logout/")
    fail(clock, OF_A_NAME_FROM_AN_ADDRESS.free + 1)
    assert waits(own) == 2


def test_a_success_forgets_the_failures_of_its_own_name_alone(clock) -> None:
    person(Role.VIEWER)
    fail(clock, OF_A_NAME_FROM_AN_ADDRESS.free + 1)
    assert sign_in(Client(), name="viewer").status_code == 302
    assert waits(Client()) == 2
    clock.shift(timedelta(seconds=2))
    assert waits(Client()) == 0
    fail(clock, OF_A_NAME_FROM_AN_ADDRESS.free)
    assert waits(Client()) == 0


def test_failures_are_forgotten_a_day_after_the_last(clock) -> None:
    fail(clock, 14)
    clock.shift(timedelta(days=1, seconds=1))
    fail(clock, OF_A_NAME_FROM_AN_ADDRESS.free)
    assert waits(Client()) == 0


def test_a_name_that_nobody_has_waits_as_one_that_somebody_has(clock) -> None:
    seen = {}
    for name in ("admin", "nobody"):
        fail(clock, OF_A_NAME_FROM_AN_ADDRESS.free + 3, name=name, address=f"203.0.113.{len(name)}")
        answer = sign_in(Client(REMOTE_ADDR=f"203.0.113.{len(name)}"), name=name)
        seen[name] = (answer.status_code, answer["Retry-After"], str(answer.context["form"].non_field_errors()))
    assert seen["admin"] == seen["nobody"]


def test_a_name_that_nobody_has_is_written_down_nowhere(clock) -> None:
    sign_in(Client(), "wrong", name="my-password-typed-too-early")
    kept = [*AuditEntry.objects.values(), *AccessAttempt.objects.values()]
    assert len(kept) == 2
    assert "typed-too-early" not in str(kept)
    assert "Nobody has the name" in AuditEntry.objects.get().detail


def test_nothing_of_what_was_typed_is_kept_with_a_failure(clock) -> None:
    client = signed_in()
    client.post("/prove/?next=kept-query", {"password": "kept-1", "next": "/kept-2/"})
    client.post("/me/password/", {"old_password": "kept-3", "new_password1": "kept-4", "new_password2": "kept-5"})
    Client().post("/login/", {"username": "kept-6", "password": "kept-7", "other": "kept-8"})
    kept = str([*AccessAttempt.objects.values(), *AuditEntry.objects.values()])
    assert (AccessAttempt.objects.count(), AuditEntry.objects.filter(outcome="refused").count()) == (2, 3)
    assert "kept-" not in kept


@pytest.mark.parametrize("has_signed_in_before", [False, True])
def test_a_new_password_lets_in_at_once(clock, has_signed_in_before: bool) -> None:
    visitor = Client()
    if has_signed_in_before:
        sign_in(visitor)
        visitor.post("/logout/")
    for _ in range(OF_A_NAME_FROM_AN_ADDRESS.free + 1):
        sign_in(visitor, "wrong")
    assert waits(visitor) == 2
    link = invitation(Actor.command(), User.objects.get(username="admin"))
    page = visitor.get(link)["Location"]
    new = "another long enough one"
    assert visitor.post(page, {"new_password1": new, "new_password2": new}).status_code == 302
    assert sign_in(visitor, new).status_code == 302


@pytest.mark.parametrize(
    ("path", "field", "act"),
    [("/prove/", "password", "account.prove"), ("/me/password/", "old_password", "account.password")],
)
def test_guessing_inside_is_written_down_and_slowed_like_guessing_at_the_door(clock, path, field, act) -> None:
    client = signed_in()
    new = {"new_password1": "another long enough one", "new_password2": "another long enough one"}
    answers = [client.post(path, {field: "wrong", **new}) for _ in range(OF_A_NAME_FROM_AN_ADDRESS.free + 1)]
    assert "That is not your password." in answers[0].content.decode()
    refused = AuditEntry.objects.filter(action=act, outcome="refused", actor_name="admin", target_label="admin")
    assert refused.count() == len(answers)
    right = client.post(path, {field: PASSWORD, **new})
    assert (right.status_code, right["Retry-After"]) == (429, "2")
    assert User.objects.get(username="admin").check_password(PASSWORD)


def test_nothing_else_checks_a_password() -> None:
    checks = {"authenticate", "aauthenticate", "check_password", "acheck_password"}
    found = set()
    for room in ("dashboard", "coordinator", "backups", "sandbox"):
        for path in (settings.BASE_DIR / room).rglob("*.py"):
            found |= {(path.name, name) for name in checks & _called(path)}
    # The start without the sandbox asks whether its people still have the password that it gave them.
    assert found == {
        ("door.py", "authenticate"),
        ("forms.py", "check_password"),
        ("sandbox_people.py", "check_password"),
    }


def _called(path: Path) -> set[str]:
    calls = (node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}
