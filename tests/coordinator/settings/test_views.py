"""Capacity advice, expiry and the reach of lifecycle rules, from the records alone."""

from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from coordinator.models import Bucket, Commit, CommitStore, Entry
from coordinator.observation.settings_of_aws import _ttl_since, judge_bucket_again
from coordinator.protocols.bucket_tables import TableInBucket, WaitingFile
from coordinator.settings.capacity import advise
from coordinator.settings.rule_reach import forecast, view_of_rules
from coordinator.settings.views_of import capacity_advice, expiry_facts, judged_lifecycle, lifecycle_view
from dashboard.accounts.roles import Role
from dashboard.storable import clean_json
from tests.builders.lake import make_bucket, make_commit, make_store, make_table
from tests.builders.people import signed_in

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = timedelta(days=1)
FIVE = {"billing": "provisioned", "read_capacity": 5, "write_capacity": 5}
WAITING = WaitingFile(42, ".tmp/00000000000000000042.json.7f3c9b52", NOW - DAY, 900)
ORDERS = TableInBucket("sales/orders", (WAITING,), oldest_log_at=NOW - 20 * DAY)


def rule(prefix: str, days: int = 30, **more) -> dict:
    made = {"ID": "r", "Status": "Enabled", "Filter": {"Prefix": prefix}, "Expiration": {"Days": days}}
    return made | more


@pytest.fixture
def store(db) -> CommitStore:
    return make_store(facts=FIVE | {"ttl_status": "DISABLED"})


def test_needed_units_follow_from_the_busiest_minute():
    advice = advise("log_store", 5_000, 120, 3, FIVE | {"load": {"read_throttles": 0, "write_throttles": 0}})

    assert (advice.needed_read, advice.needed_write) == (9, 6)
    assert advice.short_of == "reads and writes"
    assert "Provision more, or change to on demand." in advice.sentence


def test_a_coordinator_needs_half_units_for_its_reads():
    advice = advise("commit_coordinator", 600, 60, 1, FIVE)

    assert (advice.needed_read, advice.needed_write, advice.short_of) == (3, 3, "")


def test_throttles_say_that_it_is_too_little_whatever_was_counted():
    advice = advise("log_store", 60, 1, 1, FIVE | {"load": {"read_throttles": 0, "write_throttles": 1_204}})

    assert advice.short_of == "writes"
    assert "1,204 writes were throttled in the last day" in advice.sentence


def test_nothing_is_said_without_commits_nor_of_throttles_without_cloudwatch():
    advice = advise("log_store", 0, 0, 4, FIVE)

    assert (advice.needed_read, advice.short_of) == (None, "")
    assert "CloudWatch was not read" in advice.sentence


def test_advice_reads_the_commits_of_the_stores_tables(store):
    table = make_table(store=store)
    for version in range(90):
        Commit.objects.create(table=table, version=version, published=True, modified_at=NOW - timedelta(hours=1))
    Commit.objects.create(table=table, version=90, published=True, modified_at=NOW - timedelta(hours=5))
    Commit.objects.create(table=table, version=91, published=True, modified_at=NOW - 2 * DAY)

    advice = capacity_advice(store, NOW)

    assert (advice.commits_last_day, advice.commits_per_second_peak, advice.tables_seen) == (91, 1.5, 1)
    assert (advice.needed_read, advice.needed_write) == (7, 5)


def test_entries_past_their_time_and_those_that_never_expire_are_counted(store):
    table, past = make_table(store=store), int((NOW - 2 * DAY).timestamp())

    def entry(version: int, **fields) -> None:
        Entry.objects.create(
            table=table, store=store, lock_domain="s3a://lake/t", version=version, code="C5", observed_at=NOW, **fields
        )

    entry(0, complete=True, expire_time=past)
    entry(1, complete=True, expire_time=int((NOW + DAY).timestamp()), commit_time=past)
    entry(2, complete=True)
    entry(3, complete=False)

    facts = expiry_facts(store, NOW)

    assert list(facts.counts.values()) == [1, 1, 1, 1]
    assert facts.sentence == (
        "TTL is off. 1 entry is past its time and still there. 1 incomplete entry would never expire: without "
        "expireTime, TTL leaves them."
    )


def test_ttl_is_known_since_the_change_that_was_seen():
    off, on = {"ttl_status": "DISABLED"}, {"ttl_status": "ENABLED", "ttl_attribute": "expireTime"}

    first = _ttl_since({}, off, NOW)
    assert first == {"ttl_since": NOW.isoformat(), "ttl_since_is_exact": False}
    assert _ttl_since(off | first, off, NOW + DAY) == first
    assert _ttl_since(off | first, on, NOW + DAY)["ttl_since_is_exact"] is True


