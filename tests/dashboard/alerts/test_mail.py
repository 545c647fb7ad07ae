"""Mail over real SMTP: what it says, in which thread it stands, and what becomes of it."""

from collections.abc import Iterator
from datetime import timedelta
from email.message import EmailMessage
from typing import Any

import pytest
from pytest_django import Settings

from dashboard.alerts import mail_server
from dashboard.alerts.delivery import deliver_due
from dashboard.alerts.mail_server import mail_carrier
from dashboard.alerts.models import Alert, Message
from dashboard.alerts.rendering import render
from dashboard.alerts.stopping import stop_url
from dashboard.connections.models import Connection
from tests.dashboard.alerts.mailbox import Mailbox, mailbox, rude_server
from tests.dashboard.alerts.week import MONDAY

pytestmark = pytest.mark.django_db
RANKS = {"critical": 0, "warning": 1, "info": 2}
HOSTILE = "<img onerror=x>\r\nBcc: everybody@evil.example\u202e"


@pytest.fixture(autouse=True)
def _deployment(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://levee.acme.example"
    settings.MAIL_FROM = "Levee <levee@acme.example>"


@pytest.fixture
def box() -> Iterator[Mailbox]:
    with mailbox() as found:
        yield found


def alert(**changes: Any) -> Alert:
    values = {
        "kind": "finding",
        "cause": "lost",
        "severity": "critical",
        "headline": "finance.ledger has lost the file of commit 88,214.",
        "meaning": "DynamoDB says the commit is complete; its file is not on S3.",
        "advice": "Restore the deleted object version.",
        "warning": "Do not delete the DynamoDB entry.",
        "facts": [["Table", "s3a://lake/finance/ledger"], ["S3 versioning", "enabled"]],
        "path": "/tables/9/",
        "link": "See the options for 88,214",
        "since": MONDAY,
        "opened_at": MONDAY,
        "told_at": MONDAY,
        "unattended_since": MONDAY,
        **changes,
    }
    return Alert.objects.create(rank=RANKS[values["severity"]], **values)


def message(about: Alert | None, reason: str = "opened", **changes: Any) -> Message:
    values = {
        "alert": about,
        "reason": reason,
        "number": "1",
        "channel": "mail",
        "address": "ops@acme.example",
        "created_at": MONDAY,
        "due_at": MONDAY,
        "message_id": f"m{Message.objects.count()}",
        **changes,
    }
    return Message.objects.create(**values)


def send(url: str, minutes: float = 41) -> Message:
    now = MONDAY + timedelta(minutes=minutes)
    deliver_due(now, {"mail": mail_carrier(url)}, render)
    return Message.objects.get()


def text_of(mail: EmailMessage) -> str:
    plain = mail.get_body(("plain",))
    assert plain is not None
    return str(plain.get_content()).replace("\r\n", "\n")


def test_a_mail_says_what_it_means_and_what_to_do_and_how_to_stop_it(box: Mailbox) -> None:
    message(alert(connection=Connection.objects.create(name="acme-prod", region="eu-west-1")))
    assert send(box.url).state == "sent"
    (mail,) = box.mails
    assert mail["Subject"] == "[Levee] Critical: finance.ledger has lost the file of commit 88,214."
    assert mail["List-Unsubscribe"].strip() == f"<{stop_url('ops@acme.example')}>"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    text = text_of(mail)
    for part in (
        "CRITICAL SINCE 08:00 UTC, 41 MIN. acme-prod, eu-west-1",
        "Table          s3a://lake/finance/ledger",
        "WHAT TO DO\nRestore the deleted object version.",
        "https://levee.acme.example/tables/9/",
        "WHAT NOT TO DO\nDo not delete the DynamoDB entry.",
    ):
        assert part in text
    html = mail.get_body(("html",)).get_content()
    assert 'href="https://levee.acme.example/tables/9/"' in html
    assert "See the options for 88,214" in html


def test_mails_of_one_alert_and_of_its_return_share_a_thread(box: Mailbox) -> None:
    first = alert(resolved_at=MONDAY)
    for about, reason in ((first, "opened"), (first, "resolved"), (alert(), "opened")):
        message(about, reason)
        deliver_due(MONDAY, {"mail": mail_carrier(box.url)}, render)
    (thread,) = {mail["References"] for mail in box.mails}
    assert thread.startswith("<cause-")
    assert len({mail["Message-ID"] for mail in box.mails}) == 3


def test_hostile_text_adds_no_header_and_no_markup(box: Mailbox) -> None:
    message(alert(headline=HOSTILE * 5, meaning=HOSTILE, facts=[[HOSTILE, HOSTILE]]))
    send(box.url)
    (mail,) = box.mails
    assert mail["Bcc"] is None
    assert "\u202e" not in mail["Subject"]
    assert len(mail["Subject"]) < 90
    assert "\nBcc:" not in text_of(mail)
    assert "<img" not in mail.get_body(("html",)).get_content()


@pytest.mark.parametrize(
    ("recipient", "data", "state"),
    [
        ("550 no such user", "", "failed"),
        ("451 come back later", "", "waiting"),
        ("", "554 spam", "failed"),
        ("", "452 disk full", "waiting"),
    ],
)
def test_a_refusal_is_final_when_the_server_says_so(box: Mailbox, recipient: str, data: str, state: str) -> None:
    box.answer_to_recipient, box.answer_to_data = recipient, data
    message(alert())
    sent = send(box.url)
    assert sent.state == state
    assert (recipient or data).partition(" ")[2] in sent.error


@pytest.mark.parametrize("address", ["not an address", "x\r\nBcc: y@z"])
def test_an_address_that_does_not_parse_is_given_up_with_a_sentence(box: Mailbox, address: str) -> None:
    message(alert(), address=address)
    sent = send(box.url)
    assert (sent.state, box.mails) == ("failed", [])
    assert sent.error.endswith("is not a mail address.")


def test_a_server_that_is_not_there_is_tried_again() -> None:
    message(alert())
    sent = send("smtp://127.0.0.1:1")
    assert sent.state == "waiting"
    assert "127.0.0.1:1 cannot be reached" in sent.error


GREETING = (b"220 hello\r\n", b"250 hello\r\n", b"250 ok\r\n", b"250 ok\r\n", b"354 go on\r\n")


@pytest.mark.parametrize("ending", [(), (b"",)], ids=["hangs up", "hangs"])
def test_a_server_that_takes_the_mail_and_says_nothing_leaves_it_unknown(
    monkeypatch: pytest.MonkeyPatch, ending: tuple[bytes, ...]
) -> None:
    monkeypatch.setattr(mail_server, "TIMEOUT_SECONDS", 0.5)
    with rude_server(*GREETING, *ending) as url:
        message(alert())
        sent = send(url)
    assert sent.state == "unknown"
    assert "The line broke before the server said that it had the mail" in sent.error


def test_a_rude_goodbye_does_not_send_twice() -> None:
    with rude_server(*GREETING, b"250 taken\r\n", b"500 what?\r\n") as url:
        message(alert())
        assert send(url).state == "sent"
