"""Whole plans: order, stopping, cancelling, and running again after being broken off anywhere."""

import pytest

from changes.calls import Result
from coordinator.repairs.object_calls import RequireAbsent
from tests.builders.changes import execute_plan
from tests.coordinator.repairs.scenes import (
    RESCUE,
    clear_commits,
    complete_entry,
    delete_entry,
    publish,
    save_item,
    save_object,
)
from tests.coordinator.repairs.world import COMMIT, NOW, Meddled, commit_key, plan_of, refusal, temp_key


class Cancelled(Exception):
    """What a job raises that is to end."""


def publish_and_complete(world):
    return plan_of(publish(world), complete_entry(world))


def abandon(world):
    saved = (save_object(world), save_item(world))
    return plan_of(RequireAbsent(world.bucket, (commit_key(7),)), *saved, delete_entry(world))


def backfill(world):
    return plan_of(publish(world), clear_commits(world))


PLANS = [publish_and_complete, abandon, backfill]


def results(execution):
    return [outcome.result for outcome in execution.outcomes]


def test_the_calls_of_a_plan_are_made_in_order(world, port):
    heard = []
    plan = publish_and_complete(world)
    execution = execute_plan(plan, port, on_call=lambda place, outcome: heard.append((place, outcome.call)))
    assert heard == list(enumerate(plan.calls))
    assert execution.is_complete
    assert (execution.end, len(execution.request_ids)) == (None, 2)


def test_nothing_is_made_after_a_call_that_stopped(world, port):
    plan = publish_and_complete(world)
    world.put(commit_key(7), b"other")
    execution = execute_plan(plan, port)
    assert results(execution) == [Result.STOPPED]
    assert (execution.is_complete, execution.end) == (False, execution.outcomes[0])
    assert world.items(world.log_store)[0]["complete"] == {"S": "false"}


def test_nothing_is_made_after_a_call_that_failed(world, port):
    execution = execute_plan(publish_and_complete(world), port.before("put_if_absent", refusal("AccessDenied")))
    assert results(execution) == [Result.FAILED]
    assert world.items(world.log_store)[0]["complete"] == {"S": "false"}


def test_what_could_not_be_saved_is_not_deleted(world, port):
    plan = abandon(world)
    execute_plan(plan, port.before("put_if_absent", refusal("AccessDenied")))
    assert len(world.items(world.log_store)) == 1


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


@pytest.mark.parametrize("make_plan", PLANS)
def test_a_plan_that_dies_after_any_call_comes_to_the_same_end_when_executed_again(world, lake, make_plan):
    plan = make_plan(world)
    port = lake

    def dying_after(last):
        def hear(place, outcome):
            if place == last:
                raise Cancelled

        return hear

    for last in range(len(plan.calls)):
        with pytest.raises(Cancelled):
            execute_plan(plan, port, on_call=dying_after(last), now=lambda: NOW)
    before = world.snapshot()
    assert execute_plan(plan, port, now=lambda: NOW).is_complete
    assert world.snapshot() == before


@pytest.mark.parametrize("make_plan", PLANS)
def test_a_plan_that_dies_at_any_request_comes_to_its_end_when_executed_again(world, lake, make_plan):
    plan = make_plan(world)
    port = lake

    def die():
        raise Cancelled

    for number in range(30):
        try:
            assert execute_plan(plan, Meddled(port).at(number, die)).is_complete
            break
        except Cancelled:
            continue
    assert number > len(plan.calls)
    assert execute_plan(plan, port).is_complete


def test_an_abandoned_commit_lies_in_the_rescue_folder(world, port):
    execute_plan(abandon(world), port)
    assert world.items(world.log_store) == []
    assert world.keys() == [temp_key(7), f"{RESCUE}item.json", f"{RESCUE}object"]


def test_two_repairers_at_once_come_to_the_same_end(world, port, lake):
    plan = publish_and_complete(world)
    other = lake
    execution = execute_plan(plan, port.before("put_if_absent", lambda: execute_plan(plan, other, now=lambda: NOW)))
    assert results(execution) == [Result.ALREADY, Result.ALREADY]
    assert world.items(world.log_store)[0]["expireTime"] == {"N": str(NOW + 86_400)}
