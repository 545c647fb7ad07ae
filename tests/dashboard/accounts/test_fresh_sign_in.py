"""What can lose data asks for the password again, unless it has just been typed."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.accounts.roles import FRESH_FOR, Role
from tests.builders.lake import make_connection
from tests.builders.people import PASSWORD, signed_in

pytestmark = pytest.mark.django_db

LONG_AGO = FRESH_FOR + timedelta(seconds=1)


def stale() -> Client:
    return signed_in(proved_at=timezone.now() - LONG_AGO)


def test_who_may_not_is_told_so_before_being_asked_for_a_password() -> None:
    response = signed_in(Role.VIEWER, proved_at=timezone.now() - LONG_AGO).post("/people/new/", {"name": "sam"})
    assert response.status_code == 403


@pytest.mark.parametrize(("is_read_only", "asked"), [(True, True), (False, False)])
def test_taking_read_only_off_needs_the_password_and_putting_it_on_does_not(is_read_only: bool, asked: bool) -> None:
    connection = make_connection("lake", read_only=is_read_only)
    wanted = {"read_only": "" if is_read_only else "yes"}
    response = stale().post(f"/connections/{connection.pk}/read-only/", wanted)
    assert response["Location"].startswith("/prove/") is asked
    connection.refresh_from_db()
    assert connection.read_only is True


def test_a_wrong_password_opens_nothing_and_the_right_one_the_way() -> None:
    client = stale()
    for password, status, is_added in (("wrong", 400, False), (PASSWORD, 302, True)):
        proved = client.post("/prove/", {"password": password, "next": "/people/new/"})
        client.post("/people/new/", {"name": "sam", "role": "viewer"})
        assert (proved.status_code, User.objects.filter(username="sam").exists()) == (status, is_added)
    assert proved["Location"] == "/people/new/"
