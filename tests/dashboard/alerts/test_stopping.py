"""Stopping mails by the link in a mail."""

from urllib.parse import urlsplit

import pytest
from django.test import Client

from dashboard.accounts.roles import Role
from dashboard.alerts.models import Recipient
from dashboard.alerts.stopping import stop_url
from dashboard.audit.models import AuditEntry
from tests.builders.people import person
from tests.dashboard.alerts.week import address

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("locks")]


@pytest.fixture(autouse=True)
def _public_url(settings):
    settings.PUBLIC_URL = "https://levee.acme.example"


def path(of: str) -> str:
    return urlsplit(stop_url(of)).path


def test_one_click_of_a_mail_program_stops_an_address() -> None:
    ops, other = address("ops"), address("other")
    client = Client(enforce_csrf_checks=True)
    answer = client.post(path("ops@acme.example"), {"List-Unsubscribe": "One-Click"})
    assert answer.status_code == 200
    ops.refresh_from_db()
    other.refresh_from_db()
    assert (ops.is_stopped, other.is_stopped) == (True, False)
    assert AuditEntry.objects.get(action="account.mails").target_label == "ops@acme.example"


def test_it_stops_a_person_whom_no_rule_names() -> None:
    user = person(Role.OPERATOR)
    user.email = "Op@acme.example"
    user.save()
    Client().post(path("op@acme.example"))
    assert Recipient.objects.get(user=user).is_stopped


def test_opening_the_link_stops_nothing() -> None:
    ops = address("ops")
    assert "Stop these mails?" in Client().get(path("ops@acme.example")).content.decode()
    ops.refresh_from_db()
    assert not ops.is_stopped


@pytest.mark.parametrize("token", ["Im9wcyI:forged", "%00"])
def test_a_link_that_somebody_made_up_stops_nothing(token: str) -> None:
    ops = address("ops")
    assert Client().post(f"/alerts/stop/{token}/").status_code == 404
    ops.refresh_from_db()
    assert not ops.is_stopped
