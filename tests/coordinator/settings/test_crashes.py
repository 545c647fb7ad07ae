"""A worker that dies at any call, two at work at once, an answer that is lost: each change comes to its end."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.utils import timezone

from changes import execution
from changes.calls import Result
from coordinator.settings import lifecycle_calls, store_calls
from coordinator.settings.planning import plan_now
from coordinator.settings.requests import (
    CHANGES,
    Capacity,
    ChangeCapacity,
    ChangeInvalid,
    ChangeProtection,
    ChangeRecovery,
    ChangeRequest,
    CleanWriterTest,
    CreateStore,
    DisableTtl,
    EnableTtl,
    MigrateTtl,
    RemoveTempRule,
    SetMultipartRule,
    SetTempRule,
    Sweep,
    read_change_request,
)
from coordinator.writer_tests import cleaning
from coordinator.writer_tests.actions import make_test
from dashboard.accounts.actor import Actor
from dashboard.jobs.models import JobState
from lake.aws.dynamodb import DynamoDB
from lake.aws.errors import AwsError
from tests.builders.changes import execute_plan
from tests.choosing import slowly
from tests.coordinator.settings.conftest import SWEPT, later
from tests.coordinator.settings.settings_console import SettingsConsole
from tests.waiting import scaled

MOST_TRIES = 12


def with_rule(console: SettingsConsole) -> str:
    console.applied(SetTempRule(console.lake.bucket, SWEPT))
    return str(console.rules()[0]["ID"])


def with_test(console: SettingsConsole) -> str:
    """The token of a writer's self-test that left one commit with its entry, some time ago."""
    test = make_test(Actor.command(), console.store(), f"s3a://{console.lake.bucket}/")
    console.lake.table(test.prefix, 1, log_store=True)
    return test.token


ASKED: dict[str, Callable[[SettingsConsole], ChangeRequest]] = {
    CreateStore.ACT: lambda console: CreateStore(f"new-{console.lake.bucket}"),
    ChangeCapacity.ACT: lambda console: ChangeCapacity(console.lake.log_store, Capacity(6, 7)),
    ChangeProtection.ACT: lambda console: ChangeProtection(console.lake.log_store, True),
    ChangeRecovery.ACT: lambda console: ChangeRecovery(console.lake.log_store, True),
    EnableTtl.ACT: lambda console: EnableTtl(console.lake.log_store),
    MigrateTtl.ACT: lambda console: MigrateTtl(console.with_ttl("commitTime")),
    DisableTtl.ACT: lambda console: DisableTtl(console.with_ttl("expireTime")),
    SetTempRule.ACT: lambda console: SetTempRule(console.lake.bucket, SWEPT),
    RemoveTempRule.ACT: lambda console: RemoveTempRule(console.lake.bucket, with_rule(console)),
    SetMultipartRule.ACT: lambda console: SetMultipartRule(console.lake.bucket, 7),
    Sweep.ACT: lambda console: Sweep(console.lake.bucket, later(), SWEPT),
    CleanWriterTest.ACT: lambda console: CleanWriterTest(console.lake.log_store, with_test(console)),
}


def test_every_kind_of_change_is_asked_for() -> None:
    assert set(ASKED) == set(CHANGES)


@pytest.mark.usefixtures("young_count_as_old")
@pytest.mark.parametrize("answered", [slowly(False), True], ids=["before-the-call", "after-the-call"])
@pytest.mark.parametrize("act", ASKED)
def test_it_comes_to_its_end(swept: SettingsConsole, monkeypatch, act, answered) -> None:
    monkeypatch.setattr(cleaning, "QUIET", timedelta(hours=-3))
    change, real, made = ASKED[act](swept), execution.make, []

    def dies(call, sending):
        """Each worker makes the calls that the ones before it died at, and dies at the next one."""
        place = len(made)
        made.append(call)
        if place < died:
            return real(call, sending)
        if answered:
            real(call, sending)
        raise RuntimeError("the worker died")

    calls = 0
    for died in range(MOST_TRIES):
        planned = swept.planned(change)
        if planned.result["plan"] is None:
            break
        calls = max(calls, len(planned.result["plan"]["calls"]))
        made.clear()
        monkeypatch.setattr(execution, "make", dies if died < calls else real)
        job = swept.apply(planned, planned.result["plan"]["subject"])
        monkeypatch.setattr(execution, "make", real)
        assert (job.state == JobState.SUCCEEDED) is (died >= calls), job.error_text

    refusal = swept.refusal_of(change)
    assert refusal["why"] in ("nothing-to-do", "under-way"), refusal
    assert calls


