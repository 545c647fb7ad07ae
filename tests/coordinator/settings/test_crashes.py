"""A worker that dies at any place, and two that are at work at once: the next plan ends what was begun."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from changes import execution
from changes.calls import Result
from coordinator.models import CommitStore
from coordinator.settings import store_calls
from coordinator.settings.planning import plan_now
from coordinator.settings.requests import (
    Capacity,
    ChangeCapacity,
    ChangeInvalid,
    CreateStore,
    SetTempRule,
    Sweep,
    change_request_document,
    read_change_request,
)
from dashboard.jobs.models import JobState
from lake.aws.dynamodb import DynamoDB
from lake.aws.errors import AwsError
from tests.builders.changes import execute_plan
from tests.waiting import scaled


@pytest.mark.parametrize("crash_at", range(4))
@pytest.mark.parametrize("after", [True, False])
def test_a_creation_broken_off_anywhere_is_ended_by_the_same_request(console, monkeypatch, crash_at, after):
    change, made, real = CreateStore(f"broken-{console.lake.bucket}"), [], execution.make

    def crash(call, sending):
        made.append(call)
        if len(made) == crash_at + 1:
            if after:
                real(call, sending)
            raise RuntimeError("the worker died")
        return real(call, sending)

    monkeypatch.setattr(execution, "make", crash)
    first = console.planned(change)
    assert console.apply(first).state == JobState.FAILED
    monkeypatch.setattr(execution, "make", real)

    again = console.planned(change)
    if again.result["plan"]:
        assert again.result["plan"]["digest"] == first.result["plan"]["digest"]
        assert console.apply(again).state == JobState.SUCCEEDED
    else:
        assert again.result["refusal"]["why"] == "nothing-to-do"
    assert console.ttl(change.name)["AttributeName"] == "expireTime"
    assert CommitStore.objects.filter(name=change.name).count() == 1
    assert console.refusal_of(change)["why"] == "nothing-to-do"


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
    from django.utils import timezone

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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
ACTS = ["create-store", "change-capacity", "change-protection", "change-recovery", "enable-ttl", "migrate-ttl"]
ACTS += ["disable-ttl", "set-temp-rule", "remove-temp-rule", "set-multipart-rule", "sweep", "none"]
FIELDS = ["name", "kind", "capacity", "on", "bucket", "prefix", "rule", "days", "before", "tags", "encryption", "ttl"]


@given(st.sampled_from(ACTS), st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_a_hostile_request_is_invalid_and_nothing_else(act, values):
    with suppress(ChangeInvalid):
        change = read_change_request({"act": act, **values})
        assert read_change_request(change_request_document(change)) == change


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"act": "create-store", "name": "ab"}, "name"),
        ({"act": "create-store", "name": "a b c"}, "name"),
        ({"act": "create-store", "name": "delta_log", "capacity": {"read": 5, "write": 0}}, "write"),
        ({"act": "create-store", "name": "delta_log", "capacity": {"read": 40_001, "write": 1}}, "read"),
        ({"act": "create-store", "name": "delta_log", "tags": [["aws:x", "y"]]}, "tags"),
        ({"act": "create-store", "name": "delta_log", "tags": [["a", "1"], ["a", "2"]]}, "tags"),
        ({"act": "create-store", "name": "delta_log", "encryption": "my-key"}, "encryption"),
        ({"act": "set-temp-rule", "bucket": "lake", "prefix": "/a/"}, "prefix"),
        ({"act": "set-temp-rule", "bucket": "lake", "prefix": "a" * 1_020}, "prefix"),
        ({"act": "set-temp-rule", "bucket": "lake", "prefix": "a\x00b"}, "prefix"),
        ({"act": "set-temp-rule", "bucket": "lake", "prefix": "a", "days": 0}, "days"),
        ({"act": "sweep", "bucket": "lake", "before": "2026-11-21"}, "before"),
        ({"act": "change-protection", "name": "delta_log", "on": "yes"}, "on"),
    ],
)
def test_each_wrong_value_is_named_by_its_field(document, field):
    with pytest.raises(ChangeInvalid) as caught:
        read_change_request(document)
    assert caught.value.field == field


def test_a_sweep_that_was_never_checked_has_no_moment():
    with pytest.raises(ChangeInvalid):
        _ = Sweep("lake", "soon").moment
