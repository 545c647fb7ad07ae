"""Self-tests of writers: the printed script on real Spark, and what is read of it from S3 and DynamoDB Local."""

import json
from collections.abc import Callable

import pytest
from django.utils import timezone

from coordinator.models import CommitStore, DeltaTable
from coordinator.settings.planning import plan_now
from coordinator.settings.requests import CleanWriterTest
from coordinator.writer_tests import cleaning
from coordinator.writer_tests.actions import make_test, script_for, script_of
from coordinator.writer_tests.judging import WriterTestOutcome, WriterTestState
from coordinator.writer_tests.looking import look_at
from dashboard.accounts.actor import Actor
from sandbox.client import Client
from sandbox.ground import DELTA_COMMITS, DELTA_LOG, Store, create_store
from sandbox.log_store_writer import LogStoreTable, file_name
from sandbox.spark_tables import SparkLake
from tests.builders.changes import execute_plan
from tests.conformance.conftest import BUCKET
from tests.conformance.levee import Levee

pytestmark = pytest.mark.django_db

HOSTILE = 'it\'s "a" `b` ; é %20 x=1 + $(id) \\n {0}'
State = WriterTestState


class Trial:
    """One store, one test of its writers below a place of this test's own, and what Levee sees of it."""

    def __init__(self, client: Client, store: str, at: str) -> None:
        self.client = client
        self.levee = Levee(client, f"s3a://{BUCKET}/nothing-here/")
        self.store = CommitStore.objects.get(name=store)
        self.test = make_test(Actor.command(), self.store, at)
        self.script = script_for(self.test, self.store)

    def look(self) -> WriterTestOutcome:
        with self.levee.open() as lake:
            outcome = look_at(self.test, lake)
        self.test.refresh_from_db()
        return outcome

    def commit(self, store: str = DELTA_LOG, scheme: str = "s3a") -> None:
        """As a writer through a log store does."""
        for version in range(5):
            log = LogStoreTable(self.client, store, self.test.bucket, self.test.prefix, scheme)
            log.commit(version, commit(version))

    def names(self) -> list[str]:
        return [name for name, _ in self.client.list(BUCKET, f"{self.test.prefix}/")]

    def clean(self) -> list[str]:
        """What the calls of the plan say that they did."""
        change = CleanWriterTest(self.test.store_name, self.test.token)
        with self.levee.open() as lake:
            plan = plan_now(self.levee.connection, lake, change, timezone.now())
            return [outcome.sentence for outcome in execute_plan(plan, lake).outcomes]


def commit(version: int) -> bytes:
    return json.dumps({"commitInfo": {"operation": "LEVEE WRITER TEST", "number": version}}).encode() + b"\n"


@pytest.fixture
def log_store(stores: Client, key: str) -> Trial:
    return Trial(stores, DELTA_LOG, f"s3a://{BUCKET}/{key}/")


@pytest.fixture
def coordinator(stores: Client, key: str) -> Trial:
    return Trial(stores, DELTA_COMMITS, f"s3a://{BUCKET}/{key} {HOSTILE}/")


@pytest.fixture
def printed(lake: SparkLake, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Runs a script as it was printed in the session, and returns what it says."""

    def run(script: str) -> str:
        capsys.readouterr()
        exec(compile(script, "printed", "exec"), {"spark": lake.spark})  # noqa: S102 - as whoever pastes it would
        return capsys.readouterr().out

    return run


@pytest.mark.spark
def test_a_session_that_commits_through_the_coordinator_takes_the_lock_and_what_it_left_is_removed(
    coordinator: Trial, printed, monkeypatch
) -> None:
    monkeypatch.setattr(cleaning, "QUIET", timezone.timedelta(0))
    neighbour = f"{coordinator.test.prefix}-beside/x"
    coordinator.client.put(BUCKET, neighbour, b"mine")
    assert coordinator.look().state is State.NOT_SEEN

    said = printed(coordinator.script)

    outcome = coordinator.look()
    assert "PASSED in this session" in said, said
    assert outcome.state is State.LOCK_TAKEN, outcome
    assert coordinator.test.evidence["gave_way"]
    assert not DeltaTable.objects.exists()

    coordinator.clean()

    after = coordinator.look()
    assert coordinator.names() == []
    assert coordinator.client.get(BUCKET, neighbour) == b"mine"
    assert coordinator.client.dynamodb("Scan", TableName=DELTA_COMMITS)["Items"] == []
    assert "Nothing is left of this test" in after.sentence
    assert (coordinator.test.state, coordinator.test.cleaned_at is None) == (State.LOCK_TAKEN, False)


@pytest.mark.spark
def test_a_session_without_the_coordinator_takes_no_lock(coordinator: Trial, printed) -> None:
    said = printed(script_of(coordinator.test.token, coordinator.test.uri, {}))

    outcome = coordinator.look()
    assert "FAILED: the log store is io.delta.storage.S3SingleDriverLogStore" in said
    assert outcome.state is State.NO_LOCK
    assert "names no commit coordinator" in outcome.sentence


@pytest.mark.spark
def test_a_session_without_the_log_store_takes_no_lock_and_a_script_runs_once(log_store: Trial, printed) -> None:
    said = printed(log_store.script)

    outcome = log_store.look()
    assert "FAILED: the log store is io.delta.storage.S3SingleDriverLogStore" in said
    assert "PASSED" not in said
    assert "13 commits were accepted, 0 refused" in said
    assert outcome.state is State.NO_LOCK
    assert "holds no entry for versions 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 12" in outcome.sentence

    before = log_store.names()
    again = printed(log_store.script)
    assert "FAILED" in again
    assert "already exist" in again
    assert log_store.names() == before


def test_a_lock_of_another_store_and_scheme_is_seen_and_is_none(log_store: Trial) -> None:
    if "other_log" not in log_store.client.dynamodb("ListTables")["TableNames"]:
        create_store(log_store.client, Store("other_log", "log_store"))
    CommitStore.objects.create(connection=log_store.levee.connection, name="other_log", kind="log_store")
    log_store.commit("other_log", "s3")

    outcome = log_store.look()

    assert outcome.state is State.NO_LOCK
    assert f"{log_store.test.uri.replace('s3a:', 's3:')} in other_log" in outcome.sentence


def test_what_was_proven_in_time_stays_said(log_store: Trial) -> None:
    log_store.commit()
    log_store.look()
    yesterday = timezone.now().timestamp() - 86_400
    for version in range(5):
        key = f"{log_store.test.prefix}/_delta_log/{file_name(version)}"
        log_store.client.put(BUCKET, key, commit(version), modified_at=yesterday)
        item = {"tablePath": {"S": log_store.test.uri}, "fileName": {"S": file_name(version)}}
        log_store.client.dynamodb("DeleteItem", TableName=DELTA_LOG, Key=item)

    assert log_store.look().state is State.NOT_KNOWN
    assert log_store.test.state == State.LOCK_TAKEN
