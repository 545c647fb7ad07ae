"""The history of a table: where events stand on the axis, its page for whom, and its command."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from coordinator.contract import HistoryJson
from coordinator.history_chart import LANES, LEFT, RIGHT, Event, Window, chart_of
from coordinator.models import Commit, DeltaTable
from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from dashboard.alerts.models import Alert, Member
from dashboard.audit.log import record
from tests.builders.lake import make_commit, make_connection, make_entry, make_finding, make_store, make_table
from tests.builders.people import actor, person, signed_in, signed_in_as
from tests.dashboard.jobs.builders import ago, job
from tests.dashboard.web.markup import flat
from tests.json_types import missing, printed

UNTIL = datetime(2026, 11, 22, 7, 16, tzinfo=UTC)
WEEK = Window(UNTIL - timedelta(days=7), UNTIL)


def event(kind: str, hours_ago: float, **fields: Any) -> Event:
    values = {"key": f"{hours_ago}", "state": "blocked", "says": "Something", "href": "/x/"}
    return Event(kind=kind, at=UNTIL - timedelta(hours=hours_ago), **values | fields)


def chart(*events: Event, window: Window = WEEK, watched_since: datetime = WEEK.since) -> Any:
    return chart_of({kind: [one for one in events if one.kind == kind] for kind in LANES}, window, watched_since)


def test_marks_stand_by_their_time_and_what_began_before_at_the_beginning() -> None:
    drawn = chart(
        event("version", 84, operation="MERGE"),
        event("finding", 200, until=UNTIL - timedelta(hours=84), label="C7 4"),
        event("alert", 1, label="A commit file is gone"),
        watched_since=UNTIL - timedelta(hours=42),
    )
    [merge], _, [span], _, [alert] = (lane.marks for lane in drawn.lanes)
    middle = (LEFT + RIGHT) / 2

    assert (merge.x, merge.css, merge.height) == (middle, "merge", 28)
    assert (span.x, span.width) == (LEFT, middle - LEFT)
    assert alert.x + alert.width == pytest.approx(RIGHT, abs=0.2)
    assert (alert.anchor, alert.label_x < alert.x) == ("end", True)
    assert drawn.unwatched == pytest.approx(LEFT + 0.75 * (RIGHT - LEFT), abs=0.1)
    assert [text for _, text in drawn.axis][:2] == ["Mon 16 Nov", "Tue 17 Nov"]
    assert "Versions 1; Entries 0; Findings 1" in drawn.summary


def test_findings_at_one_time_stand_in_rows_of_their_own_until_there_is_no_room() -> None:
    lane = chart(*(event("finding", 84 + place, label=f"C{place}") for place in range(6))).lanes[2]

    assert len({mark.y for mark in lane.marks}) == len(lane.marks) == 4
    assert lane.left_out == 2


def test_versions_of_an_hour_are_stacked_by_operation_the_more_the_higher() -> None:
    at = UNTIL.replace(minute=0)
    hour: dict[str, Any] = {"at": at, "until": at + timedelta(hours=1)}
    groups = [
        Event("version", name, state="published", says="", href="/x/", operation=name, number=number, **hour)
        for name, number in (("WRITE", 30), ("MERGE", 10))
    ]
    drawn = chart(*groups, window=Window(UNTIL - timedelta(days=1), UNTIL + timedelta(hours=1)))
    by_fill = {mark.css: mark for mark in drawn.lanes[0].marks}

    assert by_fill["append"].height == 3 * by_fill["merge"].height == 21
    assert (by_fill["merge"].y, by_fill["append"].y) == (25, 4)
    assert drawn.operations == [("append", "WRITE", 30), ("merge", "MERGE", 10)]


@pytest.fixture
def table(db: None) -> DeltaTable:
    """A table with one event of each kind within the last day."""
    found = make_table(store=make_store())
    DeltaTable.objects.update(first_seen_at=ago(days=60))
    make_commit(found, 41, modified_at=ago(hours=5), operation="MERGE")
    make_entry(found, 41, written_at=ago(hours=5))
    finding = make_finding(
        found, "C6", 40, summary="Its file is gone.", opened_at=ago(hours=4), resolved_at=ago(hours=3)
    )
    done = job(
        "succeeded",
        title="Publish commit 40",
        target_type="table",
        target_id=str(found.pk),
        connection=found.connection,
    )
    for outcome in ("requested", "done"):
        record(actor(), "table.repair", target_type="table", target_id=str(found.pk), outcome=outcome, job=done)
    record(actor(), "lake.observe", target_type="table", target_id=str(found.pk), outcome="refused")
    for key, title in ((f"finding:{finding.pk}", "A commit file is gone"), ("finding:0", "Of another table")):
        moments = {"opened_at": ago(hours=4), "since": ago(hours=4)}
        told = {"told_at": timezone.now(), "unattended_since": timezone.now(), "severity": "critical"}
        alert = Alert.objects.create(title=title, cause=key, connection=found.connection, **moments, **told)
        Member.objects.create(alert=alert, key=key, severity="critical", since=ago(hours=4), gone_at=ago(hours=3))
    return found


def page(client: Client, table: DeltaTable, query: str = "") -> str:
    answer: Any = client.get(f"/tables/{table.pk}/history/{query}")
    assert answer.status_code == 200
    return str(flat(answer))


def listed(html: str) -> list[str]:
    return re.findall(r'<td class="when">.*?<b>(\w+)</b>', html)


@pytest.mark.postgres("queries")
def test_the_page_draws_one_of_each_and_lists_the_same_by_kind_and_words(table: DeltaTable) -> None:
    client = signed_in(Role.VIEWER)
    html = page(client, table)
    drawing = html.partition('class="lanes"')[2].partition("</figure>")[0]

    assert set(re.findall(r'<a href="/(tables/\d+/commits/4\d|jobs|alerts)/', drawing)) >= {
        f"tables/{table.pk}/commits/41", f"tables/{table.pk}/commits/40", "jobs", "alerts"
    }  # fmt: skip
    assert sorted(listed(html)) == ["Act", "Alert", "Alert", "Finding", "Finding", "Job"]
    assert "Of another table" not in html
    assert sorted(listed(page(client, table, "?kind=all"))) == sorted([*listed(html), "Version", "Entry"])
    assert listed(page(client, table, "?kind=act")) == ["Act"] * 3
    assert listed(page(client, table, "?kind=finding&q=GONE")) == ["Finding"]
    assert client.get(f"/tables/{table.pk}/activity/")["Location"].endswith("/history/?kind=act&range=30d")


@pytest.mark.django_db
def test_a_page_continues_after_the_last_row_and_an_empty_range_says_what_was_looked_at() -> None:
    client, table = signed_in(), make_table()
    for place in range(25):
        make_commit(table, place, modified_at=ago(days=20, minutes=place))

    first = page(client, table, "?range=30d&kind=version&size=20")
    following = re.search(r'href="(\?[^"]+)" rel="next"', first)
    assert following is not None
    rest = page(client, table, following[1].replace("&amp;", "&"))
    empty = page(client, table)

    assert (len(listed(first)), len(listed(rest))) == (20, 5)
    assert not set(re.findall(r"Version \d+:", first.partition('id="list"')[2])) & set(
        re.findall(r"Version \d+:", rest.partition('id="list"')[2])
    )
    assert "No event is known between" in empty
    assert "Levee watches this table since" in empty


@pytest.mark.django_db
@pytest.mark.postgres("queries")
def test_more_than_400_versions_are_drawn_by_the_hour_with_their_number() -> None:
    table, at = make_table(), ago(hours=30).replace(minute=10)
    Commit.objects.bulk_create(
        Commit(table=table, version=place, published=True, modified_at=at + timedelta(seconds=place), operation="WRITE")
        for place in range(401)
    )
    html = page(signed_in(), table)

    assert "<title>401 WRITE, newest 400" in html
    assert "A bar is an hour" in html
    assert 'aria-label="' in html
    assert "Versions 401;" in html


def test_who_sees_single_connections_sees_no_job_of_another_and_no_way_into_the_audit_log(table: DeltaTable) -> None:
    other = make_connection("other")
    job(title="A job elsewhere", target_type="table", target_id=str(table.pk), connection=other)
    client, stranger = (signed_in_as(person(None, name)) for name in ("sam", "eve"))
    for name, connection in (("sam", table.connection), ("eve", other)):
        Grant.objects.create(user=person(None, name), connection=connection, role="operator")

    html = page(client, table)

    assert "Publish commit 40" in html
    assert "Was refused" in html
    assert ("A job elsewhere" in html, "#entry-" in html) == (False, False)
    assert "#entry-" in page(signed_in(), table)
    assert stranger.get(f"/tables/{table.pk}/history/").status_code == 404


def test_that_the_table_vanished_is_told_as_an_alert_about_it(table: DeltaTable) -> None:
    moments = dict.fromkeys(("opened_at", "since", "told_at", "unattended_since"), ago(hours=2))
    alert = Alert.objects.create(title="A table vanished", cause="gone", connection=table.connection, **moments)
    Member.objects.create(alert=alert, key=f"gone:{table.pk}", severity="warning", since=ago(hours=2))
    assert "A table vanished" in page(signed_in(), table)


def test_the_command_prints_the_same_list(table: DeltaTable) -> None:
    document = printed("history", table.uri)

    assert not missing(document, HistoryJson)
    assert sorted(one["kind"] for one in document["events"]) == [
        "act", "alert", "alert", "entry", "finding", "finding", "job", "version"
    ]  # fmt: skip
    assert printed("history", table.uri, "--since", ago(minutes=90).isoformat())["events"][-1]["kind"] == "job"
