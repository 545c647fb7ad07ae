"""Deadlines of buckets from a lake to an alert: read, kept, judged again by the clock alone, told with their date."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from coordinator.alerting import setting_problems
from coordinator.models import Bucket, DeltaTable, Entry
from coordinator.observation.bucket_contents import tables_in
from coordinator.observation.settings_of_aws import SETTINGS_EVERY, judge_by_clock
from dashboard.alerts.evaluation import evaluate
from dashboard.alerts.models import Alert
from dashboard.alerts.problems import Problem
from dashboard.connections.models import Connection
from lake.aws.answers import AwsResponse
from tests.builders.lake import (
    NOW,
    make_bucket,
    make_commit,
    make_connection,
    make_entry,
    make_finding,
    make_pending,
    make_table,
)
from tests.coordinator.settings.denying import Gate

DAY = timedelta(days=1)
TMP = "sales/orders/_delta_log/.tmp"


def put_rule(written, days: int = 3) -> None:
    rule = {"ID": "tmp", "Status": "Enabled", "Filter": {"Prefix": TMP}, "Expiration": {"Days": days}}
    written.s3.put_bucket_lifecycle_configuration(Bucket=written.bucket, LifecycleConfiguration={"Rules": [rule]})


@pytest.fixture
def answered(monkeypatch) -> dict[str, AwsResponse]:
    """Answers of S3 that moto cannot give, by request."""
    return Gate().install(monkeypatch).answers


@pytest.fixture
def larger_than(answered):
    """Have S3 answer with a rule on large files of the log: moto forgets the sizes of a rule."""

    def answer(size: int) -> None:
        limits = f"<Prefix>sales/orders/_delta_log/</Prefix><ObjectSizeGreaterThan>{size}</ObjectSizeGreaterThan>"
        rule = f"<Rule><ID>large</ID><Status>Enabled</Status><Filter><And>{limits}</And></Filter>"
        rule += "<Expiration><Days>30</Days></Expiration></Rule>"
        body = f"<LifecycleConfiguration>{rule}</LifecycleConfiguration>".encode()
        answered["s3:GetBucketLifecycleConfiguration"] = AwsResponse(200, {}, body)

    return answer


def hazards(now: datetime) -> list[Problem]:
    return [problem for problem in setting_problems(now) if problem.kind == "lifecycle-hazard"]


@pytest.fixture
def waiting(written, observe):
    """A lake whose rule will delete the only copy of an accepted commit; returns the moment at which it may."""
    put_rule(written)
    written.table("sales/orders", commits=3, log_store=True)
    written.pending("sales/orders", 3)
    observe()
    at = Entry.objects.get(version=3).written_at.replace(hour=0, minute=0, second=0, microsecond=0)
    return at + 4 * DAY


def test_the_verdict_follows_the_clock_without_a_request_to_aws_and_only_where_it_changes(waiting, lake):
    asked = lake.requests.total
    states = []
    for now in (timezone.now() + timedelta(minutes=2), waiting - 2 * DAY, waiting - DAY, waiting):
        judged = judge_by_clock(now)
        bucket = Bucket.objects.get()
        states.append((judged, bucket.state))
        assert f"{waiting:%d %b %Y} 00:00 UTC" in bucket.summary

    assert states[:3] == [(1, "attention"), (0, "attention"), (1, "unsafe")]
    assert states[3][1] == "unsafe"
    assert lake.requests.total == asked


def test_a_pass_judges_by_the_clock_even_where_settings_are_not_due(waiting, observe, monkeypatch, lake):
    described = lake.requests.by_operation["s3:GetBucketLifecycleConfiguration"]
    monkeypatch.setattr("coordinator.observation.passes.timezone.now", lambda: datetime.now(UTC) + SETTINGS_EVERY / 2)

    observe()

    assert Bucket.objects.get().state == "attention"
    assert lake.requests.by_operation["s3:GetBucketLifecycleConfiguration"] == described


def test_an_alert_names_the_date_and_grows_worse_a_day_before(waiting):
    evaluate(waiting - 3 * DAY)
    [alert] = Alert.objects.filter(kind="lifecycle-hazard")
    assert alert.severity == "warning"
    assert f"at {waiting:%d %b %Y} 00:00 UTC" in alert.headline

    evaluate(waiting - DAY)

    alert.refresh_from_db()
    assert (alert.severity, alert.resolved_at) == ("critical", None)
    assert f"at {waiting:%d %b %Y} 00:00 UTC" in alert.headline


def test_a_refusal_to_read_the_rules_ends_no_alert(waiting, guard, observe_guarded):
    guard.deny("GetBucketLifecycleConfiguration")
    Bucket.objects.update(observed_at=timezone.now() - SETTINGS_EVERY)

    observe_guarded()

    assert [problem.severity for problem in hazards(waiting - 3 * DAY)] == ["warning"]
    assert "lifecycle" in dict(Bucket.objects.get().facts["unknown"])


def test_a_bucket_that_cannot_be_reached_ends_no_alert(waiting):
    evaluate(waiting - 3 * DAY)
    Bucket.objects.update(error_at=timezone.now(), error_code="AccessDenied", state="not_checked", state_rank=3)

    evaluate(waiting - DAY)

    assert Bucket.objects.get().state == "not_checked"
    assert Alert.objects.get(kind="lifecycle-hazard").severity == "critical"


def test_a_table_that_cannot_be_read_any_more_leaves_its_bucket_open_in_the_same_pass(written, guard, observe_guarded):
    put_rule(written)
    written.table("sales/orders", commits=2, log_store=True)
    observe_guarded()
    assert Bucket.objects.get().state == "healthy"
    guard.deny("ListObjectsV2", "sales/orders/_delta_log/")

    observe_guarded(in_full=True)

    assert Bucket.objects.get().state == "not_checked"
    assert "is not known of 1 table" in Bucket.objects.get().summary


TIERS = b"""<ListBucketIntelligentTieringConfigurationsOutput><IsTruncated>false</IsTruncated>
<IntelligentTieringConfiguration><Id>cold</Id><Filter><Prefix>sales/orders/_delta_log/</Prefix></Filter>
<Status>Enabled</Status><Tiering><AccessTier>ARCHIVE_ACCESS</AccessTier><Days>90</Days></Tiering>
</IntelligentTieringConfiguration></ListBucketIntelligentTieringConfigurationsOutput>"""


@pytest.mark.parametrize(("storage_class", "state"), [("INTELLIGENT_TIERING", "attention"), ("STANDARD", "healthy")])
def test_the_classes_of_a_real_listing_decide_what_a_tier_takes(written, observe, answered, storage_class, state):
    answered["s3:ListBucketIntelligentTieringConfigurations"] = AwsResponse(200, {}, TIERS)
    written.table("sales/orders", commits=2)
    key = f"sales/orders/_delta_log/{1:020d}.checkpoint.parquet"
    written.s3.put_object(Bucket=written.bucket, Key=key, Body=bytes(200_000), StorageClass=storage_class)

    observe()

    assert Bucket.objects.get().state == state


def test_a_rule_is_held_against_the_sizes_of_a_real_listing_and_of_what_its_tail_adds(written, observe, larger_than):
    larger_than(150_000)
    written.table("sales/orders", commits=2)
    written.put(f"sales/orders/_delta_log/{1:020d}.checkpoint.parquet", bytes(150_000))
    observe()
    assert Bucket.objects.get().state == "healthy"
    written.commit("sales/orders", 2, b'{"commitInfo":{}}' + b" " * 160_000)

    observe()

    assert Bucket.objects.get().state == "unsafe"


def test_a_deadline_that_is_further_away_than_is_told_waits_for_a_rule_that_looks_further(waiting, written, observe):
    put_rule(written, days=40)
    Bucket.objects.update(observed_at=timezone.now() - SETTINGS_EVERY)
    observe()

    [problem] = hazards(timezone.now() + timedelta(minutes=2))

    assert problem.severity == "info"
    assert problem.measure > 14
    evaluate(timezone.now() + timedelta(minutes=2))
    assert not Alert.objects.filter(kind="lifecycle-hazard").exists()


def contents() -> dict[str, tuple[list[tuple[int, str]], list[int]]]:
    """By table: version and file of what waits, and the versions of what is lost."""
    found = tables_in(Bucket.objects.first() or make_bucket())
    return {t.prefix: ([(w.version, w.file) for w in t.waiting], [one.version for one in t.lost]) for t in found}


@pytest.mark.django_db
def test_only_entries_whose_file_may_be_the_only_copy_count():
    table = make_table("s3a://lake/orders")
    make_entry(table, 40)
    make_pending(table, 42)
    make_entry(table, 43, code="C6", published=False)
    make_entry(table, 44, code="C5", published=False)
    make_pending(table, 45, code="unknown", published=None)
    make_pending(table, 46, code="C11", file_present=False)
    make_finding(table, "C11", 46)
    make_pending(table, 47, code="K3")

    held = [(version, f".tmp/{version:020d}.json.7f3c9b52") for version in (42, 43, 45, 47)]
    assert contents() == {"orders": (held, [46])}


def row_elsewhere(**fields: Any) -> DeltaTable:
    return make_table("s3a://lake/orders", connection=make_connection("other", region="us-east-1"), **fields)


@pytest.mark.django_db
@pytest.mark.parametrize("is_known_here", [True, False])
def test_what_waits_by_another_connections_store_counts_too_where_it_sees_the_same_s3(is_known_here):
    if is_known_here:
        make_pending(make_table("s3a://lake/orders"), 41)
    there = row_elsewhere()
    make_pending(there, 42)
    make_pending(there, 43, code="C11", file_present=False)

    waiting = [(version, f".tmp/{version:020d}.json.7f3c9b52") for version in (41, 42)]
    assert contents() == {"orders": (waiting if is_known_here else waiting[1:], [43])}

    Connection.objects.filter(name="other").update(endpoint_url="http://127.0.0.1:1")
    assert contents() == ({"orders": (waiting[:1], [])} if is_known_here else {})


@pytest.mark.django_db
@pytest.mark.parametrize("age", [timedelta(minutes=-1), timedelta(minutes=1)], ids=["before", "since"])
def test_what_another_connection_saw_waiting_waits_until_it_is_seen_published_since(age):
    table = make_table("s3a://lake/orders", observed_at=NOW)
    there = row_elsewhere(observed_at=NOW - age)
    make_pending(there, 42)
    make_commit(table, 42)

    assert [version for version, _ in contents()["orders"][0]] == ([42] if age < timedelta(0) else [])


def copy_of(version: int) -> dict[str, Any]:
    return {
        "version": version,
        "file": f".tmp/{version:020d}.json.7f3c9b52",
        "size": 900,
        "written_at": "2026-11-10T15:30:00+00:00",
    }


@pytest.mark.django_db
def test_last_copies_of_open_findings_count_and_are_certain_where_a_critical_one_says_so():
    table = make_table("s3a://lake/orders")
    make_entry(table, 40)
    make_finding(table, "undecided", 41, severity="warning", evidence={"last_copies": [copy_of(41), copy_of(40)]})
    make_finding(table, "overwritten", 41, severity="critical", evidence={"last_copies": [copy_of(41)]})
    make_finding(table, "bytes-differ", 38, resolved_at=timezone.now(), evidence={"last_copies": [copy_of(38)]})

    [found] = tables_in(make_bucket())
    assert [(one.version, one.is_certain, one.is_last_copy) for one in found.waiting] == [
        (40, False, True),
        (41, True, True),
    ]


@pytest.mark.django_db
def test_what_an_open_finding_says_is_lost_is_lost_since_the_first_one_said_so():
    table = make_table("s3a://lake/orders")
    early, late = timezone.now() - timedelta(days=2), timezone.now() - timedelta(days=1)
    make_finding(table, "vanished", 9, opened_at=late, evidence={"lost_files": [{"version": 8, "files": ["a"]}]})
    make_finding(table, "overwritten", 8, opened_at=early, evidence={"lost_files": [{"version": 8, "files": ["b"]}]})

    [found] = tables_in(make_bucket())
    assert [(one.version, set(one.files), one.gone_by) for one in found.lost] == [(8, {"a", "b"}, early)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("code", "state", "is_read"),
    [
        ("not-read", "not_checked", False),
        ("unknown-log-store", "not_checked", False),
        ("undecided", "blocked", False),
        ("foreign-writer", "unsafe", True),
    ],
)
def test_a_table_whose_waiting_commits_are_undecided_is_not_read_whatever_is_worse(code, state, is_read):
    table = make_table("s3a://lake/orders", state="blocked")
    make_finding(table, "version-hole", 2, state="blocked")
    make_finding(table, code, None, state=state)

    [found] = tables_in(make_bucket())
    assert found.is_read is is_read


@pytest.mark.django_db
def test_contents_take_as_many_queries_however_many_tables_there_are():
    def queries(names: range) -> int:
        for name in names:
            make_pending(make_table(f"s3a://lake/t{name}"))
        with CaptureQueriesContext(database) as captured:
            assert len(tables_in(bucket)) == names.stop
        return len(captured)

    bucket = make_bucket()
    assert queries(range(1)) == queries(range(1, 30)) == 4
