"""What alerts are told of the lake."""

import re
from datetime import timedelta
from typing import Any

import pytest

from coordinator.alerting import KINDS, gone_tables, late_looks, setting_problems, table_problems, waiting_commits
from coordinator.models import DeltaTable, TtlMigration, Watch
from coordinator.protocols.verdict import State
from coordinator.repairs.no_button import NO_BUTTON
from dashboard.alerts.matching import groups_of
from dashboard.alerts.models import Rule
from dashboard.alerts.problems import Problem
from tests.builders.lake import NOW, make_bucket, make_connection, make_finding, make_pass, make_store, make_table

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
MINUTE = timedelta(minutes=1)


def blocked(uri: str = "s3a://lake/orders", **fields: Any) -> Problem:
    """The problem of a table with one open finding."""
    finding = {"state": State.BLOCKED, "severity": "critical", "meaning": "Readers see version 41."}
    make_finding(make_table(uri), **finding | {"code": "C4", "opened_at": NOW - 12 * MINUTE} | fields)
    return only(table_problems(NOW))


def only(problems: Any) -> Problem:
    (found,) = problems
    return found


def test_a_finding_says_table_meaning_and_age() -> None:
    problem = blocked(evidence={"temp_file": ".tmp/x", "size": 3, "rows": [1, 2]})

    assert problem.headline == "orders: Commit 42 is accepted but not published."
    assert (problem.severity, problem.measure, problem.meaning) == ("critical", 12, "Readers see version 41.")
    assert (problem.connection, problem.uri) == (make_connection().pk, "s3a://lake/orders")
    assert problem.path.endswith("/#steps")
    assert (problem.subject, problem.code, problem.title) == ("orders", "C4", "An entry still says incomplete")
    assert ("Temp file", ".tmp/x") in problem.facts
    assert all(label != "Rows" for label, _ in problem.facts)


def test_findings_of_one_code_and_connection_have_one_cause() -> None:
    for connection, name in (("prod", "a"), ("prod", "b"), ("lab", "c")):
        table = make_table(f"s3a://lake/{name}", connection=make_connection(connection))
        make_finding(table, "C4", state=State.BLOCKED)
    assert len({problem.cause for problem in table_problems(NOW)}) == 2


@pytest.mark.parametrize(
    "fields", [{"resolved_at": NOW}, {"state": State.PENDING}, {"state": State.UNBACKFILLED}, {"state": State.HEALTHY}]
)
def test_what_is_over_or_only_waits_and_a_table_that_is_gone_are_no_trouble(fields: dict[str, Any]) -> None:
    make_finding(make_table(), "C4", **{"state": State.BLOCKED} | fields)
    make_finding(make_table("s3a://lake/gone", gone_at=NOW), "C4", state=State.BLOCKED)
    assert list(table_problems(NOW)) == []


@pytest.mark.parametrize("code", sorted(NO_BUTTON))
def test_what_must_not_be_done_is_told(code: str) -> None:
    problem = blocked(code=code, repairs=[])
    assert NO_BUTTON[code][2] in f"{problem.warning} {problem.advice}"


@pytest.mark.parametrize(("state", "kind"), [("pending", "pending-commit"), ("unbackfilled", "unbackfilled-commit")])
def test_a_commit_that_waits_is_measured_by_its_age_and_published_from_its_alert(state: str, kind: str) -> None:
    table = make_table(state=state, oldest_unpublished_at=NOW - 20 * MINUTE)
    assert (only(waiting_commits(NOW)).kind, only(waiting_commits(NOW)).measure) == (kind, 20)

    make_finding(table, code="C2", state=state, repairs=["publish-commit"])
    problem = only(waiting_commits(NOW))
    assert (problem.next_step, problem.link) == ("Publish commit 42.", "Publish commit 42…")
    assert problem.path == f"/tables/{table.pk}/#repair-publish-commit-C2-42"


def described(**of: Any) -> dict[str, Any]:
    finding = {"code": "rule", "state": "unsafe", "summary": "Rule x deletes logs.", "meaning": "", "evidence": {}}
    return {"findings": [finding | of]}


def test_a_rule_that_will_bite_counts_the_days_left() -> None:
    bites = {"rule": "x", "first_bites_at": (NOW + timedelta(days=3)).isoformat()}
    make_bucket(state="attention", facts=described(state="attention", evidence=bites))
    problem = only(setting_problems(NOW))
    assert (problem.kind, problem.measure, problem.severity) == ("lifecycle-hazard", 3, "warning")
    assert problem.headline == "The bucket lake: Rule x deletes logs."


@pytest.mark.parametrize("days", [400, -1])
def test_a_bucket_whose_rule_is_unsafe_is_told_however_far_away_it_bites(days: int) -> None:
    bites = {"rule": "x", "first_bites_at": (NOW + timedelta(days=days)).isoformat()}
    bucket = make_bucket(state="unsafe", facts=described(evidence=bites))
    rules = [Rule(pk=number, kind=one.name, threshold=one.threshold) for number, one in enumerate(KINDS)]
    (group,) = groups_of(setting_problems(NOW), rules)
    assert (group.severity, group.first.path) == ("critical", f"/buckets/{bucket.pk}/")