def test_a_lost_answer_of_a_change_counts_as_what_dynamodb_holds(console, monkeypatch):
    real = DynamoDB.change

    def lost(self, operation, body):
        real(self, operation, body)
        raise AwsError("ConnectionFailed", "no answer")

    monkeypatch.setattr(DynamoDB, "change", lost)
    job = console.applied(ChangeCapacity(console.lake.log_store, Capacity(2, 2)))

    assert job.state == JobState.SUCCEEDED, job.message
    assert job.result["after"]["calls"][0]["outcome"] == "done"


def test_a_change_that_dynamodb_is_slow_to_show_is_said_to_be_under_way(console, monkeypatch):
    monkeypatch.setattr(store_calls, "SETTLE_LOOKS", 2)
    monkeypatch.setattr(DynamoDB, "change", lambda self, operation, body: "REQUEST")

    job = console.applied(ChangeCapacity(console.lake.log_store, Capacity(2, 2)))

    assert job.state == JobState.SUCCEEDED
    assert "is still at it: billing is on_demand" in job.message


def test_two_workers_with_one_plan_make_one_change(console, lake):
    plan = plan_now(console.connection, lake, ChangeCapacity(console.lake.log_store, Capacity(6, 7)), timezone.now())
    together = threading.Barrier(2)

    def work(_: int):
        together.wait(timeout=scaled(10))
        return execute_plan(plan, lake).outcomes

    with ThreadPoolExecutor(2) as pool:
        ends = [outcomes[-1].result for outcomes in pool.map(work, range(2))]

    assert set(ends) <= {Result.DONE, Result.ALREADY}
    assert console.described()["ProvisionedThroughput"]["WriteCapacityUnits"] == 7


def test_two_plans_of_one_bucket_do_not_undo_each_other(console):
    for root in ("sales/orders", "sales/returns"):
        console.lake.table(root, log_store=True)
    console.observe()
    bucket = console.lake.bucket
    first, second = (console.planned(SetTempRule(bucket, root)) for root in ("sales/orders", "sales/returns"))

    assert console.apply(first).state == JobState.SUCCEEDED
    assert (console.apply(second)).error_code == "Moved"
    assert console.applied(SetTempRule(bucket, "sales/returns")).state == JobState.SUCCEEDED
    assert len(console.rules()) == 2


def test_a_rule_changed_just_after_the_write_is_noticed_and_the_old_rules_are_kept(ready, monkeypatch):
    before, theirs = (
        {"ID": name, "Status": "Disabled", "Filter": {"Prefix": "x/"}, "Expiration": {"Days": 9}}
        for name in ("off", "archive")
    )
    ready.give_rules(before)
    real = lifecycle_calls.write_lifecycle

    def overwritten(lake, bucket, wanted, *, owner):
        sent = real(lake, bucket, wanted, owner=owner)
        ready.give_rules(theirs)
        return sent

    monkeypatch.setattr(lifecycle_calls, "write_lifecycle", overwritten)
    job = ready.applied(SetTempRule(ready.lake.bucket, SWEPT))

    assert (job.state, job.error_code) == (JobState.FAILED, "ReadBack")
    assert "they differ: rule archive, rule levee-tmp-" in job.message
    assert "<ID>off</ID>" in job.result["before"]["rules"][0]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"act": "create-store", "name": "ab"}, "name"),
        ({"act": "create-store", "name": "delta_log", "capacity": {"read": 5, "write": 0}}, "write"),
        ({"act": "create-store", "name": "delta_log", "encryption": "my-key"}, "encryption"),
        ({"act": "set-temp-rule", "bucket": "lake", "prefix": "/a/"}, "prefix"),
        ({"act": "set-temp-rule", "bucket": "lake", "prefix": "a\x00b"}, "prefix"),
        ({"act": "set-temp-rule", "bucket": "lake", "prefix": "a", "days": 0}, "days"),
        ({"act": "sweep", "bucket": "lake", "before": "2026-11-21"}, "before"),
        ({"act": "sweep", "bucket": "lake", "before": "soon"}, "before"),
    ],
)
def test_each_wrong_value_is_named_by_its_field(document, field):
    with pytest.raises(ChangeInvalid) as caught:
        read_change_request(document).check()
    assert caught.value.field == field
