"""Much trouble at once is one mail a person, and nothing that was to be told is lost on the way."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from dashboard.alerts.delivery import CLAIM_LASTS, GIVES_UP_AFTER, NotSent, deliver_due
from dashboard.alerts.models import Alert, Message, Recipient
from dashboard.alerts.rendering import render
from dashboard.connections.models import Connection
from tests.dashboard.alerts.test_mail import alert, message
from tests.dashboard.alerts.week import MONDAY, World, address, problem, rule

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("locks")]
MINUTE = timedelta(minutes=1)


class Server:
    """A mail server that keeps what it takes, and can be down."""

    def __init__(self) -> None:
        self.mails: list[Message] = []
        self.is_down = False

    def __call__(self, mail: Message, handed_over: Callable[[], None]) -> None:
        if self.is_down:
            raise NotSent("down")
        handed_over()
        self.mails.append(mail)

    def send(self, minutes: float = 0) -> None:
        deliver_due(MONDAY + minutes * MINUTE, {"mail": self, "webhook": self}, render)


@pytest.fixture
def server() -> Server:
    return Server()


def named(*names: str, **changes: Any) -> list[Alert]:
    return [alert(cause=name, title=f"Title {name}", headline=f"Sentence {name}.", **changes) for name in names]


def test_what_is_due_to_one_address_is_one_mail_worst_first(server: Server) -> None:
    for about in (*named("mild", severity="warning"), *named("grave", next_step="Publish commit 4.")):
        message(about)
    server.send()
    (mail,) = server.mails
    assert mail.subject == "[Levee] Critical: 2 alerts, first: Title grave"
    parts = ("Sentence grave.", "NEXT: Publish commit 4.", "Sentence mild.")
    assert sorted(parts, key=mail.text.index) == list(parts)
    assert "Title mild" in mail.html
    assert set(Message.objects.values_list("state", "subject")) == {("sent", mail.subject)}


def test_other_addresses_and_webhooks_get_their_own(server: Server) -> None:
    (about,) = named("one")
    for place in (
        {"address": "a@acme.example"},
        {"address": "b@acme.example"},
        {"channel": "webhook", "address": "https://w"},
    ):
        message(about, **place)
        message(*named(str(place)), **place)
    server.send()
    assert sorted((mail.channel, mail.address) for mail in server.mails) == [
        ("mail", "a@acme.example"), ("mail", "b@acme.example"), ("webhook", "https://w"), ("webhook", "https://w"),
    ]  # fmt: skip


def test_a_mail_that_fails_is_tried_again_later_with_all_that_is_due_by_then(server: Server) -> None:
    server.is_down = True
    for about in named("first", "second"):
        message(about)
    server.send()
    assert set(Message.objects.values_list("attempts", flat=True)) == {1}
    message(*named("third"), due_at=MONDAY - MINUTE)
    server.is_down = False
    server.send(minutes=30)
    (mail,) = server.mails
    assert all(f"Sentence {name}." in mail.text for name in ("first", "second", "third"))


def test_a_mail_that_is_given_up_leaves_their_own_time_to_the_younger_ones_in_it(server: Server) -> None:
    server.is_down = True
    (old, young) = named("old", "young")
    message(old)
    server.send()
    message(young, created_at=MONDAY + GIVES_UP_AFTER, due_at=MONDAY + GIVES_UP_AFTER)
    server.send(minutes=GIVES_UP_AFTER / MINUTE + 1)
    assert Message.objects.get(alert=old).state == "failed"
    server.is_down = False
    server.send(minutes=GIVES_UP_AFTER / MINUTE + 10)
    (mail,) = server.mails
    assert "Sentence young." in mail.text


def test_an_address_that_nobody_has_gives_up_all_that_was_for_it_and_is_shown() -> None:
    def refuse(mail: Message, handed_over: Callable[[], None]) -> None:
        raise NotSent("550 no such user", is_final=True)

    recipient = address()
    for about in named("first", "second"):
        message(about, recipient=recipient)
    deliver_due(MONDAY, {"mail": refuse}, render)
    assert set(Message.objects.values_list("state", "error")) == {("failed", "550 no such user")}
    assert Recipient.objects.get().last_error == "550 no such user"


def test_a_process_that_dies_with_a_mail_loses_none_of_it(server: Server) -> None:
    def die(mail: Message, handed_over: Callable[[], None]) -> None:
        raise KeyboardInterrupt

    for about in named("first", "second"):
        message(about)
    with pytest.raises(KeyboardInterrupt):
        deliver_due(MONDAY, {"mail": die}, render)
    server.send(minutes=CLAIM_LASTS / MINUTE + 1)
    (mail,) = server.mails
    assert all(f"Sentence {name}." in mail.text for name in ("first", "second"))


def test_the_first_look_at_a_lake_is_one_mail(lake: World) -> None:
    rule().recipients.add(address())
    lab = Connection.objects.create(name="lab", region="eu-west-1")
    Connection.objects.update(created_at=MONDAY)
    for n in range(8):
        lake.problems.append(problem(f"t{n}", cause=f"c{n}", connection=lab.pk))
        lake.tick()
    lake.problems[0] = problem("t0", cause="c0", connection=lab.pk, severity="critical")
    lake.tick()
    assert lake.received == []
    lake.run(MONDAY + timedelta(hours=1))
    assert len(lake.received) == 1
    assert Message.objects.filter(state="sent").count() == 9
