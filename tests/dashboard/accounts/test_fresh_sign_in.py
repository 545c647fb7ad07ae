"""What can lose data asks for the password again, unless it has just been typed."""

from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import FreshSignInNeeded, require
from dashboard.accounts.roles import FRESH_FOR, NEEDS_FRESH_SIGN_IN, PERMISSIONS, Role
from dashboard.audit.models import AuditEntry
from tests.builders.lake import make_connection
from tests.builders.people import PASSWORD, person, signed_in

pytestmark = pytest.mark.django_db

LONG_AGO = FRESH_FOR + timedelta(seconds=1)


def add_sam(client: Client, **headers: str) -> Any:
    return client.post("/people/new/", {"name": "sam", "role": "viewer"}, headers=headers)


def stale() -> Client:
    return signed_in(proved_at=timezone.now() - LONG_AGO)


def test_such_verbs_refuse_who_signed_in_long_ago_and_the_others_do_not() -> None:
    maya = Actor(name="maya", source="page", user=person(), proved_at=timezone.now() - LONG_AGO)
    for verb in PERMISSIONS:
        with pytest.raises(FreshSignInNeeded) if verb in NEEDS_FRESH_SIGN_IN else nullcontext():
            require(maya, verb)


def test_the_command_line_and_the_schedule_need_none() -> None:
    for actor in (Actor.command(), Actor.schedule()):
        require(actor, "people.manage")
        assert actor.is_fresh


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


def test_the_password_opens_the_way() -> None:
    client = stale()
    proved = client.post("/prove/", {"password": PASSWORD, "next": "/people/new/"})
    assert proved["Location"] == "/people/new/"
    assert add_sam(client).status_code == 302
    assert User.objects.filter(username="sam").exists()


def test_a_wrong_password_opens_nothing_and_is_audited() -> None:
    client = stale()
    refused = client.post("/prove/", {"password": "wrong", "next": "/people/new/"})
    assert refused.status_code == 400
    assert "That is not your password." in refused.content.decode()
    assert AuditEntry.objects.get(action="account.prove").outcome == "refused"
    assert add_sam(client).status_code == 302
    assert not User.objects.filter(username="sam").exists()