def test_a_store_set_up_dangerously_is_told_and_that_its_ttl_is_being_moved() -> None:
    store = make_store(state="attention", facts=described(code="ttl-on-commit-time", state="attention"))
    problem = only(setting_problems(NOW))
    assert (problem.kind, problem.severity) == ("setting-finding", "warning")
    assert problem.next_step == "Move TTL to expireTime."

    TtlMigration.objects.create(store=store, started_at=NOW, phase_at=NOW, next_at=NOW)
    problem = only(setting_problems(NOW))
    assert (problem.next_step, problem.path) == ("TTL is being moved to expireTime.", f"/stores/{store.pk}/ttl/")


@pytest.mark.parametrize(
    ("code", "evidence", "path", "link"),
    [
        ("ttl-off", {}, "/stores/{store}/ttl/", "See its TTL"),
        ("lifecycle-takes-unpublished", {"table": "sales/orders"}, "/tables/{table}/", "See the table"),
        ("lifecycle-takes-unpublished", {"table": "gone"}, "/buckets/{bucket}/", "See the bucket"),
        ("lifecycle-too-short", {}, "/buckets/{bucket}/", "See the bucket"),
    ],
)
def test_the_button_leads_to_where_the_step_is_taken(code: str, evidence: dict[str, Any], path: str, link: str) -> None:
    table, facts = make_table(), described(code=code, state="attention", evidence=evidence)
    of_store, of_bucket = (facts, {}) if code.startswith("ttl-") else ({}, facts)
    store, bucket = make_store(state="attention", facts=of_store), make_bucket(facts=of_bucket)
    problem = only(setting_problems(NOW))
    found = {"store": store.pk, "bucket": bucket.pk, "table": table.pk}
    assert (problem.path, problem.link) == (path.format(**found), link)
    assert problem.subject_path in (f"/stores/{store.pk}/", f"/buckets/{bucket.pk}/")


@pytest.mark.parametrize(("code", "tab"), [("old-writer", "writers/"), ("writers-spinning", "")])
def test_what_a_writer_does_has_a_next_step(code: str, tab: str) -> None:
    problem = blocked(code=code, state=State.ATTENTION)
    assert problem.next_step in problem.advice != ""
    assert re.fullmatch(rf"/tables/\d+/{tab}", problem.path)


def test_evidence_is_told_with_plain_labels_and_times_in_utc() -> None:
    evidence = {"commitTime": 1_795_863_264, "first_bites_at": "2026-11-29T00:00:00+00:00", "bytes_equal": False}
    facts = dict(blocked(evidence=evidence).facts)
    assert (facts["State"], facts["Bytes equal"]) == ("Blocked", "no")
    assert (facts["Commit time"], facts["First acts"]) == ("28 Nov 2026 10:54 UTC", "29 Nov 2026 00:00 UTC")


def test_a_table_that_vanished_is_told_for_a_week_with_the_way_to_its_backups() -> None:
    make_table("s3a://lake/there")
    make_table("s3a://lake/long-gone", gone_at=NOW - timedelta(days=7))
    lately = make_table("s3a://lake/dropped", gone_at=NOW - 12 * MINUTE, accepted_version=None)

    problem = only(gone_tables(NOW))

    assert (problem.kind, problem.measure, problem.uri) == ("table-gone", 12, "s3a://lake/dropped")
    assert (problem.path, problem.facts) == (f"/tables/{lately.pk}/backups/", (("Table", "s3a://lake/dropped"),))
    DeltaTable.objects.filter(pk=lately.pk).update(gone_at=None)
    assert list(gone_tables(NOW)) == []


def test_what_vanishes_later_is_an_alert_of_its_own() -> None:
    for name, minutes in (("a", 12), ("b", 12), ("c", 11)):
        make_table(f"s3a://lake/{name}", gone_at=NOW - minutes * MINUTE)
    assert len({problem.cause for problem in gone_tables(NOW)}) == 2


def test_a_connection_is_late_since_its_last_good_look() -> None:
    Watch.objects.create(connection=make_connection(), uri="s3a://lake/")
    for minutes, code in ((40, ""), (1, "AccessDenied")):
        at = NOW - minutes * MINUTE
        make_pass(started_at=at, finished_at=at, error_code=code)
    assert only(late_looks(NOW)).measure == 40


def test_a_connection_is_late_while_it_watches_something_or_has_a_table() -> None:
    make_pass(started_at=NOW - 40 * MINUTE, finished_at=NOW - 40 * MINUTE)
    assert list(late_looks(NOW)) == []
    make_table()
    assert only(late_looks(NOW)).measure == 40
