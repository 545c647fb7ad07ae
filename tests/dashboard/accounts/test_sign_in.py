"""Signing in and out, and where one lands."""

from typing import Any

import pytest
from django.test import Client

from dashboard.audit.models import AuditEntry
from tests.builders.people import PASSWORD, person

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("locks")]


def sign_in(client: Client, password: str = PASSWORD, name: str = "admin", landing: str = "") -> Any:
    return client.post("/login/", {"username": name, "password": password, "next": landing})


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
