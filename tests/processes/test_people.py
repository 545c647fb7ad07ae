import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.test import RequestFactory

from dashboard.accounts.access import role_of
from dashboard.accounts.actor import Actor
from dashboard.accounts.people import PersonChange, change_person
from dashboard.accounts.roles import Role
from dashboard.processes.sandbox_people import close_sandbox, ensure_sandbox_people

pytestmark = [pytest.mark.process, pytest.mark.django_db, pytest.mark.postgres("constraints")]


def sign_in(name, password):
    return authenticate(RequestFactory().post("/login/"), username=name, password=password)


def test_a_changed_password_stays_changed(tmp_path):
    ensure_sandbox_people(tmp_path / "sign-in")
    admin = User.objects.get(username="admin")
    admin.set_password("chosen by the admin")
    admin.save()
    ensure_sandbox_people(tmp_path / "sign-in")
    assert sign_in("admin", "chosen by the admin") == admin


def test_somebody_of_that_name_whom_no_sandbox_made_keeps_their_password(tmp_path):
    own = User.objects.create_user("admin", email="kim@acme.example", password="chosen by the admin")
    ensure_sandbox_people(tmp_path / "sign-in")
    assert sign_in("admin", "chosen by the admin") == own


def test_each_role_has_a_person_who_signs_in_with_the_one_password_until_the_sandbox_ends(tmp_path):
    for name in ("endpoint", "smtp"):
        (tmp_path / name).write_text("http://127.0.0.1:1")
    password = ensure_sandbox_people(tmp_path / "sign-in")
    User.objects.create_user("kim", password="chosen by kim herself")
    assert [role_of(sign_in(role.value, password)) for role in Role] == list(Role)

    assert close_sandbox(tmp_path) == ["viewer", "operator", "admin"]

    assert [sign_in(role.value, password) for role in Role] == [None, None, None]
    assert sign_in("kim", "chosen by kim herself")
    assert list(tmp_path.iterdir()) == []
    assert close_sandbox(tmp_path) == []


def test_whose_password_was_changed_stays_when_the_sandbox_ends(tmp_path):
    ensure_sandbox_people(tmp_path / "sign-in")
    change_person(Actor.command(), "admin", PersonChange(Role.ADMIN), password="chosen by the admin")
    assert close_sandbox(tmp_path) == ["viewer", "operator"]
    assert sign_in("admin", "chosen by the admin")
