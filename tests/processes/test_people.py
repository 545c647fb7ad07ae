import stat

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.test import RequestFactory

from dashboard.accounts.roles import Role, role_of
from dashboard.processes.preparation import ensure_sandbox_people

pytestmark = [pytest.mark.process, pytest.mark.django_db, pytest.mark.postgres("constraints")]


def sign_in(name, password):
    return authenticate(RequestFactory().post("/login/"), username=name, password=password)


def test_each_role_has_a_person_who_signs_in_with_the_one_password(tmp_path):
    password = ensure_sandbox_people(tmp_path / "sign-in")
    people = [sign_in(role.value, password) for role in Role]
    assert [role_of(person) for person in people] == list(Role)


def test_the_password_is_kept_for_this_user_alone(tmp_path):
    file = tmp_path / "sign-in"
    password = ensure_sandbox_people(file)
    assert file.read_text() == password == ensure_sandbox_people(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_changed_password_stays_changed(tmp_path):
    ensure_sandbox_people(tmp_path / "sign-in")
    admin = User.objects.get(username="admin")
    admin.set_password("chosen by the admin")
    admin.save()
    ensure_sandbox_people(tmp_path / "sign-in")
    assert sign_in("admin", "chosen by the admin") == admin


def test_a_new_password_is_made_when_the_file_is_gone(tmp_path):
    file = tmp_path / "sign-in"
    old = ensure_sandbox_people(file)
    file.unlink()
    new = ensure_sandbox_people(file)
    assert new != old
    assert sign_in("viewer", new)
