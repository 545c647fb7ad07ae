"""Signing in and out, and where one lands."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.accounts.door import OF_A_NAME_FROM_AN_ADDRESS
from dashboard.accounts.roles import Role
from dashboard.accounts.views import safe_path
from dashboard.audit.models import AuditEntry
from tests.builders.people import PASSWORD, person, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bare_templates"), pytest.mark.postgres("locks")]


def sign_in(client: Client, password: str = PASSWORD, name: str = "admin", landing: str = "") -> Any:
    return client.post("/login/", {"username": name, "password": password, "next": landing})


@pytest.mark.parametrize("path", ["/jobs/", "/audit/?action=lake.observe", "/me/", "/"])
def test_known_pages_are_places_to_land_on(path: str) -> None:
    assert safe_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "https://evil.example/",
        "//evil.example/jobs/",
        "/\\evil.example/",
        "///evil.example",
        "http:///evil.example",
        "javascript:alert(1)",
        "/nothing/here/",
        "/login/?next=/login/",
        "/logout/",
        "/jobs/\r\nSet-Cookie: a=b",
        "jobs/",
        "",
    ],
)
def test_everything_else_is_no_place_to_land_on(path: str) -> None:
    assert safe_path(path) == ""


@pytest.mark.parametrize(("landing", "lands_on"), [("/jobs/", "/jobs/"), ("https://evil.example/", "/tables/")])
def test_one_lands_on_the_page_one_wanted_or_on_the_tables(landing: str, lands_on: str) -> None:
    person()
    response = sign_in(Client(), landing=landing)
    assert (response.status_code, response["Location"]) == (302, lands_on)


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


def test_a_password_is_never_audited() -> None:
    person()
    sign_in(Client(), password="my secret typed wrong")
    entry = AuditEntry.objects.get()
    assert "my secret" not in f"{entry.detail}{entry.before}{entry.after}{entry.target_label}"


def test_an_unknown_name_and_a_wrong_password_read_the_same() -> None:
    person()
    sentences = {
        str(sign_in(Client(), password="wrong", name=name).context["form"].non_field_errors())
        for name in ("admin", "nobody")
    }
    assert len(sentences) == 1


def test_a_header_that_anybody_can_send_does_not_move_the_pause() -> None:
    person()
    for number in range(OF_A_NAME_FROM_AN_ADDRESS.free + 1):
        sign_in(Client(headers={"x-forwarded-for": f"203.0.113.{number}"}), password="wrong")
    assert sign_in(Client()).status_code == 429


def test_me_shows_role_and_times() -> None:
    person(Role.OPERATOR)
    client = Client()
    sign_in(client, name="operator")
    context = client.get("/me/").context
    assert context["role"] == "operator"
    assert context["proved_at"] <= timezone.now() < context["session_ends_at"]


def test_the_theme_is_kept_in_the_session() -> None:
    client = signed_in()
    assert client.post("/me/", {"theme": "dark"}).status_code == 302
    assert client.session["theme"] == "dark"
    assert client.get("/me/").context["form"]["theme"].value() == "dark"


def test_an_unknown_theme_changes_nothing() -> None:
    client = signed_in()
    assert client.post("/me/", {"theme": "<img onerror=alert(1)>"}).status_code == 400
    assert "theme" not in client.session
