"""What the lake loses by waiting: each source against rows and moments made by hand."""

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from coordinator import due
from coordinator.models import TtlMigration
from dashboard.deadlines.models import DueKind
from tests.builders.lake import (
    NOW,
    bucket_facts,
    make_bucket,
    make_entry,
    make_finding,
    make_pending,
    make_store,
    make_table,
    store_facts,
)

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
FIRST = datetime(2026, 11, 23, 4, 5, tzinfo=UTC)


def entries():
    """The rows about entries."""
    return [told for told in due.expiring_entries(NOW) if told.kind == DueKind.ENTRY]


def lost(table, version, expires=FIRST):
    return make_entry(table, version, code="C7", published=False, expire_time=int(expires.timestamp()))


def test_the_first_entry_to_expire_over_a_missing_file_is_the_deadline_of_its_table():
    table = make_table(state="blocked", published_version=16)
    lost(table, 18, FIRST + timedelta(hours=1))
    lost(table, 17)
    make_entry(table, 16, expire_time=int(NOW.timestamp()))  # published: it may go
    make_finding(table, "C2", 18)
    make_finding(table, "C7", 18, state="blocked")
    make_pending(make_table("s3a://lake/never", state="blocked"))
    lost(make_table("s3a://lake/gone", state="blocked", gone_at=NOW), 42)
    [told] = entries()
    assert (told.at, told.state, told.subject) == (FIRST, "blocked", "sales.orders")
    assert told.happens == "Entry 17 expires, and …17.json is not there"
    assert told.lost.startswith("The next commit takes version 17 with other rows")
    assert "1 more entry of the table follows." in told.lost
    assert told.act_path == f"/tables/{table.pk}/commits/17/"


def test_below_a_published_version_no_other_commit_takes_the_one_that_is_lost():
    lost(make_table(state="attention", published_version=20), 17, NOW - timedelta(hours=1))
    [told] = entries()
    assert told.happens == "Entry 17 may go at any moment, and …17.json is not there"
    assert told.lost == "DynamoDB then no longer says which file was accepted as version 17."


def test_an_entry_has_a_deadline_unless_ttl_is_known_to_leave_it():
    every = {"on": {}, "off": {"ttl_status": "DISABLED"}, "other": {"ttl_attribute": "commitTime"}}
    for name, facts in every.items():
        lost(
            make_table(f"s3a://lake/a/{name}", state="blocked", store=make_store(name, facts=store_facts(**facts))), 42
        )
    lost(make_table("s3a://lake/a/unread", state="blocked", store=make_store("unread", facts={})), 42)
    assert {told.subject for told in entries()} == {"a.on", "a.unread"}


def test_a_move_of_ttl_under_way_may_take_entries():
    store = make_store(facts=store_facts(ttl_attribute="commitTime"))
    moving = {"from_attribute": "commitTime", "requested_by_name": "sam", "phase_at": NOW, "next_at": NOW}
    TtlMigration.objects.create(store=store, started_at=datetime(2026, 11, 20, 1, 0, tzinfo=UTC), **moving)
    lost(make_table(state="blocked", store=store), 42)
    assert [told.at for told in entries()] == [FIRST]


def rule_of(table, at, **fields):
    values = {"at": at and at.isoformat(), "state": "attention", "what": "published log", "rule": "expire-1"}
    return values | {"does": "deletes", "table": table, "tables": 1, "version": None, "file": ""} | fields


def test_a_deadline_of_a_bucket_leads_to_its_table_and_says_what_stops_it():
    table = make_table()
    far = rule_of("web/clicks", None, state="healthy", tables=3, condition="tagged a=b")
    deadlines = [rule_of("sales/orders", FIRST), rule_of("sales/orders", FIRST, file=".tmp/again"), far]
    make_bucket(facts=bucket_facts(deadlines=deadlines, deadlines_in_all=6))
    log, far, more = due.taken_by_s3(NOW)
    assert (log.at, log.state, log.happens) == (FIRST, "attention", "S3 may act by expire-1 in lake")
    assert (log.lost, log.path) == (
        "Deletes the log of sales/orders. 1 more file follows.",
        reverse("table", args=[table.pk]),
    )
    assert log.stops == "Narrow the rule, or disable it."
    assert (far.at, far.state, far.subject) == (None, "info", "lake")
    assert far.lost == "Deletes the log of web/clicks and of 2 other tables, if tagged a=b."
    assert more.happens == "Unknown: the 3 later deadlines of lake"


def test_what_was_not_read_is_unknown_beside_what_was_read_before():
    facts = bucket_facts(deadlines=[rule_of("sales/orders", FIRST)], deadlines_in_all=1)
    make_bucket(facts=facts, error_at=NOW, error_text="Access denied.")
    make_bucket("raw", facts=bucket_facts(unknown=[["lifecycle", "Access denied to raw."]]))
    make_table(state="not_checked")
    unknown, known, refused = due.taken_by_s3(NOW)
    assert (unknown.happens, unknown.stops) == ("Unknown: lifecycle of lake was not read", "Access denied.")
    assert (unknown.kind, known.at) == (DueKind.UNKNOWN, FIRST)
    assert (refused.happens, refused.stops) == ("Unknown: lifecycle of raw was not read", "Access denied to raw.")
    make_entry(make_table("s3a://lake/unsafe", state="unsafe"), code="unknown", published=None, expire_time=1)
    assert [told.happens for told in due.expiring_entries(NOW)] == [
        "Unknown: prod was not looked at yet",
        "Unknown: entries of 2 tables not checked",
    ]


def test_entries_of_an_empty_log_lose_no_commit_when_they_go():
    table = make_table(state="blocked", published_version=None)
    lost(table, 57)
    make_finding(table, "leftover-entries", None, state="blocked")
    assert entries() == []
