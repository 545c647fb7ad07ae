"""Secrets are planted, everything is done with them, and then looked for wherever Levee writes."""

import io
import logging
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from dashboard.accounts.actor import Actor
from dashboard.accounts.models import SignedIn
from dashboard.accounts.people import PersonChange, change_person
from dashboard.accounts.roles import Role
from dashboard.accounts.sessions import SessionStore
from dashboard.alerts import own_health, webhook
from dashboard.alerts.delivery import deliver_due
from dashboard.alerts.mail_server import mail_carrier
from dashboard.alerts.models import Message, Recipient
from dashboard.alerts.rendering import render
from dashboard.connections.models import Connection
from dashboard.jobs.actions import run_in_foreground
from dashboard.jobs.models import Job
from tests.builders.people import signed_in
from tests.dashboard.alerts.mailbox import rude_server
from tests.dashboard.alerts.test_mail import alert, message
from tests.dashboard.test_addresses import routes
from tests.security.table import RULES, Least
from tests.security.visits import Visitor
from tests.security.world import World
from tests.serving import Came, Given, serving

pytestmark = pytest.mark.django_db

DEAD_MAN, CHANNEL = "the dead man's URL", "the way into a channel"
SECRETS = {
    "the password": "correct-horse-battery-1",
    "the new password": "correct-horse-battery-2",
    "a wrong password": "correct-horse-battery-3",
    "the AWS secret key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYPLANTED",
    "the AWS session token": "FwoGZXIvYXdzEPLANTEDTOKEN",
    "the webhook secret": "hush-hush-webhook-PLANTED",
    "the mail password": "hush-hush-mail-PLANTED",
    CHANNEL: "T000/B000/PLANTEDPLANTED",
    DEAD_MAN: "9d0b-PLANTED-ping",
    "the secret key": "secret-key-PLANTED-secret-key-PLANTED-secret-key-PLANTED-01",
}


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Everything that any logger says, at every level, with tracebacks."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(logging.Formatter("%(name)s %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    level, root.level = root.level, logging.DEBUG
    yield text
    root.level = level
    root.removeHandler(handler)


def echo(asked: Came) -> Given:
    """An endpoint that refuses everything and repeats in its answer what it was sent."""
    told = "".join(f"<Header>{name}: {value}</Header>" for name, value in asked.headers.items())
    token = asked.headers.get("X-Amz-Security-Token", "")
    refusal = "<Code>InvalidToken</Code><Message>The provided token is malformed.</Message>"
    return 400, f"<Error>{refusal}<Token-0>{token}</Token-0>{told}</Error>".encode(), {}


