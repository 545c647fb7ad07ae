"""Deadlines: what is kept of the sources, the page, the digest and the command."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from dashboard.alerts.digest import digest_of
from dashboard.deadlines import judging
from dashboard.deadlines.models import Due
from dashboard.deadlines.queries import MOST_COUNTED, DueJson, due_soon
from tests.builders.lake import make_connection
from tests.builders.people import person, signed_in, signed_in_as
from tests.json_types import missing, printed, said

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HOSTILE = "a;b,c\\d\r\nATTENDEE:mailto:x@example.com"


def a_due(key, after=HOUR, **fields):
    at = None if after is None else timezone.now() + after
    values = {"kind": "entry", "state": "blocked", "at": at, "happens": f"{key} ends", "lost": "Rows."}
    return Due(key=key, **values | {"stops": "Publish it.", "subject": "sales.orders"} | fields)


@pytest.fixture
def judged(monkeypatch):
    """Judges by sources that tell these rows."""
    found = {}
    monkeypatch.setattr(judging, "_sources", found)
    monkeypatch.setattr(judging.in_modules, "load", lambda: None)

    def judged_by(now=None, **sources):
        found.update({name: (name, source) for name, source in sources.items()})
        judging.judge(now or timezone.now())
        return set(Due.objects.values_list("key", flat=True))

    return judged_by


def test_the_soonest_are_kept_as_they_are_told_now_and_what_is_left_out_is_said(judged, monkeypatch):
    assert judged(one=lambda now: [a_due("a"), a_due("far", 91 * DAY), a_due("?", None)]) == {"a", "?"}
    assert judged(one=lambda now: [a_due("b")]) == {"b"}
    assert judged(one=lambda now: 1 / 0, two=lambda now: [a_due("c")]) == {"b", "unknown:one", "c"}
    monkeypatch.setattr(judging, "MOST", 2)
    told = [a_due("g", 3 * HOUR), a_due("f", 2 * HOUR), a_due("?", None), a_due("e")]
    assert judged(one=lambda now: told, two=lambda now: []) == {"?", "e", "unknown:one"}


def test_the_page_says_when_nothing_was_judged_and_until_when_nothing_is_due(judged):
    client = signed_in(Role.VIEWER)
    assert "no worker has judged deadlines yet" in client.get("/deadlines/").text
    judged(datetime(2026, 11, 22, 7, 16, tzinfo=UTC), one=lambda now: [])
    assert "No deadline is known up to 20 February 2027" in client.get("/deadlines/").text


def test_the_page_lists_the_soonest_first_by_day_words_and_kind():
    a_due("later", 40 * DAY, state="attention").save()
    a_due("sooner", 26 * HOUR, act_path="/tables/7/").save()
    a_due("unread", None, kind="unknown", state="not_checked").save()
    client, day = signed_in(Role.VIEWER), (timezone.now() + 26 * HOUR).date().isoformat()
    page = client.get("/deadlines/").text
    assert re.findall(r"<b><bdi>(\w+) ends", page) == ["sooner", "later", "unread"]
    assert 'href="/tables/7/"><bdi>Publish it.</bdi></a>' in page
    assert "1 place could not be read" in re.sub(r"\s+", " ", page)
    assert f"?day={day}#results" in page
    for narrowed, shown in ((f"day={day}", ["sooner"]), ("q=LATER", ["later"]), ("kind=unknown", ["unread"])):
        assert re.findall(r"<b><bdi>(\w+) ends", client.get(f"/deadlines/?{narrowed}").text) == shown
    assert "No deadline matches" in client.get("/deadlines/?q=nowhere").text


def test_nobody_sees_what_is_of_another_connection():
    own, other, viewer = make_connection("own"), make_connection("other"), person(None, name="sam")
    a_due("vault", connection=other, vault_connection=own).save()
    a_due("others", connection=other).save()
    Grant.objects.create(user=viewer, connection=own, role=Role.VIEWER.value)
    client = signed_in_as(viewer)
    for address in ("/deadlines/", "/tables/"):
        shown = client.get(address).text
        assert "vault ends" in shown
        assert "others ends" not in shown


def test_the_first_page_tells_of_the_next_7_days_with_one_query(django_assert_num_queries):
    assert "within 7 days" not in signed_in().get("/tables/").text
    for due in (a_due("first"), a_due("needs nobody", state="info"), a_due("later", 8 * DAY)):
        due.save()
    assert "<b>1 deadline within 7 days.</b>" in signed_in().get("/tables/").text
    Due.objects.bulk_create([a_due(f"n{number}", state="attention") for number in range(MOST_COUNTED)])
    with django_assert_num_queries(1):
        soon = due_soon(None, timezone.now())
    assert (soon.number, soon.first.key, soon.worst) == ("At least 100", "first", "blocked")


def test_the_digest_has_ten_lines_and_how_many_more():
    now = timezone.now()
    assert "DUE" not in digest_of(now - DAY, now)[1]
    Due.objects.bulk_create([a_due(f"n{number:02}", number * HOUR, subject=HOSTILE) for number in range(12)])
    text = digest_of(now - DAY, now)[1]
    assert len(re.findall(r"UTC  n\d\d ends: a;b", text)) == 10
    assert "\n  and 2 more\n" in text
    assert "\nATTENDEE" not in text


def test_the_command_judges_and_prints(judged):
    judged(one=lambda now: [a_due("soon", connection=make_connection()), a_due("later", 9 * DAY), a_due("?", None)])
    rows = printed("deadlines", "--days", "7")
    assert [row["key"] for row in rows] == ["soon", "?"]
    assert not missing(rows, list[DueJson])
    judged(one=lambda now: [])
    assert "Nothing that Levee has read is lost by waiting" in said("deadlines")
