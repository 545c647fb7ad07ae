"""The pages of alerts: who may see and do what, and what bad input is answered with."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dashboard.accounts.roles import Role
from dashboard.alerts.models import Alert, Message, Recipient, Rule
from dashboard.audit.models import AuditEntry
from tests.builders.people import person, signed_in
from tests.dashboard.alerts.test_mail import alert, message
from tests.dashboard.alerts.week import MONDAY, address

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]

RULE = {"threshold": "10", "least_severity": "warning", "is_enabled": "on", "remind_hours": "4", "escalate_hours": "0"}


def page(path: str, role: Role = Role.VIEWER) -> str:
    response = signed_in(role).get(path)
    assert response.status_code == 200
    return response.content.decode()


def default_rule() -> Rule:
    return Rule.objects.get(kind="worker-silent")


def test_the_list_is_worst_first_then_longest_open() -> None:
    alert(cause="a", severity="warning", title="A warning")
    alert(cause="b", title="Of today")
    alert(cause="c", title="Of yesterday", since=MONDAY - timedelta(days=1))
    text = page("/alerts/")
    assert text.index("Of yesterday") < text.index("Of today") < text.index("A warning")


@pytest.mark.parametrize(
    ("query", "found"),
    [("q=ORDERS", "a"), ("q=c7", "a"), ("q=pending", "b"), ("severity=warning", "b"), ("kind=job-failed", "b"),
     ("severity=nonsense", "ab"), ("q=%00", "ab"), ("kind=nonsense", "ab")],
)  # fmt: skip
def test_the_list_is_searched_and_filtered(query: str, found: str) -> None:
    first = alert(cause="a", title="Named a.", code="C7")
    first.members.create(key="1", severity="critical", headline="sales.orders: Commit 7 is gone.", since=MONDAY)
    alert(cause="b", title="Named b.", headline="A commit is pending.", severity="warning", kind="job-failed")
    text = page(f"/alerts/?{query}")
    assert [one for one in "ab" if f"Named {one}." in text] == list(found)


def test_an_alert_that_nobody_has_taken_up_is_active_and_each_of_its_problems_has_a_button() -> None:
    found = alert(count=2, path="")
    for key in "ab":
        found.members.create(
            key=key, severity="critical", headline=f"Table {key}.", since=MONDAY, path=f"/tables/{key}/"
        )
    listed, shown = page("/alerts/"), page(f"/alerts/{found.pk}/")
    assert re.findall(r"(\w+) <span\s+class=.dim.>\d+</span>", listed) == ["Active", "Acknowledged", "Resolved"]
    assert not re.search(r">\s*Open\s*<", listed + shown)
    assert re.findall(r'class="button" href="(/tables/./)"', shown) == ["/tables/a/", "/tables/b/"]


def test_a_message_is_listed_under_a_short_title_with_the_whole_in_its_tooltip() -> None:
    said = f"The bucket lake: {'a rule deletes logs, ' * 9}soon."
    message(alert(headline=said), subject=said)
    message(alert(cause="b", headline=said))
    titles = re.findall(rf'<bdi\s+title="{said}">([^<]+)</bdi>', page("/alerts/messages/"))
    assert [len(title) < 110 for title in titles] == [True, True]


def test_a_headline_that_is_one_of_the_problems_stands_once() -> None:
    found = alert(title="A file is gone", headline="orders: Commit 7 is gone.")
    for key, gone_at in (("1", None), ("2", MONDAY)):
        found.members.create(key=key, severity="critical", headline=found.headline, since=MONDAY, gone_at=gone_at)
    assert page(f"/alerts/{found.pk}/").count(found.headline) == 1


def acknowledge_all(role: Role, *found: Alert, **fields: str) -> Any:
    given = {"alert": [one.pk for one in found], "reason": "We know.", "hours": "4", **fields}
    return signed_in(role).post("/alerts/acknowledge/", given)


def test_several_are_acknowledged_with_one_reason() -> None:
    first, second, over = alert(cause="a"), alert(cause="b"), alert(cause="c", state="resolved", resolved_at=MONDAY)
    assert acknowledge_all(Role.OPERATOR, first, second, over).status_code == 302
    states = Alert.objects.order_by("cause").values_list("state", flat=True)
    assert list(states) == ["acknowledged", "acknowledged", "resolved"]
    assert AuditEntry.objects.filter(action="alert.acknowledge", outcome="done").count() == 2


def acknowledge(role: Role, found: Alert, **fields: Any) -> Any:
    return signed_in(role).post(f"/alerts/{found.pk}/", {"reason": "We know.", "hours": "4", **fields})


def test_an_operator_acknowledges_with_a_reason_and_an_end() -> None:
    found = alert()
    assert acknowledge(Role.OPERATOR, found).status_code == 302
    found.refresh_from_db()
    assert (found.state, found.acknowledged_by, found.reason) == ("acknowledged", "operator", "We know.")
    assert found.acknowledged_until is not None
    assert timedelta(hours=3) < found.acknowledged_until - timezone.now() <= timedelta(hours=4)
    assert AuditEntry.objects.get(action="alert.acknowledge").after["reason"] == "We know."


@pytest.mark.parametrize("fields", [{"reason": ""}, {"hours": "0"}])
def test_an_acknowledgement_without_reason_or_end_is_refused(fields: dict[str, str]) -> None:
    assert acknowledge(Role.OPERATOR, alert(), **fields).status_code == 400
    assert Alert.objects.get().state == "open"


def test_what_is_over_is_not_acknowledged() -> None:
    found = alert(state="resolved", resolved_at=MONDAY)
    assert "This alert is over" in acknowledge(Role.OPERATOR, found).content.decode()


def test_an_acknowledgement_is_taken_back() -> None:
    found = alert(state="acknowledged", acknowledged_until=timezone.now())
    signed_in(Role.OPERATOR).post(f"/alerts/{found.pk}/reopen/")
    assert Alert.objects.get().state == "open"


def save_rule(role: Role = Role.ADMIN, **fields: Any) -> Any:
    return signed_in(role).post(f"/alerts/rules/{default_rule().pk}/", {**RULE, **fields})


def test_an_admin_changes_a_rule_and_it_is_audited() -> None:
    ops = address()
    assert save_rule(threshold="7", quiet_from="20:00", quiet_until="07:00", recipients=[ops.pk]).status_code == 302
    rule = default_rule()
    assert (rule.threshold, rule.quiet_from.hour, list(rule.recipients.all())) == (7, 20, [ops])
    entry = AuditEntry.objects.get(action="alert.manage")
    assert (entry.before["threshold"], entry.after["threshold"]) == (3, 7)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"threshold": "0"}, "0 makes no sense here: write 1 to 1,440 minutes."),
        ({"quiet_from": "20:00"}, "give both or neither"),
        ({"escalate_hours": "4"}, "Choose who is notified"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_with_its_reason(fields: dict[str, str], sentence: str) -> None:
    response = save_rule(**fields)
    assert response.status_code == 400
    assert sentence in response.content.decode()
    assert default_rule().threshold == 3


def test_a_narrower_rule_says_where_it_holds() -> None:
    client = signed_in()
    values = {**RULE, "name": "Finance"}
    assert "Say where it holds" in client.post("/alerts/rules/new/worker-silent/", values).content.decode()
    assert client.post("/alerts/rules/new/worker-silent/", {**values, "prefix": "s3a://lake/f/"}).status_code == 302
    assert Rule.objects.get(name="Finance").prefix == "s3a://lake/f/"


def test_the_rule_of_day_one_is_switched_off_and_not_removed() -> None:
    signed_in().post(f"/alerts/rules/{default_rule().pk}/delete/")
    assert default_rule()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"kind": "address", "address": "ops at acme"}, "This is no mail address"),
        ({"kind": "webhook", "address": "https://evil.example/"}, "is not among the origins"),
        ({"kind": "person"}, "Say which person."),
    ],
)
def test_a_recipient_that_cannot_be_told_is_refused(fields: dict[str, str], sentence: str) -> None:
    response = signed_in().post("/alerts/recipients/", {"name": "x", **fields})
    assert response.status_code == 400
    assert sentence in response.content.decode()
    assert not Recipient.objects.exists()


def test_a_recipient_is_added_tested_and_removed() -> None:
    client = signed_in()
    client.post("/alerts/recipients/", {"name": "Ops", "kind": "address", "address": "ops@acme.example"})
    ops = Recipient.objects.get()
    client.post(f"/alerts/recipients/{ops.pk}/test/")
    assert (Message.objects.get().reason, Message.objects.get().address) == ("test", "ops@acme.example")
    client.post(f"/alerts/recipients/{ops.pk}/delete/")
    assert not Recipient.objects.exists()


@pytest.mark.parametrize(("state", "after"), [("failed", "waiting"), ("unknown", "waiting"), ("sent", "sent")])
def test_only_what_was_given_up_or_is_unknown_is_sent_again(state: str, after: str) -> None:
    sent = message(alert(), state=state)
    signed_in().post(f"/alerts/messages/{sent.pk}/again/")
    assert Message.objects.get().state == after


def test_a_person_stops_their_own_mails() -> None:
    client = signed_in(Role.OPERATOR)
    client.post("/me/alerts/", {})
    assert Recipient.objects.get(user=person(Role.OPERATOR)).is_stopped
    client.post("/me/alerts/", {"mails": "on"})
    assert not Recipient.objects.get(user=person(Role.OPERATOR)).is_stopped


def test_a_person_without_an_address_cannot_be_tested() -> None:
    user = person(Role.OPERATOR)
    who = Recipient.objects.create(name="op", kind="person", user=user)
    response = signed_in().post(f"/alerts/recipients/{who.pk}/test/", follow=True)
    assert "has no address" in response.content.decode()


def test_none_is_acknowledged_without_a_selection() -> None:
    assert acknowledge_all(Role.OPERATOR, alert(title="Named."), alert="x").status_code == 400
    assert Alert.objects.get().state == "open"
