"""Whole plans: order, stopping and cancelling; tests/schedules stops each anywhere and makes it again."""

import pytest

from changes.calls import Result
from tests.builders.changes import execute_plan
from tests.coordinator.repairs.scenes import complete_entry, publish
from tests.coordinator.repairs.world import COMMIT, commit_key, plan_of, refusal


class Cancelled(Exception):
    """What a job raises that is to end."""


def publish_and_complete(world):
    return plan_of(publish(world), complete_entry(world))


def results(execution):
    return [outcome.result for outcome in execution.outcomes]


def test_the_calls_of_a_plan_are_made_in_order(world, port):
    heard = []
    plan = publish_and_complete(world)
    execution = execute_plan(plan, port, on_call=lambda place, outcome: heard.append((place, outcome.call)))
    assert heard == list(enumerate(plan.calls))
    assert execution.is_complete
    assert (execution.end, len(execution.request_ids)) == (None, 2)


def test_nothing_is_made_after_a_call_that_failed(world, port):
    execution = execute_plan(publish_and_complete(world), port.before("put_if_absent", refusal("AccessDenied")))
    assert results(execution) == [Result.FAILED]
    assert world.items(world.log_store)[0]["complete"] == {"S": "false"}


def test_a_repair_is_cancelled_between_calls_only(world, port):
    heard = []

    def check():
        if heard:
            raise Cancelled

    with pytest.raises(Cancelled):
        execute_plan(publish_and_complete(world), port, on_call=lambda *call: heard.append(call), check_cancelled=check)
    assert len(heard) == 1
    assert world.read(commit_key(7)) == COMMIT
    assert world.items(world.log_store)[0]["complete"] == {"S": "false"}


def test_a_write_before_the_failure_keeps_its_request_id(world, port):
    execution = execute_plan(plan_of(publish(world)), port.after("put_if_absent", lambda: port.before("get", denied)))
    assert len(execution.request_ids) == 2
    assert execution.outcomes[0].code == "AccessDenied"


denied = refusal("AccessDenied")
