"""What alerts are told of the lake."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from coordinator.alerting import KINDS, late_looks, setting_problems, table_problems, waiting_commits
from coordinator.models import Bucket, CommitStore, DeltaTable, ObservationPass, TableFinding, TtlMigration, Watch
from coordinator.protocols.verdict import State
from coordinator.repairs.no_button import NO_BUTTON
from dashboard.alerts.matching import groups_of
from dashboard.alerts.models import Rule
from dashboard.alerts.problems import Problem
from dashboard.connections.models import Connection

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]
NOW = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def prod() -> Connection:
    return Connection.objects.create(name="prod", region="eu-west-1")


def table(connection: Connection, name: str = "orders", **fields: Any) -> DeltaTable:
    values = {"bucket": "lake", "prefix": name, "uri": f"s3a://lake/{name}", "name": f"lake.{name}", **fields}
    return DeltaTable.objects.create(connection=connection, **values)


def finding(of: DeltaTable, **fields: Any) -> TableFinding:
    values = {
        "code": "C4",
        "version": 42,
        "key": "C4@42",
        "severity": "critical",
        "state": State.BLOCKED,
        "state_rank": 0,
        "summary": "Commit 42 has lost its file.",
        "meaning": "Readers see version 41.",
        "opened_at": NOW - 12 * MINUTE,
        "seen_at": NOW,
        **fields,
    }
    return TableFinding.objects.create(table=of, **values)


def only(problems: Any) -> Problem:
    (found,) = problems
    return found


def test_a_finding_says_table_meaning_and_age(prod: Connection) -> None:
    found = table(prod)
    finding(found, evidence={"temp_file": ".tmp/x", "size": 3, "rows": [1, 2]})
    problem = only(table_problems(NOW))
    assert problem.headline == "lake.orders: Commit 42 has lost its file."
    assert (problem.severity, problem.measure, problem.meaning) == ("critical", 12, "Readers see version 41.")
    assert (problem.connection, problem.uri, problem.path) == (
        prod.pk,
        "s3a://lake/orders",
        f"/tables/{found.pk}/#steps",
    )
    assert (problem.subject, problem.code, problem.title) == ("lake.orders", "C4", "An entry still says incomplete")
    assert ("Temp file", ".tmp/x") in problem.facts
    assert all(label != "Rows" for label, _ in problem.facts)


def test_findings_of_one_code_and_connection_have_one_cause(prod: Connection) -> None:
    lab = Connection.objects.create(name="lab", region="eu-west-1")
    for connection, name in ((prod, "a"), (prod, "b"), (lab, "c")):
        finding(table(connection, name))
    assert len({problem.cause for problem in table_problems(NOW)}) == 2


@pytest.mark.parametrize(
    "fields", [{"resolved_at": NOW}, {"state": State.PENDING}, {"state": State.UNBACKFILLED}, {"state": State.HEALTHY}]
)
def test_what_is_over_or_only_waits_is_no_trouble(prod: Connection, fields: dict[str, Any]) -> None:
    finding(table(prod), **fields)
    assert list(table_problems(NOW)) == []


def test_a_table_that_is_gone_is_no_trouble(prod: Connection) -> None:
    finding(table(prod, gone_at=NOW))
    assert list(table_problems(NOW)) == []


@pytest.mark.parametrize("code", sorted(NO_BUTTON))
def test_what_must_not_be_done_is_told(prod: Connection, code: str) -> None:
    finding(table(prod), code=code, repairs=[])
    _, _, reason = NO_BUTTON[code]
    problem = only(table_problems(NOW))
    assert reason in f"{problem.warning} {problem.advice}"


def test_a_safe_repair_is_told_as_what_to_do(prod: Connection) -> None:
    finding(table(prod), code="C2", state=State.ATTENTION, repairs=["publish-commit"])
    problem = only(table_problems(NOW))
    assert problem.advice.startswith("Publish commit 42. Copies the temp file")
    assert problem.warning == ""


@pytest.mark.parametrize(("state", "kind"), [("pending", "pending-commit"), ("unbackfilled", "unbackfilled-commit")])
def test_a_commit_that_waits_is_measured_by_its_age(prod: Connection, state: str, kind: str) -> None:
    table(prod, state=state, oldest_unpublished_at=NOW - 20 * MINUTE)
    problem = only(waiting_commits(NOW))
    assert (problem.kind, problem.measure) == (kind, 20)


def test_a_commit_that_waits_can_be_published_from_its_alert(prod: Connection) -> None:
    found = table(prod, state="pending", oldest_unpublished_at=NOW - 20 * MINUTE)
    finding(found, code="C2", state=State.PENDING, repairs=["publish-commit"])
    problem = only(waiting_commits(NOW))
    assert (problem.next_step, problem.link) == ("Publish commit 42.", "Publish commit 42…")
    assert problem.path == f"/tables/{found.pk}/#repair-publish-commit-C2-42"


def described(**of: Any) -> dict[str, Any]:
    return {"findings": [{"code": "rule", "state": "unsafe", "summary": "Rule x deletes logs.", "meaning": "", **of}]}


def test_a_rule_that_will_bite_counts_the_days_left(prod: Connection) -> None:
    bites = {"rule": "x", "first_bites_at": (NOW + timedelta(days=3)).isoformat()}
    facts = described(state="attention", evidence=bites)
    Bucket.objects.create(connection=prod, name="lake", state="attention", state_rank=2, facts=facts)
    problem = only(setting_problems(NOW))
    assert (problem.kind, problem.measure, problem.severity) == ("lifecycle-hazard", 3, "warning")
    assert problem.headline == "The bucket lake: Rule x deletes logs."


@pytest.mark.parametrize("days", [400, 80, 1, -1])
def test_a_bucket_whose_rule_is_unsafe_is_told_however_far_away_it_bites(prod: Connection, days: int) -> None:
    bites = {"rule": "x", "first_bites_at": (NOW + timedelta(days=days)).isoformat()}
    Bucket.objects.create(connection=prod, name="lake", state="unsafe", state_rank=1, facts=described(evidence=bites))
    rules = [Rule(pk=number, kind=one.name, threshold=one.threshold) for number, one in enumerate(KINDS)]
    (group,) = groups_of(setting_problems(NOW), rules)
    assert (group.severity, group.first.path) == ("critical", f"/buckets/{Bucket.objects.get().pk}/")


def test_the_alert_of_a_store_says_that_its_ttl_is_being_moved(prod: Connection) -> None:
    facts = described(code="ttl-on-commit-time")
    store = CommitStore.objects.create(
        connection=prod, name="delta_log", kind="log_store", state="unsafe", state_rank=1, facts=facts
    )
    assert only(setting_problems(NOW)).next_step == "Move TTL to expireTime."
    TtlMigration.objects.create(store=store, started_at=NOW, phase_at=NOW, next_at=NOW)
    problem = only(setting_problems(NOW))
    assert (problem.next_step, problem.path) == ("TTL is being moved to expireTime.", f"/stores/{store.pk}/ttl/")


def test_a_store_set_up_dangerously_is_told(prod: Connection) -> None:
    CommitStore.objects.create(
        connection=prod, name="delta_log", kind="log_store", state="attention", state_rank=2,
        facts=described(state="attention"),
    )  # fmt: skip
    problem = only(setting_problems(NOW))
    assert (problem.kind, problem.severity) == ("setting-finding", "warning")


@pytest.mark.parametrize("facts", [{}, {"findings": None}, {"findings": [{}]}, {"findings": "hostile"}])
def test_facts_of_any_shape_are_borne(prod: Connection, facts: dict[str, Any]) -> None:
    Bucket.objects.create(connection=prod, name="lake", state="unsafe", state_rank=1, facts=facts)
    assert list(setting_problems(NOW)) == []


def test_a_connection_is_late_since_its_last_good_look(prod: Connection) -> None:
    Watch.objects.create(connection=prod, uri="s3a://lake/")
    for minutes, code in ((40, ""), (1, "AccessDenied")):
        at = NOW - minutes * MINUTE
        ObservationPass.objects.create(connection=prod, started_at=at, finished_at=at, error_code=code)
    assert only(late_looks(NOW)).measure == 40


def test_a_connection_that_watches_nothing_is_never_late(prod: Connection) -> None:
    assert list(late_looks(NOW)) == []


def test_a_connection_whose_tables_nobody_watches_any_more_is_late_all_the_same(prod: Connection) -> None:
    table(prod)
    at = NOW - 40 * MINUTE
    ObservationPass.objects.create(connection=prod, started_at=at, finished_at=at)
    assert only(late_looks(NOW)).measure == 40
