"""`levee person`."""

import io
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.test import Client

from dashboard.accounts.access import role_of
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.connections.models import Connection
from tests.json_types import printed

pytestmark = pytest.mark.django_db


def run(*words: str) -> dict[str, Any]:
    return printed("person", *words)


def test_a_new_person_gets_a_password_that_works() -> None:
    document = run("maya", "--role", "operator")
    user = User.objects.get(username="maya")
    assert user.check_password(document["password"])
    assert role_of(user) is Role.OPERATOR


def test_an_existing_person_keeps_the_password_and_changes_the_role() -> None:
    password = run("maya", "--role", "admin")["password"]
    document = run("maya", "--role", "viewer")
    user = User.objects.get(username="maya")
    assert document == {"name": "maya", "role": "viewer", "created": False}
    assert user.check_password(password)
    assert list(user.groups.values_list("name", flat=True)) == ["viewer"]


def test_a_password_comes_in_on_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
    document = run("maya", "--role", "admin", "--password-stdin")
    assert "password" not in document
    assert User.objects.get(username="maya").check_password("correct horse battery")


@pytest.mark.parametrize("password", ["", "short", "password1234"])
def test_a_bad_password_saves_nobody(password: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(password))
    with pytest.raises(CommandError) as caught:
        run("maya", "--role", "admin", "--password-stdin")
    assert caught.value.returncode == 2
    assert not User.objects.exists()


def test_the_change_is_audited_without_the_password() -> None:
    password = run("maya", "--role", "admin")["password"]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target_label, entry.source) == ("people.manage", "maya", "command")
    assert (entry.before, entry.after["role"], entry.after["password_changed"]) == ({"role": None}, "admin", True)
    assert password not in f"{entry.after}{entry.detail}"


def test_address_grants_and_sessions_are_managed_from_the_command_line() -> None:
    lab = Connection.objects.create(name="lab", region="eu-west-1")
    run("sam", "--grant", "lab=operator", "--email", "sam@acme.example")
    sam = User.objects.get(username="sam")
    assert (sam.email, sam.grants.get().connection, sam.grants.get().role) == ("sam@acme.example", lab, "operator")
    client = Client()
    client.force_login(sam)
    client.get("/me/")
    assert run("sam", "--end-sessions")["sessions_ended"] == 1
    run("sam", "--grant", "lab=")
    assert not sam.grants.exists()


def test_the_door_is_closed_and_opened() -> None:
    run("sam", "--role", "viewer")
    run("sam", "--out")
    assert not User.objects.get(username="sam").is_active
    run("sam", "--in")
    assert User.objects.get(username="sam").is_active


@pytest.mark.parametrize(
    "words",
    [
        ("sam",),
        ("schedule", "--role", "admin"),
        ("sam", "--grant", "nowhere=viewer"),
        ("sam", "--grant", "lab"),
        ("sam", "--role", "viewer", "--email", "no address"),
    ],
)
def test_what_makes_no_sense_is_a_mistake_of_usage(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError) as caught:
        run(*words)
    assert caught.value.returncode == 2
    assert not User.objects.exists()
