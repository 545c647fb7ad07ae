"""What holds of each kind of call, and of calls in a row, on S3 and DynamoDB as moto has them."""

from dataclasses import replace

import pytest

from changes.calls import LakeCall, Result
from coordinator.repairs.item_calls import Abandon
from tests.builders.changes import execute_plan
from tests.choosing import slowly
from tests.coordinator.repairs.scenes import KINDS, REQUIREMENTS, SCENES, WRITING_SCENES, complete_entry, name, publish
from tests.coordinator.repairs.world import COMMIT, WRITES, Meddled, commit_key, make, plan_of, refusal

MOST_REQUESTS = 12
NOT_ORPHANS = [scene for scene in WRITING_SCENES if "file" not in scene.__name__]


def kinds_of(call):
    """Every class below that one that can be sent."""
    for one in call.__subclasses__():
        yield from (one,) if one.send is not LakeCall.send else ()
        yield from kinds_of(one)


def test_every_kind_of_call_has_a_scene():
    of_repairs = {one.__name__ for one in kinds_of(LakeCall) if one.__module__.startswith("coordinator.repairs")}
    assert of_repairs - {Abandon.__name__} == {kind.__name__ for kind in KINDS}


@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_a_call_is_done(world, lake, scene):
    outcome = make(scene(world), lake)
    assert (outcome.result, outcome.code) == (Result.DONE, "")
    assert outcome.sentence.endswith(".")
    assert bool(outcome.request_ids) is (scene in WRITING_SCENES)


@pytest.mark.parametrize("scene", WRITING_SCENES, ids=name)
def test_a_call_made_again_changes_nothing_and_says_so(world, lake, scene):
    call = scene(world)
    make(call, lake)
    before = world.snapshot()
    assert make(call, lake).result is Result.ALREADY
    assert world.snapshot() == before


@pytest.mark.parametrize("scene", REQUIREMENTS, ids=name)
def test_a_requirement_writes_nothing(world, port, scene):
    call = scene(world)
    before = world.snapshot()
    make(call, port)
    assert not {method for method, *_ in port.asked} & set(WRITES)
    assert world.snapshot() == before


@pytest.mark.parametrize(
    "code",
    ["AccessDenied", "NoSuchBucket", slowly("ThrottlingException"), slowly("SlowDown"), slowly("ConnectionFailed")],
)
@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_a_call_that_aws_refuses_at_first_has_failed_and_changed_nothing(world, port, scene, code):
    call = scene(world)
    before = world.snapshot()
    outcome = make(call, port.at(0, refusal(code)))
    assert (outcome.result, outcome.code, outcome.request_ids) == (Result.FAILED, code, ("R-failed",))
    assert world.snapshot() == before


@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_a_call_that_fails_at_any_request_comes_to_the_same_end_when_made_again(world, lake, scene):
    call = scene(world)
    failures = 0
    for number in range(MOST_REQUESTS):
        outcome = make(call, Meddled(lake).at(number, refusal("InternalError")))
        if outcome.result is not Result.FAILED:
            break
        failures += 1
    assert failures
    assert outcome.may_go_on
    assert make(call, lake).may_go_on


@pytest.mark.parametrize("scene", WRITING_SCENES, ids=name)
def test_a_write_whose_answer_was_lost_has_failed_and_is_done_when_made_again(world, lake, scene):
    call = scene(world)
    port = Meddled(lake)
    for method in WRITES:
        port.after(method, refusal("ConnectionFailed"))
    assert make(call, port).result is Result.FAILED
    written = world.snapshot()
    assert make(call, lake).result is Result.ALREADY
    assert world.snapshot() == written


@pytest.mark.parametrize("scene", NOT_ORPHANS, ids=name)
def test_a_write_refused_by_its_own_success_counts_as_done(world, lake, scene):
    call = scene(world)
    port = Meddled(lake)
    for method in ("put_if_absent", "update_item", "put_item", "delete_item"):
        port.before(method, lambda: make(call, lake))
    assert make(call, port).result is Result.ALREADY


@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_a_condition_that_is_refused_without_end_is_an_outcome(world, lake, scene):
    call = scene(world)
    before = world.snapshot()
    port = Meddled(lake)
    for method in WRITES:
        port.before(method, refusal("ConditionalRequestConflict"))
    outcome = make(call, port)
    assert outcome.result in (Result.STOPPED, Result.DONE)
    assert world.snapshot() == before


@pytest.mark.parametrize("scene", WRITING_SCENES, ids=name)
def test_a_table_or_bucket_that_has_gone_ends_the_plan(world, lake, scene):
    call = scene(world)
    elsewhere = {field: "absent-0f3a9c" for field in ("bucket", "table") if hasattr(call, field)}
    assert not make(replace(call, **elsewhere), lake).may_go_on


# Whole plans: order, stopping and cancelling; tests/schedules stops each anywhere and makes it again


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
    assert execution.end is None


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
    [outcome] = execution.outcomes
    assert (len(outcome.request_ids), outcome.code) == (2, "AccessDenied")


denied = refusal("AccessDenied")