def test_no_secret_is_anywhere(
    settings: Settings,
    logged: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serving(echo) as (endpoint, _):
        configure(settings, monkeypatch, endpoint)
        keys = sign_in_and_out()
        observe(endpoint)
        tell(endpoint)
        said = [every_page(World()), commands(capsys), a_fault()]
    places = {"pages and commands": "\n".join(said), "the log": logged.getvalue(), "the database": everything_stored()}
    assert "InvalidToken" in places["the database"]
    looked_for = SECRETS | {f"session {number}": key for number, key in enumerate(keys)}
    found = [(name, place) for name, secret in looked_for.items() for place, text in places.items() if secret in text]
    # A webhook's URL has to be kept to be called; nobody is shown more of it than its origin.
    assert found == [(CHANNEL, "the database")]


def configure(settings: Settings, monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    settings.SECRET_KEY = SECRETS["the secret key"]
    settings.WEBHOOK_SECRET = SECRETS["the webhook secret"]
    settings.WEBHOOK_ORIGINS = [endpoint]
    settings.ALLOWED_ENDPOINTS = [endpoint]
    settings.DEAD_MAN_URL = f"{endpoint}/{SECRETS[DEAD_MAN]}"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRETS["the AWS secret key"])
    monkeypatch.setenv("AWS_SESSION_TOKEN", SECRETS["the AWS session token"])


def sign_in_and_out() -> list[str]:
    """Fail, sign in, prove it again and sign out; returns the keys of the sessions."""
    change_person(Actor.command(), "dana", PersonChange(role=Role.ADMIN), password=SECRETS["the password"])
    client = Client()
    client.post("/login/", {"username": "dana", "password": SECRETS["a wrong password"]})
    client.post("/login/", {"username": SECRETS["a wrong password"][:8], "password": SECRETS["a wrong password"]})
    assert client.post("/login/", {"username": "dana", "password": SECRETS["the password"]}).status_code == 302
    keys = [str(client.session.session_key)]
    client.post("/prove/", {"password": SECRETS["a wrong password"]})
    client.post("/prove/", {"password": SECRETS["the password"]})
    old, new = SECRETS["the password"], SECRETS["the new password"]
    changed = client.post("/me/password/", {"old_password": old, "new_password1": new, "new_password2": new})
    assert changed.status_code == 302
    client.get("/me/")
    return [*keys, str(client.session.session_key)]


def observe(endpoint: str) -> None:
    """Let AWS refuse with all it was sent, in the foreground and with its outcome stored."""
    made = Connection.objects.create(name="echo", region="eu-west-1", endpoint_url=endpoint)
    for kind, params in (("observe-table", {"uri": "s3a://lake/orders"}), ("check-permissions", {})):
        run_in_foreground(Actor.command(), kind, "Look", connection=made, params=params)


def tell(endpoint: str) -> None:
    """Send by a mail server that refuses the password, by a webhook that is refused, and call the dead man's URL."""
    url = f"{endpoint}/services/{SECRETS[CHANNEL]}?x={SECRETS[CHANNEL]}"
    added = signed_in().post(
        "/alerts/recipients/", {"name": "room", "kind": "slack", "address": url, "digest": "never"}
    )
    assert added.status_code == 302
    room = Recipient.objects.get(name="room")
    signed_in().post(f"/alerts/recipients/{room.pk}/test/")
    message(alert(headline="A table is lost."), channel="webhook", address=url, recipient=room)
    message(alert(cause="other"), channel="mail")
    refusing = (b"220 hello\r\n", b"250-hello\r\n250 AUTH PLAIN LOGIN\r\n", b"535 no\r\n", b"535 no\r\n")
    with rude_server(*refusing) as server:
        mail = mail_carrier(server.replace("//", f"//levee:{SECRETS['the mail password']}@"))
        carriers = {"mail": mail, "webhook": webhook.carry_plain, "slack": webhook.carry_slack}
        deliver_due(timezone.now(), carriers, render)
    assert not own_health._call(settings.DEAD_MAN_URL)


def every_page(world: World) -> str:
    visitor = Visitor(Role.ADMIN)
    opened = [name for name, _ in routes() if RULES[name].see is not Least.NOBODY]
    pages = [visitor.visit("get", world.path(name)).text for name in opened]
    more = ["/alerts/messages/?size=200", "/audit/?format=csv", "/audit/?format=jsonl", "/jobs/", "/connections/"]
    pages += [visitor.visit("get", path).text for path in more]
    pages += [visitor.visit("get", f"/jobs/{job.pk}/").text for job in Job.objects.all()]
    pages += [visitor.visit("get", f"/alerts/messages/{sent.pk}/").text for sent in Message.objects.all()]
    return "\n".join(pages)


def commands(capsys: pytest.CaptureFixture[str]) -> str:
    for words in (["export"], ["jobs"], ["alerts"], ["audit"], ["person", "dana", "--role", "admin"]):
        call_command(*words, "--json")
    said = capsys.readouterr()
    return said.out + said.err


def a_fault() -> str:
    """The page of a fault, while the settings, the session and the form hold all of it."""
    client = Client(raise_request_exception=False)
    form = {"username": "dana", "password": SECRETS["the password"]}
    with patch("dashboard.accounts.forms.SignInForm.clean", side_effect=RuntimeError("on purpose")):
        response = client.post("/login/", form)
    assert response.status_code == 500
    return response.content.decode()


def everything_stored() -> str:
    """Every value of every table, as text."""
    rows: list[str] = []
    for table in connection.introspection.table_names():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - names of our own tables
            rows += [f"{table} {value}" for row in cursor.fetchall() for value in row]
    sessions = [str(SessionStore().decode(row.session_data)) for row in SignedIn.objects.all()]
    return "\n".join([*rows, *sessions])
