"""`levee person`."""

import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from dashboard.accounts.actor import Actor
from dashboard.accounts.people import save_person
from dashboard.accounts.roles import NotAllowed, Role, role_of
from dashboard.audit.models import AuditEntry
from tests.builders.people import actor

pytestmark = pytest.mark.django_db


def run(*words: str, **options: Any) -> dict[str, Any]:
    out = io.StringIO()
    call_command("person", *words, "--json", stdout=out, **options)
    return json.loads(out.getvalue())


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


@pytest.mark.parametrize("name", ["schedule", "Command", "a name with blanks", ""])
def test_a_name_that_will_not_do_is_refused(name: str) -> None:
    with pytest.raises(CommandError) as caught:
        run(name, "--role", "admin")
    assert caught.value.returncode == 2


def test_the_change_is_audited_without_the_password() -> None:
    password = run("maya", "--role", "admin")["password"]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target_label, entry.source) == ("people.manage", "maya", "command")
    assert (entry.before, entry.after["role"], entry.after["password_changed"]) == ({"role": None}, "admin", True)
    assert password not in f"{entry.after}{entry.detail}"


def test_an_operator_may_not_manage_people() -> None:
    with pytest.raises(NotAllowed):
        save_person(actor(Role.OPERATOR), "friend", Role.ADMIN)
    assert not User.objects.filter(username="friend").exists()


def test_saving_twice_is_one_person() -> None:
    save_person(Actor.command(), "maya", Role.ADMIN)
    assert not save_person(Actor.command(), "maya", Role.ADMIN).is_new
    assert User.objects.count() == 1