@pytest.mark.parametrize(
    ("prefix", "touches"),
    [
        ("", ("log", "temp", "staged", "data")),
        ("sales/orders/_delta_log/", ("log", "temp", "staged")),
        ("sales/orders/_delta_log/.tmp/", ("temp",)),
        ("sales/orders/_delta_log/.tmp", ("temp",)),
        ("sales/orders/_delta_log/_staged_commits/", ("staged",)),
        ("sales/orders/day=1/", ("data",)),
        ("sales/returns/", ()),
    ],
)
def test_a_rule_says_what_it_touches(prefix, touches):
    [reach] = view_of_rules([rule(prefix)], [ORDERS], NOW).rules

    assert reach.touches == touches
    assert reach.is_temp_rule == (touches == ("temp",))


@pytest.mark.parametrize(
    ("prefix", "days", "bites_at", "told"),
    [
        ("sales/orders/_delta_log/", 30, datetime(2026, 12, 2, tzinfo=UTC), "It first acts at 02 Dec 2026 00:00 UTC."),
        ("sales/orders/", 10, datetime(2026, 11, 12, tzinfo=UTC), "It has acted since 12 Nov 2026 00:00 UTC."),
        ("sales/orders/_delta_log/.tmp/", 3, datetime(2026, 11, 24, tzinfo=UTC), "24 Nov 2026 00:00 UTC."),
    ],
    ids=["of the log", "since then", "of an unpublished commit"],
)
def test_a_rule_that_takes_what_a_table_needs_says_when_it_first_acts(prefix, days, bites_at, told):
    [reach] = view_of_rules([rule(prefix, days)], [ORDERS], NOW).rules

    assert reach.first_bites_at == bites_at
    assert reach.sentence.endswith(told)


def test_a_disabled_rule_does_nothing():
    [reach] = view_of_rules([rule("", 1, Status="Disabled")], [ORDERS], NOW).rules

    assert (reach.enabled, reach.first_bites_at, reach.sentence) == (False, None, "Disabled: it does nothing.")


def test_rules_for_all_tables_are_forecast():
    assert forecast(12, 900).fits
    over = forecast(948, 6_956)

    assert (over.needed, over.fits) == (7_904, False)
    assert "6,904 tables cannot have one" in over.sentence
    assert "sweep" in over.sentence


def test_the_view_counts_rules_tables_and_unfinished_uploads(store):
    make_table(store=store)
    ending = {"ID": "u", "Status": "Enabled", "Filter": {}}
    ending |= {"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}}
    facts = {"lifecycle_rules": [rule("sales/orders/_delta_log/.tmp/", 3), ending]}
    view = lifecycle_view(make_bucket(facts=facts), NOW)

    assert (view.count, view.left, view.tables, view.without_rule, view.multipart_rule) == (2, 998, 1, 0, True)


def test_a_page_has_the_view_of_the_last_judgement_without_the_tables(store, monkeypatch):
    make_commit(make_table(store=store), 1)
    bucket = make_bucket(facts={"lifecycle_rules": [rule("sales/", 30), rule("", 1, Status="Disabled")]})
    then = lifecycle_view(bucket, NOW)
    judge_bucket_again(bucket, NOW)
    monkeypatch.setattr("coordinator.settings.views_of.tables_in", None)

    kept = judged_lifecycle(Bucket.objects.get(pk=bucket.pk))

    assert clean_json(kept) == clean_json(then)
    assert kept.rules[0].first_bites_at == then.rules[0].first_bites_at is not None
    assert kept.rules[0].state is then.rules[0].state
    assert then.rules[0].sentence in unescape(signed_in(Role.VIEWER).get(f"/buckets/{bucket.pk}/").content.decode())


@pytest.mark.parametrize("changed", [{"error_at": NOW}, {"facts": {"lifecycle_rules": [], "lifecycle": {"rules": []}}}])
def test_a_view_that_nothing_keeps_up_or_that_has_other_fields_is_made_anew(store, changed):
    bucket = make_bucket(facts={"lifecycle_rules": []})
    judge_bucket_again(bucket, NOW)
    make_table(store=store)
    Bucket.objects.update(**changed)

    assert judged_lifecycle(Bucket.objects.get(pk=bucket.pk)).tables == 1
