"""What holds of each kind of call, on S3 and DynamoDB as moto has them."""

from dataclasses import replace

import pytest

from changes.calls import LakeCall, Result
from coordinator.repairs.item_calls import Abandon
from lake.aws.access import Lake
from tests.choosing import slowly
from tests.coordinator.repairs.scenes import KINDS, REQUIREMENTS, SCENES, WRITING_SCENES
from tests.coordinator.repairs.world import WRITES, Meddled, make, refusal

MOST_REQUESTS = 12
NOT_ORPHANS = [scene for scene in WRITING_SCENES if "file" not in scene.__name__]


@pytest.fixture
def real(lake) -> Lake:
    return lake


def name(scene):
    return scene.__name__


def kinds_of(call):
    """Every class below that one that can be sent."""
    for one in call.__subclasses__():
        yield from (one,) if one.send is not LakeCall.send else ()
        yield from kinds_of(one)


def test_every_kind_of_call_has_a_scene():
    of_repairs = {one.__name__ for one in kinds_of(LakeCall) if one.__module__.startswith("coordinator.repairs")}
    assert of_repairs - {Abandon.__name__} == {kind.__name__ for kind in KINDS}


@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_a_call_is_done(world, real, scene):
    outcome = make(scene(world), real)
    assert (outcome.result, outcome.code) == (Result.DONE, "")
    assert outcome.sentence.endswith(".")
    assert bool(outcome.request_ids) is (scene in WRITING_SCENES)


@pytest.mark.parametrize("scene", WRITING_SCENES, ids=name)
def test_a_call_made_again_changes_nothing_and_says_so(world, real, scene):
    call = scene(world)
    make(call, real)
    before = world.snapshot()
    assert make(call, real).result is Result.ALREADY
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
def test_a_call_that_fails_at_any_request_comes_to_the_same_end_when_made_again(world, real, scene):
    call = scene(world)
    failures = 0
    for number in range(MOST_REQUESTS):
        outcome = make(call, Meddled(real).at(number, refusal("InternalError")))
        if outcome.result is not Result.FAILED:
            break
        failures += 1
    assert failures
    assert outcome.may_go_on
    assert make(call, real).may_go_on


@pytest.mark.parametrize("scene", WRITING_SCENES, ids=name)
def test_a_write_whose_answer_was_lost_has_failed_and_is_done_when_made_again(world, real, scene):
    call = scene(world)
    port = Meddled(real)
    for method in WRITES:
        port.after(method, refusal("ConnectionFailed"))
    assert make(call, port).result is Result.FAILED
    written = world.snapshot()
    assert make(call, real).result is Result.ALREADY
    assert world.snapshot() == written


@pytest.mark.parametrize("scene", NOT_ORPHANS, ids=name)
def test_a_write_refused_by_its_own_success_counts_as_done(world, real, scene):
    call = scene(world)
    port = Meddled(real)
    for method in ("put_if_absent", "update_item", "put_item", "delete_item"):
        port.before(method, lambda: make(call, real))
    assert make(call, port).result is Result.ALREADY


@pytest.mark.parametrize("scene", SCENES, ids=name)
def test_a_condition_that_is_refused_without_end_is_an_outcome(world, real, scene):
    call = scene(world)
    before = world.snapshot()
    port = Meddled(real)
    for method in WRITES:
        port.before(method, refusal("ConditionalRequestConflict"))
    outcome = make(call, port)
    assert outcome.result in (Result.STOPPED, Result.DONE)
    assert world.snapshot() == before


@pytest.mark.parametrize("scene", WRITING_SCENES, ids=name)
def test_a_table_or_bucket_that_has_gone_ends_the_plan(world, real, scene):
    call = scene(world)
    elsewhere = {field: "absent-0f3a9c" for field in ("bucket", "table") if hasattr(call, field)}
    assert not make(replace(call, **elsewhere), real).may_go_on
