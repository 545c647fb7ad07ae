"""Webhooks: signed, to listed origins alone, never inside the deployment's own network."""

import json
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_django import Settings
from urllib3.util import connection

from dashboard.alerts import webhook
from dashboard.alerts.delivery import deliver_due
from dashboard.alerts.models import Message
from dashboard.alerts.rendering import render
from dashboard.alerts.webhook import SIGNATURE_HEADER, NotAllowedThere, check_url, signature
from tests.dashboard.alerts.test_mail import alert, message
from tests.dashboard.alerts.week import MONDAY
from tests.serving import serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver(settings: Settings) -> Iterator[SimpleNamespace]:
    """A server that answers `status` and `headers`, and keeps what is posted."""
    told = SimpleNamespace(status=200, headers={})
    with serving(lambda asked: (told.status, b"", told.headers)) as (told.origin, told.posts):
        settings.WEBHOOK_ORIGINS = [told.origin, "https://hooks.acme.example", "http://localhost:1"]
        settings.WEBHOOK_SECRET = "a secret"
        settings.PUBLIC_URL = "https://levee.acme.example"
        yield told


def send(url: str, channel: str = "webhook") -> Message:
    message(alert(headline="ledger <lost> & found"), channel=channel, address=url)
    carriers = {"webhook": webhook.carry_plain, "slack": webhook.carry_slack}
    deliver_due(MONDAY, carriers, render)
    return Message.objects.get()


def test_a_webhook_says_what_happened_and_proves_who_says_it(receiver: Any) -> None:
    sent = send(f"{receiver.origin}/hook?a=b")
    assert sent.state == "sent"
    [posted] = receiver.posts
    path, headers, body = posted.path, posted.headers, posted.body
    assert path == "/hook?a=b"
    document = json.loads(body)
    assert document["alert"]["headline"] == "ledger <lost> & found"
    assert document["alert"]["url"].startswith("https://levee.acme.example/alerts/")
    at = int(headers[SIGNATURE_HEADER].partition(",")[0].removeprefix("t="))
    assert headers[SIGNATURE_HEADER] == signature(body, at)
    assert headers["Levee-Message-Id"] == document["id"] == sent.message_id


def test_a_slack_compatible_one_says_it_as_text_without_markup(receiver: Any) -> None:
    send(f"{receiver.origin}/hook", channel="slack")
    text = json.loads(receiver.posts[0].body)["text"]
    assert text.startswith("*[Levee] Critical: ledger &lt;lost&gt; &amp; found*\n")


def test_a_signature_depends_on_time_body_and_secret(settings: Settings) -> None:
    settings.WEBHOOK_SECRET = "one"
    first = {signature(b"{}", 1), signature(b"{}", 2), signature(b"{ }", 1)}
    settings.WEBHOOK_SECRET = "two"
    assert len(first | {signature(b"{}", 1)}) == 4


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/x",
        "https://hooks.acme.example:8443/x",
        "https://hooks.acme.example@evil.example/x",
        "https://user:secret@hooks.acme.example/x",
        "file:///etc/passwd",
        "https://[::1/x",
    ],
)
def test_an_origin_that_is_not_listed_is_refused(receiver: Any, url: str) -> None:
    with pytest.raises(NotAllowedThere) as caught:
        check_url(url)
    assert "secret" not in str(caught.value)
    assert send(url).state == "failed"


def test_a_listed_name_that_resolves_inside_is_not_connected_to(receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which addresses are inside is tried in tests/security/test_requests_to_elsewhere.py."""
    addresses = ("93.184.216.34", "::ffff:10.0.0.1")
    answers = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: answers)
    monkeypatch.setattr(connection, "create_connection", lambda *args, **more: pytest.fail("it connected"))
    sent = send("https://hooks.acme.example/x")
    assert sent.state == "waiting"
    assert "an address inside a private network" in sent.error


def test_it_connects_to_the_address_that_was_checked(receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def connect(place: tuple[str, int], *args: Any, **more: Any) -> Any:
        asked.append(place)
        raise OSError("far away")

    answers = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: answers)
    monkeypatch.setattr(connection, "create_connection", connect)
    send("https://hooks.acme.example/x")
    assert asked == [("93.184.216.34", 443)]


def test_a_redirect_is_not_followed(receiver: Any) -> None:
    receiver.status, receiver.headers = 302, {"Location": f"{receiver.origin}/inside"}
    sent = send(f"{receiver.origin}/hook")
    assert (sent.state, sent.error) == ("failed", "127.0.0.1 answered 302.")
    assert [posted.path for posted in receiver.posts] == ["/hook"]


@pytest.mark.parametrize(("status", "state"), [(204, "sent"), (500, "waiting"), (429, "waiting"), (410, "failed")])
def test_the_answer_decides_what_becomes_of_it(receiver: Any, status: int, state: str) -> None:
    receiver.status = status
    assert send(f"{receiver.origin}/hook").state == state


def test_nobody_listening_is_tried_again(receiver: Any) -> None:
    assert send("http://localhost:1/x").state == "waiting"


def test_a_receiver_that_hangs_leaves_it_unknown(
    receiver: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "TIMEOUT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.WEBHOOK_ORIGINS = [f"http://127.0.0.1:{silent.getsockname()[1]}"]
        assert send(f"{settings.WEBHOOK_ORIGINS[0]}/x").state == "unknown"
