"""People, as an admin manages them on pages."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client

from dashboard.accounts.access import role_of
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import NotAllowed, require
from dashboard.accounts.models import Grant
from dashboard.accounts.people import PersonChange, change_person
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from tests.builders.lake import make_connection
from tests.builders.people import PASSWORD, actor, person, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("constraints")]


def save(pk: int, **fields: Any) -> Any:
    return signed_in().post(f"/people/{pk}/", {"role": "", "is_active": "on", **fields})


def sign_in(name: str, password: str) -> int:
    return Client().post("/login/", {"username": name, "password": password}).status_code


def test_a_new_person_signs_in_by_a_link_that_works_once() -> None:
    admin = signed_in()
    admin.post("/people/new/", {"name": "sam", "role": "operator", "email": "sam@acme.example"})
    sam = User.objects.get(username="sam")
    page = admin.post(f"/people/{sam.pk}/link/").content.decode()
    link = re.search(r"http://testserver(/welcome/[^<]+)<", page)
    assert link
    new = "sams own long password"
    stranger = Client()
    form = stranger.get(link[1], follow=True)
    stranger.post(form.request["PATH_INFO"], {"new_password1": new, "new_password2": new})
    assert sign_in("sam", new) == 302
    assert "no longer works" in Client().get(link[1], follow=True).content.decode()
    assert (role_of(sam), sam.email) == (Role.OPERATOR, "sam@acme.example")


def test_nobody_signs_in_before_a_password_is_set() -> None:
    signed_in().post("/people/new/", {"name": "sam", "role": "viewer"})
    assert sign_in("sam", "") == 200


def test_a_name_is_taken_once_whatever_its_case() -> None:
    person(Role.VIEWER)
    response = signed_in().post("/people/new/", {"name": "Viewer", "role": "viewer"})
    assert "is there already" in response.content.decode()


@pytest.mark.parametrize("name", ["command", "Schedule", "a b<script>", ""])
def test_a_name_that_will_not_do_is_refused(name: str) -> None:
    assert signed_in().post("/people/new/", {"name": name, "role": "viewer"}).status_code == 400
    assert User.objects.count() == 1


def test_a_change_of_role_is_audited_before_and_after() -> None:
    viewer = person(Role.VIEWER)
    save(viewer.pk, role="operator")
    entry = AuditEntry.objects.get(action="people.manage")
    assert (entry.before["role"], entry.after["role"]) == ("viewer", "operator")


def test_who_may_no_longer_sign_in_is_out_at_once() -> None:
    viewer = person(Role.VIEWER)
    theirs = Client()
    theirs.force_login(viewer)
    theirs.get("/me/")
    save(viewer.pk, role="viewer", is_active="")
    assert theirs.get("/me/").status_code == 302
    assert sign_in("viewer", PASSWORD) == 200


@pytest.mark.parametrize(
    "change", [PersonChange(role=Role.VIEWER), PersonChange(is_active=False), PersonChange(clears_role=True)]
)
def test_the_last_admin_stays(change: PersonChange) -> None:
    admin = person(Role.ADMIN)
    with pytest.raises(ValidationError, match="is the only admin"):
        change_person(actor(Role.ADMIN), admin.username, change)
    assert role_of(User.objects.get(pk=admin.pk)) is Role.ADMIN


def test_a_grant_counts_on_its_connection_only() -> None:
    prod, lab = make_connection("prod"), make_connection("lab")
    user = person(Role.VIEWER)
    save(user.pk, role="viewer", **{f"on_{lab.pk}": "operator"})
    somebody = Actor(name="viewer", source="page", user=user)
    require(somebody, "table.repair", connection=lab)
    for elsewhere in (prod, None):
        with pytest.raises(NotAllowed):
            require(somebody, "table.repair", connection=elsewhere)


def test_the_higher_of_two_roles_counts() -> None:
    lab, user = make_connection("lab"), person(Role.OPERATOR)
    Grant.objects.create(user=user, connection=lab, role="viewer")
    assert Actor(name="operator", source="page", user=user).role_on(lab) is Role.OPERATOR
