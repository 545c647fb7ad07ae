"""Every change of a store or a bucket whose worker dies at any of its calls comes to its end when asked for again."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from changes import execution
from coordinator.settings.requests import (
    CHANGES,
    Capacity,
    ChangeCapacity,
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
)
from coordinator.writer_tests import cleaning
from coordinator.writer_tests.actions import make_test
from dashboard.accounts.actor import Actor
from dashboard.jobs.models import JobState
from tests.choosing import slowly
from tests.coordinator.settings.conftest import SWEPT
from tests.coordinator.settings.settings_console import SettingsConsole

MOST_TRIES = 12


def with_ttl(console: SettingsConsole, attribute: str) -> str:
    """The log store, with TTL on an attribute."""
    specification = {"Enabled": True, "AttributeName": attribute}
    console.lake.dynamodb.update_time_to_live(TableName=console.lake.log_store, TimeToLiveSpecification=specification)
    return console.lake.log_store


def with_rule(console: SettingsConsole) -> str:
    console.applied(SetTempRule(console.lake.bucket, SWEPT))
    return str(console.rules()[0]["ID"])


def later() -> str:
    return (datetime.now(UTC) + timedelta(hours=1)).isoformat()


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
    MigrateTtl.ACT: lambda console: MigrateTtl(with_ttl(console, "commitTime")),
    DisableTtl.ACT: lambda console: DisableTtl(with_ttl(console, "expireTime")),
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
